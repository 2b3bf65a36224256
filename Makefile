# Every verb explains itself: make help.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := .evenhand/peers
READY := $(VENV)/.ready
EVENHAND := $(BIN)/python -P -m evenhand
# PYTHONDONTWRITEBYTECODE would make every start compile its libraries again.
export PYTHONDONTWRITEBYTECODE =
export UV_PYTHON_DOWNLOADS = never
export UV_NO_PROGRESS = 1

STUDY ?=
JOBS ?=
TREATMENT ?=
CONTROL ?=
PLAN ?=
OPTIONS ?=
FILE ?=

.PHONY: help report test harness-live harness-limits check fix bench claims vectors coverage gold docs fuzz lock clean

help: ## list every verb
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-14s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

$(READY): requirements/lock.txt requirements/uv.txt pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else f"evenhand needs Python 3.11 or newer; $(PYTHON) is {v[0]}.{v[1]}. Try: make PYTHON=python3.12 $(MAKECMDGOALS)")'
	@echo "setting up $(VENV) (once)" >&2
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
ifeq ($(UV),0)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r requirements/lock.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
else
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r requirements/uv.txt
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes --compile-bytecode -r requirements/lock.txt
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .
endif
	@touch $@

report: $(READY) ## run the main job: on the embedded example, or STUDY= JOBS= TREATMENT= CONTROL= [PLAN=] [OPTIONS=]
	@STUDY='$(STUDY)' JOBS='$(JOBS)' TREATMENT='$(TREATMENT)' CONTROL='$(CONTROL)' PLAN='$(PLAN)' OPTIONS='$(OPTIONS)' \
	  EVENHAND='$(EVENHAND)' bash .ci/make-report

test: $(READY) ## run the tests
	@$(BIN)/python -m pytest -q -n auto

harness-live: $(READY) ## run the five real programs against a scripted provider on loopback; installs them once (EVENHAND_PROGRAMS=folder)
	@$(BIN)/python -P -m harness.testing.install >/dev/null && $(BIN)/python -P -m harness.testing.live

harness-limits: $(READY) ## run every run limit on the five real programs, as harness-live does its scenarios
	@$(BIN)/python -P -m harness.testing.install >/dev/null && $(BIN)/python -P -m harness.testing.live --limits

check: $(READY) ## run every checker, change nothing, count the failures
	@BIN=$(BIN) bash .ci/check

fix: $(READY) ## format, mend what can be mended, regenerate the generated docs
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix . && $(BIN)/python -P -m evenhand.generate --write

docs: $(READY) ## regenerate the generated docs only
	@$(BIN)/python -P -m evenhand.generate --write

gold: $(READY) ## rewrite the gold files; a person reads the diff
	@EVENHAND_GOLD=write $(BIN)/python -m pytest -q tests -k gold

bench: $(READY) ## run the benchmarks: ratios to peers in one run; installs two peers beside, where it can
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --target $(PEERS) --require-hashes -r requirements/peers.txt || true
	@PYTHONPATH=$(PEERS) $(BIN)/python -P -m benchmarks

coverage: $(READY) ## rerun the coverage studies behind the default intervals (half an hour)
	@$(BIN)/python -P -m benchmarks.coverage && $(BIN)/python -P -m benchmarks.coverage_resources

fuzz: $(READY) ## damage recorded results for five minutes: no crash, no path, no value in an error
	@$(BIN)/python -P -m benchmarks.fuzz_audit 300

claims: $(READY) ## find claims that no published report covers, in FILE=... or in this repository's own documents
	@$(EVENHAND) claims $(or $(FILE),README.md CHANGELOG.md GLOSSARY.md CONTRIBUTING.md $(filter-out docs/publishing.md,$(wildcard docs/*.md)))

vectors: $(READY) ## check a file of expected values, FILE=path: statistics, timing, privacy
	@$(BIN)/python -P -m benchmarks.vectors '$(FILE)'

lock: $(READY) ## resolve the requirements again (needs the package index)
	@$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --quiet \
	  --all-extras --group dev pyproject.toml -o requirements/lock.txt
	@$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --quiet \
	  --no-deps requirements/peers.in -o requirements/peers.txt
	@printf 'uv\n' | $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --quiet - -o requirements/uv.txt

clean: ## remove drafts and the local warehouse, keep evidence and shelves
	@rm -rf reports/drafts .evenhand
