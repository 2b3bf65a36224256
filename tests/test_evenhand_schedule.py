import csv
import io
import json
import os
import subprocess
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from manifests.manifest import ManifestArm, ManifestTask, build_manifest, write_manifest
from tests.typed import Typed, typed

PLAN = """
schema = "evenhand-plan-1"
study = "a-study"
question = "Does the new harness solve more tasks?"
attempts = 2
seed = 7
cohort = {name = "two harnesses", inclusion = "both support the model"}
missing = {default = "unsolved"}
[[endpoint]]
name = "success"
role = "primary"
test = "sign_flip"
alpha = 0.05
interval = "auto"
level = 0.95
minimum_effect = 0.05
noninferiority_margin = 0.05
"""
DATASET = "terminal-bench/terminal-bench-2-1"


def pinned(
    folder: Path,
    *,
    selectors: tuple[str, str] = ("agent=ours,model=lab/m,kwarg.effort=high", "agent=pkg.theirs:Agent,model=lab/m"),
    dataset: str | None = DATASET,
    kind: str = "lock_digest",
) -> tuple[Path, str]:
    arms = [
        ManifestArm(name="ours", role="treatment", selector=selectors[0]),
        ManifestArm(name="the others", role="control", selector=selectors[1]),
    ]
    tasks = [
        ManifestTask(name=name, digest=f"{at:064x}", digest_kind="lock_digest")
        if kind == "lock_digest"
        else ManifestTask(name=name, digest=None, digest_kind="name")
        for at, name in enumerate(("a-task", "b-task", "c-task"))
    ]
    made = build_manifest(study="a-study", dataset=dataset, revision="2.1", tasks=tasks, arms=arms, attempts=2)
    path = folder / "manifest.json"
    return path, write_manifest(made, path)


def run(folder: Path, pin: tuple[Path, str], *words: str | Path, plan_path: Path | None = None) -> Typed:
    path = plan_path or folder / "plan.toml"
    if plan_path is None:
        path.write_text(PLAN, encoding="utf-8")
    return typed("schedule", path, "--manifest", pin[0], "--expect-manifest-sha256", pin[1], *words)


def configs(out: Path) -> list[dict[str, object]]:
    return [json.loads(path.read_bytes()) for path in sorted((out / "configs").iterdir())]


def test_the_list_goes_to_stdout_as_csv_or_json(tmp_path: Path) -> None:
    pin = pinned(tmp_path)
    listed = run(tmp_path, pin)
    assert listed.exit_code == 0, listed.output
    rows = list(csv.DictReader(io.StringIO(listed.stdout)))
    value = json.loads(run(tmp_path, pin, "--json").stdout)
    assert value["schema"] == "evenhand-schedule-1"
    assert [{key: str(item) for key, item in slot.items()} for slot in value["slots"]] == rows
    assert Counter(row["arm"] for row in rows) == {"ours": 6, "the others": 6}


def test_job_configs_run_the_schedule_in_order(tmp_path: Path) -> None:
    pin = pinned(tmp_path)
    out = tmp_path / "made" / "run"
    result = run(tmp_path, pin, "--out", out, "--json")
    assert result.exit_code == 0, result.output
    slots = json.loads(result.stdout)["slots"]
    assert json.loads((out / "schedule.json").read_bytes())["slots"] == slots
    made = configs(out)
    assert len(made) == len(slots) == 12
    for slot, config in zip(slots, made, strict=True):
        assert config["tasks"][0]["name"] == f"terminal-bench/{slot['task']}"  # type: ignore[index]
        assert (config["jobs_dir"] == "jobs/ours") == (slot["arm"] == "ours")
    by_arm = {json.dumps(config["agents"], sort_keys=True) for config in made}
    assert by_arm == {
        '[{"kwargs": {"effort": "high"}, "model_name": "lab/m", "name": "ours"}]',
        '[{"import_path": "pkg.theirs:Agent", "model_name": "lab/m"}]',
    }
    assert made[0]["tasks"][0]["ref"].startswith("sha256:")  # type: ignore[index]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    pin = pinned(tmp_path)
    assert run(tmp_path, pin, "--out", tmp_path / "run").exit_code == 0
    before = sorted(path.stat().st_mtime_ns for path in (tmp_path / "run").rglob("*"))
    assert run(tmp_path, pin, "--out", tmp_path / "run").exit_code == 2
    assert sorted(path.stat().st_mtime_ns for path in (tmp_path / "run").rglob("*")) == before


def test_the_script_starts_one_trial_after_the_other_in_order(tmp_path: Path) -> None:
    out = tmp_path / "run"
    run(tmp_path, pinned(tmp_path), "--out", out)
    fake = tmp_path / "bin"
    fake.mkdir()
    runner = fake / "harbor"
    runner.write_text('#!/bin/sh\necho "$@" >> started.txt\n', encoding="utf-8")
    runner.chmod(0o755)
    environment = {**os.environ, "PATH": f"{fake}:{os.environ['PATH']}"}
    subprocess.run([str(out / "run.sh")], check=True, env=environment)
    names = [f"run --config configs/{path.name}" for path in sorted((out / "configs").iterdir())]
    assert (out / "started.txt").read_text(encoding="utf-8").splitlines() == names
    (out / "started.txt").unlink()
    subprocess.run([str(out / "run.sh"), "base.json"], check=True, env=environment)
    assert (out / "started.txt").read_text(encoding="utf-8").startswith("run --config base.json --config configs/00001")


def test_an_arm_whose_selector_names_no_agent_needs_an_agents_file(tmp_path: Path) -> None:
    pin = pinned(tmp_path, selectors=("kwarg.harness=new", "path=old/*"))
    refused = run(tmp_path, pin, "--out", tmp_path / "run")
    assert (refused.exit_code, len(refused.stderr.splitlines())) == (2, 2)
    assert not (tmp_path / "run").exists()
    assert run(tmp_path, pin).exit_code == 0  # the list needs no agents


def test_a_study_without_a_harbor_dataset_gets_the_list_alone(tmp_path: Path) -> None:
    pin = pinned(tmp_path, selectors=("kwarg.harness=new", "path=old/*"), dataset=None)
    made = run(tmp_path, pin, "--out", tmp_path / "run")
    assert made.exit_code == 0, made.output
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["schedule.csv", "schedule.json"]
    assert "evenhand run EXPERIMENT.yaml --schedule" in made.stderr


def test_an_agents_file_says_what_a_selector_does_not(tmp_path: Path) -> None:
    pin = pinned(tmp_path, selectors=("kwarg.harness=new", "path=old/*"), kind="name")
    agents = tmp_path / "agents.toml"
    agents.write_text(
        '[ours]\nimport_path = "x:Y"\nkwargs = {mode = "real"}\n["the others"]\nname = "codex"\n', encoding="utf-8"
    )
    result = run(tmp_path, pin, "--out", tmp_path / "run", "--agents", agents)
    assert result.exit_code == 0, result.output
    made = configs(tmp_path / "run")
    assert {"import_path": "x:Y", "kwargs": {"harness": "new", "mode": "real"}} in [row["agents"][0] for row in made]  # type: ignore[index]
    dataset = made[0]["datasets"][0]  # type: ignore[index]
    assert dataset["name"] == DATASET
    assert dataset["task_names"][0] in ("a-task", "b-task", "c-task")


@pytest.mark.parametrize(("text", "code"), [("[nobody]\nname = 'x'", 2), ("ours = 1", 2), ("ours = ", 2), (None, 3)])
def test_a_faulty_agents_file_is_refused(tmp_path: Path, text: str | None, code: int) -> None:
    agents = tmp_path / "agents.toml"
    if text is not None:
        agents.write_text(text, encoding="utf-8")
    assert run(tmp_path, pinned(tmp_path), "--out", tmp_path / "run", "--agents", agents).exit_code == code


def test_a_registered_plan_is_scheduled_only_with_its_own_manifest(tmp_path: Path) -> None:
    pin = pinned(tmp_path)
    path = tmp_path / "plan.toml"
    path.write_text(f'manifest_sha256 = "{"0" * 64}"\n{PLAN}', encoding="utf-8")
    frozen = typed("plan", "freeze", path, "--shelf", tmp_path / "s", "--at", "2026-03-01T12:00:00Z", "--json")
    refused = run(tmp_path, pin, plan_path=Path(json.loads(frozen.stdout)["path"]))
    assert refused.exit_code == 1
    assert "another manifest" in refused.stderr
    assert tomllib.loads(PLAN)["attempts"] == 2
