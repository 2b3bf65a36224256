"""The run-limit tasks: one per limit, each with its script and its expected answer on all five programs."""

import json
import sys
import time
from importlib.resources import files
from pathlib import Path

import pytest

from evenhand.task_file import LIMITS as KEYS
from evenhand.task_file import read_task
from harness.caps import CapMeter
from harness.drive import drive_turn
from harness.facts import DEFAULT_CAPS
from harness.kinds import EndStatus, Harness, ToolStatus
from harness.launch import Launch, Prompt
from harness.limits import RunLimits
from harness.statuses import Category, Status
from harness.tasks.findings import turn_findings
from harness.testing.live.limit_table import LIMITS
from harness.testing.live.limits import FOLDER, LimitRun, limit_faults, report
from harness.testing.script import load_script


def test_every_limit_of_a_task_file_has_a_task_a_script_and_an_expected_answer() -> None:
    assert set(LIMITS) == set(KEYS)
    assert {path.stem for path in FOLDER.glob("*.yaml")} == set(KEYS)
    assert {path.stem for path in FOLDER.glob("*.json")} == set(KEYS)


@pytest.mark.parametrize("name", sorted(LIMITS))
def test_a_run_limit_task_follows_the_schema_sets_its_limit_and_can_fail(name: str) -> None:
    task = read_task(FOLDER / f"{name}.yaml")
    assert task.task_id == f"run_limits/{name}"
    assert task.criteria
    if name == "stop_early":
        assert task.armed()
    else:
        assert getattr(task.limits, KEYS[name]) != getattr(RunLimits(), KEYS[name])
    assert load_script(FOLDER / f"{name}.json")[""].steps


def test_the_run_limit_tasks_are_part_of_the_package() -> None:
    names = {entry.name for entry in files("harness.tasks.run_limits").iterdir()}
    assert {f"{name}.yaml" for name in LIMITS} <= names


def test_l5_and_l8_what_is_expected_is_consistent_with_the_statuses() -> None:
    for name, expected in LIMITS.items():
        for harness in Harness:
            outcome = expected.on(harness)
            category = Status(outcome.final).category
            assert (category is Category.ERROR) <= (not outcome.graded), name
            assert outcome.over == (outcome.turn == EndStatus.TIMEOUT.value), name
            assert outcome.turn != EndStatus.MAX_TURNS_EXHAUSTED.value or outcome.graded, name


def test_a_document_that_is_not_as_expected_is_told() -> None:
    outcome = LIMITS["max_turns"].on(Harness.PI)
    turn = {"status": "max_turns_exhausted", "timeout_overshoot_ms": None, "num_turns": 2, "tool_calls_resolved": 2}
    document: dict[str, object] = {
        "final_status": "MAX_TURNS_EXHAUSTED",
        "error_category": None,
        "weighted_score": 0.0,
        "max_turns_exhausted": True,
        "iterations": [turn],
        "findings": [],
    }
    assert list(limit_faults(outcome, document)) == []
    wrong = {**document, "final_status": "ERROR", "iterations": [{**turn, "tool_calls_resolved": 3}]}
    assert list(limit_faults(outcome, wrong)) == [
        "final_status 'ERROR', expected 'MAX_TURNS_EXHAUSTED'",
        "3 resolved calls, expected 2 to 2",
    ]
    stopped = LIMITS["stop_early"].on(Harness.PI)
    assert list(limit_faults(stopped, document))[-1] == "no finding of '1 armed of 2 checks', found []"


def test_the_table_of_a_run_says_what_does_not_hold() -> None:
    runs = [
        LimitRun(harness=Harness.PI, name="max_turns", seconds=1.25, faults=()),
        LimitRun(harness=Harness.CODEX, name="max_turns", seconds=2, faults=("it did not end",)),
    ]
    told = report(runs, seconds=3)
    assert "codex max_turns: it did not end" in told
    assert told.endswith("1 of 2 limits hold; 3 s\n")


def codex(method: str, **params: object) -> str:
    return json.dumps({"method": method, "params": {"threadId": "th", **params}, "emittedAtMs": 1_790_000_000_000})


def test_l14_codex_is_not_polled_and_a_background_call_is_recorded_unresolved_with_a_finding(tmp_path: Path) -> None:
    item = {"type": "commandExecution", "id": "c1", "status": "inProgress"}
    lines = [
        codex("turn/started"),
        codex("item/started", item=item, startedAtMs=1_790_000_000_000),
        codex("turn/completed", turn={"status": "completed"}),
    ]
    turn = drive_turn(
        Harness.CODEX,
        Launch(
            argv=(sys.executable, "-I", "-S", "-c", f"for line in {lines!r}: print(line, flush=True)"),
            env={},
            cwd=tmp_path,
            conversation=Prompt(""),
        ),
        meter=CapMeter(DEFAULT_CAPS[Harness.CODEX], limit=None),
        wall_us=lambda: time.time_ns() // 1000,
        monotonic_ns=time.monotonic_ns,
    )
    assert turn.record.status is EndStatus.COMPLETED
    assert [call.status for call in turn.record.calls] == [ToolStatus.UNRESOLVED]
    assert turn.record.summary.background == ()
    assert list(turn_findings([turn.record])) == [
        "turn 1: 1 tool call had not ended when the program did; recorded unresolved"
    ]
