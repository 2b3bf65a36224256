"""A timed run is a trial like any other: paired, counted, and kept turn by turn in the warehouse."""

import json
from pathlib import Path

import pytest

from analysis.evidence import Format, Outcome, read_evidence
from evenhand.cli import run
from evenhand.exits import Exit
from harness.kinds import Harness
from harness.limits import RunLimits
from harness.task import Concurrency, CostBasis
from tests.timed_folders import current, task, turn, write_current, write_ours

ARMS = ("--treatment", "agent=pi", "--control", "agent=opencode")


def write_study(folder: Path) -> Path:
    """Write two harnesses on three tasks; opencode fails the last one, pi ends it at its cap."""
    for number, task_id in enumerate(("one", "two", "three")):
        for harness in (Harness.PI, Harness.OPENCODE):
            status = "SUCCESS" if number < 2 else "MAX_TURNS_EXHAUSTED" if harness is Harness.PI else "FAILURE"
            write_ours(folder / "run-1", harness, task_id=task_id, final_status=status)
    return folder


def test_every_status_has_its_outcome(tmp_path: Path) -> None:
    statuses = {
        "SUCCESS": (Outcome.SOLVED, None),
        "FAILURE": (Outcome.UNSOLVED, None),
        "MAX_TURNS_EXHAUSTED": (Outcome.UNSOLVED, "MAX_TURNS_EXHAUSTED"),
        "TIMEOUT": (Outcome.UNSOLVED, "TIMEOUT"),
        "ERROR": (Outcome.UNGRADED, "ERROR"),
        "NOT_GRADED": (Outcome.UNGRADED, "NOT_GRADED"),
    }
    for status in statuses:
        record = task(Harness.PI, [turn(Harness.PI)], task_id=status.lower(), final_status=status)
        write_current(tmp_path / "run", current(record))
    found = read_evidence([tmp_path])
    assert {t.task.name.upper(): (t.outcome, t.exception_type) for t in found.trials} == statuses
    assert {t.format for t in found.trials} == {Format.CODER_EVAL}
    assert len(found.timed) == len(found.trials)


def test_two_harnesses_are_compared_from_their_run_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", str(write_study(tmp_path / "study")), *ARMS, "--json"]) == Exit.DONE
    found = json.loads(capsys.readouterr().out)
    assert (found["treatment"]["solved"], found["control"]["solved"], found["n_tasks"]) == (2, 2, 3)
    assert found["label"]["simulated"]


def test_turns_messages_and_spans_join_their_trial_in_the_warehouse(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    db = str(tmp_path / "w.duckdb")
    assert run(["load", str(write_study(tmp_path / "study")), "--study", "timed", "--db", db]) == Exit.DONE
    statement = """
        select t.agent, count(distinct t.trial) as trials, count(distinct u.turn_index) as turns,
               count(distinct m.message_index) as messages, count(distinct s.call_id) as spans,
               sum(distinct u.head_ms + u.generation_ms + u.tool_union_ms + u.tail_ms - u.duration_ms) as residual
        from trials as t
        join timed_trials as r on r.study = t.study and r.trial_id = t.trial
        join timed_turns as u on u.study = r.study and u.trial_id = r.trial_id
        left join timed_messages as m on m.trial_id = u.trial_id and m.turn_index = u.turn_index
        left join timed_spans as s on s.trial_id = u.trial_id and s.turn_index = u.turn_index
        group by t.agent order by t.agent
    """
    capsys.readouterr()
    assert run(["query", statement, "--db", db, "--json"]) == Exit.DONE
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["agent"], row["trials"], row["turns"]) for row in rows] == [("opencode", 3, 1), ("pi", 3, 1)]
    assert all(row["messages"] > 0 and row["spans"] > 0 and row["residual"] == pytest.approx(0) for row in rows)


def test_what_an_attempt_records_of_its_conditions_is_shown_by_the_trial(tmp_path: Path) -> None:
    write_ours(
        tmp_path / "run",
        Harness.PI,
        limits=RunLimits(max_turns=40, max_usd=2.5),
        conditions={"provider": "endpoint-sha256:1", "region": "two words", "retry_policy": "sha256:2"},
        task_digest="a" * 64,
        harness_version="1.6.0",
        cost_basis=CostBasis.DECLARED,
        concurrency=Concurrency(jobs=4, at_once=2),
        output_limit=4096,
    )
    (trial,) = read_evidence([tmp_path]).trials
    shown = dict(trial.conditions)
    assert (trial.agent_version, trial.task.checksum) == ("1.6.0", "a" * 64)
    assert (shown["provider"], shown["retry_policy"]) == ("endpoint-sha256:1", "sha256:2")
    assert (shown["concurrency"], shown["model_configuration"]) == ("4", "max_output_tokens=4096")
    assert "max_usd=2.5" in shown["budget"]
    assert "steps" in shown["budget"]
    # Free text never becomes a label, and nobody said where the provider stands.
    assert "region" not in shown


def test_an_attempt_of_which_nobody_knows_the_conditions_shows_none(tmp_path: Path) -> None:
    write_ours(tmp_path / "run", Harness.PI)
    (trial,) = read_evidence([tmp_path]).trials
    assert {"provider", "retry_policy", "concurrency", "cost_method"}.isdisjoint(dict(trial.conditions))
    assert (trial.agent_version, trial.task.checksum) == (None, None)
