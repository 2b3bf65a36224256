"""What a report must carry before it may call itself comparative: each demand is missing once, and named."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from analysis.decision import Decision, Verdict
from manifests.conditions import Status
from reports.contract import DEMANDS, held_to_contract, missing
from reports.layout import Section
from reports.page import page
from reports.privacy.allowlist import WITHHELD
from reports.render import render
from reports.terminal import render_text
from reports.words import headline, standing
from tests.builders_context import PROMISE
from tests.builders_reports import simulated

Change = Callable[[Decision], Decision]


def without(*factors: str) -> Change:
    """Take away what is known of some factors; the label is left as it was, for the contract alone to judge."""

    def change(decision: Decision) -> Decision:
        rows = [replace(one, status=Status.UNKNOWN) if one.factor in factors else one for one in decision.conditions]
        return replace(decision, conditions=tuple(rows))

    return change


def promising(**changes: object) -> Change:
    return lambda decision: replace(decision, promise=replace(PROMISE, **changes))  # type: ignore[arg-type]


def no_plan(decision: Decision) -> Decision:
    return replace(decision, promise=None)


# Demand to a change after which exactly the named demands are missing; None for one that no decision can lack.
ROWS: dict[str, tuple[Change, tuple[str, ...]] | None] = {
    "date": None,
    "harness versions": (without("harness_version"), ("harness versions",)),
    "cohort and inclusion rule": (promising(inclusion=WITHHELD), ("cohort and inclusion rule",)),
    "model identity": (without("model"), ("model identity",)),
    "provider identity": (without("provider"), ("provider identity",)),
    "container identity": (without("container_image"), ("container identity",)),
    "environment identity": (without("hardware"), ("environment identity",)),
    "configuration identity": (without("model_configuration"), ("configuration identity",)),
    "task manifest": (lambda one: replace(one, pinned=None), ("task manifest",)),
    "seeds": (
        no_plan,
        (
            "cohort and inclusion rule",
            "seeds",
            "stop policy",
            "preregistered interval, threshold, minimum effect and test",
        ),
    ),
    "prompt digests": (without("prompt_digest"), ("prompt digests",)),
    "budgets": (without("budget"), ("budgets",)),
    "run order": (without("run_order"), ("run order",)),
    "stop policy": (
        no_plan,
        (
            "cohort and inclusion rule",
            "seeds",
            "stop policy",
            "preregistered interval, threshold, minimum effect and test",
        ),
    ),
    "outcome of each task": (
        lambda one: replace(one, tasks=one.tasks[1:]),
        ("outcome of each task", "cost, tokens, latency, retries and interventions of each task"),
    ),
    "cost, tokens, latency, retries and interventions of each task": (
        lambda one: replace(one, tasks=()),
        ("outcome of each task", "cost, tokens, latency, retries and interventions of each task"),
    ),
    "preregistered interval, threshold, minimum effect and test": (
        promising(endpoints=(replace(PROMISE.endpoints[0], minimum_effect=None),)),
        ("preregistered interval, threshold, minimum effect and test",),
    ),
    "exact commands": (lambda one: replace(one, commands=(WITHHELD,)), ("exact commands",)),
}


def test_every_demand_has_a_row() -> None:
    assert list(ROWS) == [demand.name for demand in DEMANDS]


def test_a_complete_decision_is_left_as_it_is() -> None:
    assert missing(simulated()) == ()
    assert held_to_contract(simulated()) is not None
    assert held_to_contract(simulated()) == simulated()


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row])
def test_what_is_missing_is_named_and_takes_the_name_comparative_away(name: str) -> None:
    row = ROWS[name]
    assert row is not None
    change, expected = row
    lacking = change(simulated())
    assert missing(lacking) == expected
    held = held_to_contract(lacking)
    assert not held.label.comparative
    assert held.label.reasons[-1] == f"incomplete contract: {', '.join(expected)}"
    assert (held.verdict, held.also) == (Verdict.NONE, ())
    assert {endpoint.decision for endpoint in held.endpoints} == {Verdict.NONE}


def test_a_report_refuses_to_call_itself_comparative_and_lists_what_it_lacks() -> None:
    files = render(replace(simulated(), promise=None)).files
    document = json.loads(files["decision.json"])
    assert document["label"]["comparative"] is False
    assert document["verdict"] == "none"
    first = files["report.md"].decode().splitlines()[0]
    assert "NON-COMPARATIVE: the report lacks cohort and inclusion rule, seeds, stop policy" in first
    assert b"NON-COMPARATIVE" in files["figures/difference.svg"]
    assert b"MISSING" in files["report.html"]


def test_the_reason_is_told_apart_from_a_factor_that_differs() -> None:
    held = held_to_contract(replace(simulated(), promise=None))
    assert standing(held)[0] == "Non-comparative: this report does not carry all that a comparative one must."
    both = held_to_contract(without("hardware")(simulated()))
    assert headline(both).startswith("SIMULATED: no real model ran; nothing here measures one. NON-COMP")
    assert "hardware is unknown" in headline(both)
    assert standing(both)[0].startswith("Non-comparative: a factor differs or is unknown")


def test_a_text_says_what_a_report_of_it_would_lack() -> None:
    assert "could not call itself comparative: it lacks task manifest" in render_text(replace(simulated(), pinned=None))
    assert "could not call itself" not in render_text(simulated())


def test_every_demand_stands_in_a_section_that_exists() -> None:
    sections: dict[str, Section] = {one.title: one for one in page(simulated(), figures=()).sections}
    assert {demand.where for demand in DEMANDS} - {"title"} <= sections.keys()
    rows = sections["What a comparative report must carry"].tables[0].rows
    assert [row[1] for row in rows] == ["yes"] * len(DEMANDS)


@pytest.mark.parametrize(
    "part",
    [
        "Does steady solve more of these tasks than plain?",
        "simulated pair",
        "both run the simulated model",
        "2026-01-15T09:00:00Z, by the computer's clock, commit a1a1",
        "144 of 144 promised trials stand here",
        "interleaved: pairs adjacent",
        "recorded starts were held against a written schedule",
        "Amendment 1",
        "a typing error",
        "| success | primary | sign flip | 0.05 | auto, 95% | 5 pp | 5 pp |",
        "| cost per solved | secondary | ratio of sums | 0.05 | auto, 95% | 10% | not set |",
        "| safety: success | at least 40.0% | 54.2% | kept | 97.5% |",
        "NOT KEPT",
        "cannot be said: nothing of that name is measured here",
        "none: dimensions are not added up",
        "24, 24 of them pinned by content",
        "one machine, 16 cores",
        "selection version 2, balanced, seed 1",
        "not measured",
    ],
)
def test_the_report_prints_what_was_promised_and_pinned(part: str) -> None:
    assert part in render(simulated()).files["report.md"].decode()


def test_without_plan_and_manifest_the_report_says_so() -> None:
    text = render(replace(simulated(), promise=None, pinned=None)).files["report.md"].decode()
    assert "Nothing was promised before the data: no plan was frozen." in text
    assert "No manifest pinned the tasks and the arms." in text
