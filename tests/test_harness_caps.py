"""What a cap counts and when it cuts, retries by category, and what a task holds around its turns."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from harness.caps import CapMeter, CapPolicy, CapRule, CapUnit
from harness.clock import Anchor, Stamp, stamp_of_ms
from harness.facts import CONTRACT_CAPS, DEFAULT_CAPS, USAGE_SEMANTICS
from harness.kinds import EndStatus, Harness
from harness.record import TurnRecord
from harness.replay import TurnFrame, replay
from harness.retry import RULES, retry_rule
from harness.run_folder import SCHEMA, RunFolderError, task_document, write_task
from harness.scripts import SCRIPT_ANCHOR, script_lines
from harness.task import ProbeCache, TaskRecord

STEPS = CapPolicy(unit=CapUnit.STEPS)
AT_FINISH = CapPolicy(unit=CapUnit.STEPS, rule=CapRule.NTH_FINISH)


def test_both_counters_run_whatever_the_unit() -> None:
    meter = CapMeter(CapPolicy(unit=CapUnit.TOOL_CALLS), limit=None)
    assert not any(
        [meter.step_started(), meter.tool_resolved(), meter.tool_resolved(), meter.step_finished(final=True)]
    )
    assert (meter.steps_started, meter.steps_finished, meter.tools_resolved) == (1, 1, 2)


def test_the_contracts_step_cap_cuts_when_the_next_step_starts() -> None:
    meter = CapMeter(STEPS, limit=2)
    assert [meter.step_started() for _ in range(3)] == [False, False, True]
    assert meter.exhausted


def test_ours_cuts_at_the_nth_finish_unless_it_is_final() -> None:
    going_on, done = CapMeter(AT_FINISH, limit=2), CapMeter(AT_FINISH, limit=2)
    assert [going_on.step_finished(final=False) for _ in range(2)] == [False, True]
    assert [done.step_finished(final=final) for final in (False, True)] == [False, False]
    assert (going_on.exhausted, done.exhausted) == (True, False)


def test_a_tool_cap_cuts_at_the_nth_resolved_call() -> None:
    meter = CapMeter(DEFAULT_CAPS[Harness.CODEX], limit=3)
    assert [meter.tool_resolved() for _ in range(3)] == [False, False, True]
    assert not meter.step_started()


def test_units_are_the_contracts_and_only_the_step_rule_differs() -> None:
    assert {harness: policy.unit for harness, policy in DEFAULT_CAPS.items()} == {
        harness: policy.unit for harness, policy in CONTRACT_CAPS.items()
    }
    changed = {harness for harness in Harness if DEFAULT_CAPS[harness] != CONTRACT_CAPS[harness]}
    assert changed == {Harness.OPENCODE, Harness.PI}


def test_a_category_that_nobody_named_is_not_repeated() -> None:
    assert retry_rule("weather").delays_s == ()
    assert all(delay > 0 for rule in RULES.values() for delay in rule.delays_s)


# A task


def turn(*, duration_ms: float = 3000, status: EndStatus = EndStatus.COMPLETED, iteration: int = 1) -> TurnRecord:
    lines = script_lines(
        Harness.PI,
        [[100, "turn_start"], [150, "delta"], [200, "tool_start", "a"], [450, "tool_end", "a"], [900, "turn_end"]],
    )
    frame = TurnFrame(started=stamp_of_ms(0), ended=stamp_of_ms(duration_ms))
    return replay(Harness.PI, lines, frame, status=status, turn=iteration)


def task(*turns: TurnRecord, **fields: object) -> TaskRecord:
    values: dict[str, object] = {
        "task_id": "suite/row-1",
        "arm": "pi-small",
        "harness": Harness.PI,
        "started_wall_us": SCRIPT_ANCHOR.wall_us,
        "final_status": "SUCCESS",
        "turns": turns,
        **fields,
    }
    return TaskRecord(**values)  # type: ignore[arg-type]  # a builder takes what the test names


def test_what_no_bucket_holds_is_left_over_and_retry_waits_are_a_bucket() -> None:
    found = task(turn(), turn(), duration_us=7_000_000, setup_us=300_000, grading_us=200_000, retry_wait_us=100_000)
    assert found.agent_wall_us() == 6_000_000
    assert found.unaccounted_us() == 400_000


@pytest.mark.parametrize("duration_us", [None, 0])
def test_an_attempt_that_was_not_timed_has_nothing_left_over(duration_us: int | None) -> None:
    assert task(turn(), duration_us=duration_us).unaccounted_us() is None


def test_an_attempt_without_turns_has_no_agent_wall() -> None:
    assert task(duration_us=5).agent_wall_us() is None
    assert task(duration_us=5).unaccounted_us() == 5


def test_a_program_is_asked_for_its_version_once_per_run() -> None:
    asked: list[str] = []

    def probe(program: str) -> str | None:
        asked.append(program)
        return None if program == "absent" else "1.2"

    readings: Iterator[int] = iter([0, 5_000_000, 5_000_000, 9_000_000])
    cache = ProbeCache(probe=probe, monotonic_ns=lambda: next(readings))
    assert [cache.version(name) for name in ("pi", "absent", "pi", "absent")] == ["1.2", None, "1.2", None]
    assert asked == ["pi", "absent"]
    assert cache.cost_us == 9000


# A run folder


def turns_of(document: dict[str, object]) -> list[dict[str, Any]]:
    found = document["iterations"]
    assert isinstance(found, list)
    return found


def test_a_document_holds_times_and_no_word_of_the_conversation() -> None:
    document = task_document(task(turn(), duration_us=4_000_000, cap=STEPS, cap_limit=7))
    (one,) = turns_of(document)
    assert document["schema"] == SCHEMA
    assert (one["harness_startup_ms"], one["tool_union_ms"], one["harness_teardown_ms"]) == (100, 250, 2100)
    assert one["messages"][0]["generation_duration_ms"] == 550
    assert one["turn_to_first_delta_ms"] == 150
    assert document["usage_semantics"] == asdict(USAGE_SEMANTICS[Harness.PI])
    assert document["cap"] == {"unit": "steps", "rule": "next_start"}
    assert not {"content_blocks", "user_input", "agent_output", "parameters"} & set(json.dumps(document).split('"'))


@pytest.mark.parametrize(
    ("status", "crashed", "exhausted"),
    [
        (EndStatus.COMPLETED, False, False),
        (EndStatus.TIMEOUT, True, False),
        (EndStatus.CRASHED, True, False),
        (EndStatus.MAX_TURNS_EXHAUSTED, False, True),
        (EndStatus.STOPPED_EARLY, False, False),
    ],
)
def test_a_turn_says_how_it_ended(status: EndStatus, crashed: bool, exhausted: bool) -> None:
    document = task_document(task(turn(status=status)))
    (one,) = turns_of(document)
    assert (one["crashed"], one["max_turns_exhausted"]) == (crashed, exhausted)
    assert document["max_turns_exhausted"] is exhausted


def test_attempts_are_written_once_and_below_the_run(tmp_path: Path) -> None:
    path = write_task(tmp_path, task(turn(), attempt=3))
    assert path.relative_to(tmp_path).as_posix() == "pi-small/suite/row-1/03/task.json"
    with pytest.raises(RunFolderError, match="written before"):
        write_task(tmp_path, task(attempt=3))
    for arm, name in (("..", "t"), ("a", "../../t"), ("", "t"), ("a", ""), ("a", "/etc/t")):
        with pytest.raises(RunFolderError, match="below the run"):
            write_task(tmp_path, task(arm=arm, task_id=name))
    assert [found.name for found in tmp_path.iterdir()] == ["pi-small"]


def test_a_retry_repeats_the_iteration_number_and_counts_once() -> None:
    document = task_document(task(turn(status=EndStatus.CRASHED), turn(), turn(iteration=2)))
    assert document["iteration_count"] == 2
    assert Anchor(wall_us=0).wall(Stamp(us=0)).year == 1970
