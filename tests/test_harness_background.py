"""L14: an unresolved background command of antigravity ends at its bound as a graded turn, and never as a timeout."""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.background import BackgroundBound, BackgroundWait, background_bound
from harness.caps import CapMeter
from harness.clock import Anchor, Stamp
from harness.drive import DrivenTurn, TurnLimits, drive_turn
from harness.facts import DEFAULT_CAPS
from harness.kinds import EndStatus, Harness, ToolStatus
from harness.launch import Launch, Prompt
from harness.programs.antigravity.reducer import Antigravity
from harness.tasks.findings import turn_findings

SECOND = 1_000_000_000
PROGRAM = "import sys, time\nfor line in sys.argv[1:]: print(line, flush=True)\n"


def step(kind: str, index: int, status: str, *, source: str = "MODEL", name: str | None = None) -> dict[str, object]:
    """Return a step as antigravity's driver prints it."""
    calls = [] if name is None else [{"id": f"c{index}", "name": name, "args": {}}]
    return {
        "type": kind,
        "source": source,
        "status": status,
        "step_index": index,
        "tool_calls": calls,
        "_conversation": "s",
        "_cumulative": {"prompt": 10 * (index + 1), "candidates": 1, "cached": 0, "thoughts": 0},
    }


def started(index: int = 1, name: str = "run_command") -> dict[str, object]:
    return step("TOOL_CALL", index, "ACTIVE", name=name)


def said(index: int, status: str = "DONE", source: str = "MODEL") -> dict[str, object]:
    return step("TEXT_RESPONSE", index, status, source=source)


@pytest.mark.parametrize(
    ("steps", "waiting"),
    [
        ([said(0), started(1)], ()),  # it runs in the foreground: the model has not spoken since
        ([started(1), said(2)], ("c1",)),
        ([started(1), said(2), started(1)], ("c1",)),  # an older step comes again before its end
        ([started(1), said(2, "ACTIVE")], ()),  # the model is at work
        ([started(1), said(2), said(3, source="SYSTEM")], ()),  # the program wakes the model
        ([started(1), said(2), started(3)], ()),  # the model went on
        ([started(1), started(2), said(3)], ("c1", "c2")),
        ([started(1), said(2), step("TOOL_CALL", 1, "DONE", name="run_command"), said(3)], ()),
        ([started(1, "view_file"), said(2)], ()),
    ],
)
def test_l14_a_command_is_waited_for_once_the_model_has_spoken_its_last_word(
    steps: list[dict[str, object]], waiting: tuple[str, ...]
) -> None:
    reducer = Antigravity(entry=Stamp(us=0), turn=1, anchor=Anchor(wall_us=0))
    for number, line in enumerate(steps):
        reducer.feed(Stamp(us=number), line)
    assert reducer.summary().background == waiting


def test_l14_the_bound_is_a_share_of_the_turns_limit_and_without_one_120_polls_of_5_s() -> None:
    assert background_bound(300.0) == BackgroundBound(seconds=240.0, since_idle=False)
    assert background_bound(None) == BackgroundBound(seconds=600.0, since_idle=True)


def test_l14_with_a_turn_limit_the_wait_is_counted_from_the_turns_start() -> None:
    now = [0]
    wait = BackgroundWait(background_bound(10.0), monotonic_ns=lambda: now[0])
    now[0] = 8 * SECOND - 1
    assert not wait.over(("c",))
    now[0] = 8 * SECOND
    assert not wait.over(())
    assert wait.over(("c",))


def test_l14_without_a_turn_limit_the_wait_is_counted_from_the_last_word_and_begins_anew() -> None:
    now = [0]
    wait = BackgroundWait(background_bound(None), monotonic_ns=lambda: now[0])
    now[0] = 1000 * SECOND
    assert not wait.over(("c",))
    now[0] += 500 * SECOND
    assert not wait.over(())
    assert not wait.over(("c",))
    now[0] += 600 * SECOND
    assert wait.over(("c",))


def test_l14_no_bound_waits_for_ever() -> None:
    readings: Iterator[int] = iter(range(0, 10**18, 10**15))
    assert not BackgroundWait(None, monotonic_ns=lambda: next(readings)).over(("c",))


def driven(folder: Path, *steps: dict[str, object], then: str, max_turns: int | None = None) -> DrivenTurn:
    """Run a fake antigravity whose turn is limited to 30 s and whose background commands are waited for 1 s."""
    argv = (sys.executable, "-I", "-S", "-c", PROGRAM + then, *(json.dumps(line) for line in steps))
    return drive_turn(
        Harness.ANTIGRAVITY,
        Launch(argv=argv, env={}, cwd=folder, conversation=Prompt("")),
        meter=CapMeter(DEFAULT_CAPS[Harness.ANTIGRAVITY], limit=max_turns),
        wall_us=lambda: time.time_ns() // 1000,
        monotonic_ns=time.monotonic_ns,
        limits=TurnLimits(timeout_s=30, grace_s=0.3, background=BackgroundBound(seconds=1.0, since_idle=True)),
    )


def test_l14_a_command_that_never_ends_leaves_a_completed_turn_and_is_recorded_unresolved(tmp_path: Path) -> None:
    turn = driven(tmp_path, said(0), started(1), said(2), then="time.sleep(600)")
    assert (turn.record.status, turn.crash, turn.overshoot_us) == (EndStatus.COMPLETED, None, None)
    assert [call.status for call in turn.record.calls] == [ToolStatus.UNRESOLVED]
    assert turn.record.calls[0].completed is None
    assert turn.record.ending is not None
    assert turn.record.ending.given_up == ("c1",)
    assert list(turn_findings([turn.record])) == [
        "turn 1: 1 background command did not end in time; graded without a result"
    ]


def test_l14_a_command_that_ends_while_it_is_waited_for_is_resolved(tmp_path: Path) -> None:
    ends = json.dumps(step("TOOL_CALL", 1, "DONE", name="run_command"))
    last = json.dumps(said(3))
    turn = driven(tmp_path, started(1), said(2), then=f"time.sleep(0.4); print({ends!r}); print({last!r})")
    assert turn.record.status is EndStatus.COMPLETED
    assert [call.status for call in turn.record.calls] == [ToolStatus.OK]
    assert list(turn_findings([turn.record])) == []


def test_l14_the_cap_is_checked_while_a_command_is_waited_for(tmp_path: Path) -> None:
    ends = json.dumps(step("TOOL_CALL", 1, "DONE", name="run_command"))
    turn = driven(
        tmp_path,
        started(1),
        said(2),
        then=f"time.sleep(0.4); print({ends!r}, flush=True); time.sleep(600)",
        max_turns=1,
    )
    assert turn.record.status is EndStatus.MAX_TURNS_EXHAUSTED
    assert turn.record.summary.tool_calls == 1
