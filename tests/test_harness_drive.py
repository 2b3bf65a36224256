"""One turn through a real process: limits, caps, crashes and stops, by the numbers of the run-limit contract."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from harness.caps import CapMeter, CapPolicy, CapUnit
from harness.clock import stamp_of_ms
from harness.drive import DrivenTurn, TurnLimits, _said_after, drive_turn
from harness.events import Event, ToolStart, TurnEnd
from harness.facts import CONTRACT_CAPS, DEFAULT_CAPS
from harness.kinds import EndStatus, Harness, ToolStatus
from harness.launch import Launch, Prompt
from harness.scripts import Row, script_lines

# A fake program: prints each of its lines after a pause, then does as its last argument says.
_FAKE = """
import json, os, signal, subprocess, sys, time
with open(sys.argv[1]) as file:
    steps = json.load(file)
for pause, line in steps:
    time.sleep(pause)
    sys.stdout.write(line + "\\n")
    sys.stdout.flush()
exec(sys.argv[2])
"""
STEP: list[Row] = [
    [0, "turn_start"],
    [1, "delta"],
    [2, "tool_start", "t"],
    [3, "tool_end", "t"],
    [4, "turn_end"],
]
# A limit far beyond what a busy machine takes to print a few lines, and a leap beyond that limit.
FAR_S, LEAP_NS = 300.0, 400 * 10**9
UNCAPPED = DEFAULT_CAPS[Harness.PI]


def pi(step: int, *, last: bool = False) -> list[str]:
    """Return the lines of one step of pi with one tool call; the last one has none and stops by itself."""
    rows = [[*row[:2], f"t{step}"] if len(row) > 2 else row for row in STEP]
    rows = [row for row in rows if not (last and str(row[1]).startswith("tool"))]
    lines = [dict(line) for _, line in script_lines(Harness.PI, rows)]
    for line in lines:
        if line["type"] == "turn_end":
            message = line.get("message")
            line["message"] = {
                **(message if isinstance(message, dict) else {}),
                "role": "assistant",
                "stopReason": "stop" if last else "toolUse",
                "responseId": f"r{step}",
            }
    return [json.dumps(line) for line in lines]


def drive(
    folder: Path,
    lines: Sequence[str],
    *,
    harness: Harness = Harness.PI,
    then: str = "",
    pause_s: float = 0.0,
    cap: CapPolicy = UNCAPPED,
    max_turns: int | None = None,
    limits: TurnLimits | None = None,
    watch: object = None,
    late_at: Callable[[Event], bool] | None = None,
) -> DrivenTurn:
    """Run a fake program that prints lines; the clock leaps beyond any limit at the event that `late_at` names."""
    leap_ns = 0

    def leaps(event: Event) -> bool:
        nonlocal leap_ns
        assert late_at is not None
        leap_ns += LEAP_NS if late_at(event) else 0
        return False

    script = folder / "script.json"
    script.write_text(json.dumps([[pause_s, line] for line in lines]), encoding="utf-8")
    launch = Launch(
        argv=(sys.executable, "-I", "-S", "-c", _FAKE, str(script), then),
        env={"PATH": os.environ.get("PATH", "")},
        cwd=folder,
        conversation=Prompt("do it"),
    )
    watch = watch if late_at is None else leaps
    assert watch is None or callable(watch)
    return drive_turn(
        harness,
        launch,
        meter=CapMeter(cap, limit=max_turns),
        wall_us=lambda: time.time_ns() // 1000,
        monotonic_ns=lambda: time.monotonic_ns() + leap_ns,
        limits=limits,
        watch=watch,
    )


def nth(number: int, kind: type[Event]) -> Callable[[Event], bool]:
    """Return what is true of the event that is the n-th of its kind."""
    seen = 0

    def is_it(event: Event) -> bool:
        nonlocal seen
        seen += isinstance(event, kind)
        return seen == number and isinstance(event, kind)

    return is_it


def test_a_turn_runs_to_its_terminal_event_and_adds_up(tmp_path: Path) -> None:
    turn = drive(tmp_path, [*pi(1), *pi(2, last=True)], pause_s=0.02)
    assert (turn.record.status, turn.exit_code, turn.crash, turn.swept) == (EndStatus.COMPLETED, 0, None, 0)
    assert (turn.record.summary.tool_calls, len(turn.record.messages)) == (1, 2)
    assert turn.record.residual_us() == 0


def test_a_sub_agents_calls_are_recorded_and_reach_no_cap(tmp_path: Path) -> None:
    rows: list[Row] = [
        [0, "message_start", "m1"],
        [1, "assistant", "m1", ["main"]],
        *([2 + place, "assistant", f"s{place}", [f"sub{place}"], "main"] for place in range(3)),
        *([6 + place, "results", [f"sub{place}"], None, "main"] for place in range(3)),
        [10, "results", ["main"]],
        [11, "message_start", "m2"],
        [12, "assistant", "m2", []],
    ]
    end = {"type": "result", "subtype": "success", "is_error": False, "num_turns": 2}
    lines = [*(json.dumps(line) for _, line in script_lines(Harness.CLAUDE_CODE, rows)), json.dumps(end)]
    counted = CapPolicy(unit=CapUnit.TOOL_CALLS)
    turn = drive(tmp_path, lines, harness=Harness.CLAUDE_CODE, cap=counted, max_turns=2)
    assert turn.record.status is EndStatus.COMPLETED
    assert sum(call.parent == "main" for call in turn.record.calls) == 3
    # The same calls on the main thread do reach it.
    flat = [json.dumps({**json.loads(line), "parent_tool_use_id": None}) for line in lines]
    capped = drive(tmp_path, flat, harness=Harness.CLAUDE_CODE, cap=counted, max_turns=2)
    assert capped.record.status is EndStatus.MAX_TURNS_EXHAUSTED


def test_an_exit_code_is_no_verdict(tmp_path: Path) -> None:
    assert drive(tmp_path, pi(1, last=True), then="sys.exit(9)").record.status is EndStatus.COMPLETED
    failed = drive(tmp_path, [line.replace('"stop"', '"error"') for line in pi(1, last=True)])
    assert (failed.record.status, failed.exit_code) == (EndStatus.CRASHED, 0)
    assert failed.crash == "the program says that it failed"


def test_a_stream_without_its_terminal_event_is_a_crash(tmp_path: Path) -> None:
    turn = drive(tmp_path, pi(1))
    assert turn.record.status is EndStatus.CRASHED
    assert turn.crash == "the stream ended without its terminal event"


def test_no_known_kind_on_a_clean_exit_is_vocabulary_drift(tmp_path: Path) -> None:
    turn = drive(tmp_path, [json.dumps({"type": f"kind_{number:02}"}) for number in range(12)])
    assert turn.record.status is EndStatus.CRASHED
    assert turn.crash is not None
    assert turn.crash.startswith("no line of a known kind (vocabulary drift): ")
    assert turn.crash.count("kind_") == 8


def test_lines_that_are_no_object_are_counted_and_passed_over(tmp_path: Path) -> None:
    turn = drive(tmp_path, ["a banner", "[1, 2]", "", "{", *pi(1, last=True)])
    assert (turn.skipped, turn.record.status) == (3, EndStatus.COMPLETED)


def test_l1_the_event_that_reaches_the_cap_is_handled_whole_and_the_next_is_never_taken(tmp_path: Path) -> None:
    poison = [json.dumps({"type": "poison"})]
    turn = drive(tmp_path, [*pi(1), *pi(2), *poison, *pi(3, last=True)], max_turns=2)
    assert turn.record.status is EndStatus.MAX_TURNS_EXHAUSTED
    assert len(turn.record.messages) == 2
    assert turn.record.summary.unknown == ()
    assert turn.crash is None


@pytest.mark.parametrize(("calls", "resolved"), [(1, 1), (3, 3)])
def test_l2_a_cap_on_tool_calls_cuts_at_the_nth_resolved_one(tmp_path: Path, calls: int, resolved: int) -> None:
    lines = [line for step in range(1, 6) for line in pi(step)] + pi(6, last=True)
    turn = drive(tmp_path, lines, cap=CapPolicy(unit=CapUnit.TOOL_CALLS), max_turns=calls)
    assert turn.record.status is EndStatus.MAX_TURNS_EXHAUSTED
    assert turn.record.summary.tool_calls == resolved


def test_l2_the_contracts_step_cap_cuts_when_the_next_step_starts(tmp_path: Path) -> None:
    turn = drive(tmp_path, [*pi(1), *pi(2), *pi(3, last=True)], cap=CONTRACT_CAPS[Harness.PI], max_turns=1)
    assert turn.record.status is EndStatus.MAX_TURNS_EXHAUSTED
    assert len(turn.record.messages) == 1


def test_l3_a_turn_that_ends_at_its_cap_by_itself_is_not_exhausted(tmp_path: Path) -> None:
    turn = drive(tmp_path, [*pi(1), *pi(2, last=True)], max_turns=2)
    assert turn.record.status is EndStatus.COMPLETED


def test_l6_a_call_in_flight_at_the_cut_is_unresolved_and_unbounded(tmp_path: Path) -> None:
    limits = TurnLimits(timeout_s=FAR_S, grace_s=0.2)
    lines = [*pi(1), *pi(2)[:3]]
    turn = drive(tmp_path, lines, then="time.sleep(600)", limits=limits, late_at=nth(2, ToolStart))
    assert turn.record.status is EndStatus.TIMEOUT
    calls = {call.call_id: call for call in turn.record.calls}
    assert calls["t1"].status is ToolStatus.OK
    assert calls["t2"].status is ToolStatus.UNRESOLVED
    assert calls["t2"].completed is None


def test_l7_a_deliberate_stop_outranks_the_cap_and_a_crash(tmp_path: Path) -> None:
    def at_a_tool(event: Event) -> bool:
        return isinstance(event, ToolStart)

    turn = drive(tmp_path, [*pi(1), *pi(2, last=True)], watch=at_a_tool)
    assert turn.record.status is EndStatus.STOPPED_EARLY
    assert turn.crash is None
    everything = drive(tmp_path, [*pi(1), *pi(2)], watch=lambda _: True, cap=CONTRACT_CAPS[Harness.PI], max_turns=0)
    assert everything.record.status is EndStatus.STOPPED_EARLY


def test_l8_a_timeout_keeps_the_partial_record_and_says_the_overshoot(tmp_path: Path) -> None:
    turn = drive(tmp_path, pi(1), then="time.sleep(600)", limits=TurnLimits(timeout_s=FAR_S), late_at=nth(1, TurnEnd))
    assert turn.record.status is EndStatus.TIMEOUT
    assert len(turn.record.messages) == 1
    assert turn.overshoot_us is not None
    assert LEAP_NS // 1000 > turn.overshoot_us > LEAP_NS // 1000 - round(FAR_S * 1e6)
    assert turn.crash is None


def test_l10_and_l12_nothing_survives_a_program_that_ignores_the_polite_request(tmp_path: Path) -> None:
    then = (
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "tool = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True)\n"
        "with open('tool', 'w') as file: file.write(str(tool.pid))\n"
        f"for line in {pi(2)!r}: print(line, flush=True)\n"
        "time.sleep(600)"
    )
    limits = TurnLimits(timeout_s=FAR_S, grace_s=0.3)
    turn = drive(tmp_path, pi(1), then=then, limits=limits, late_at=nth(2, TurnEnd))
    assert turn.record.status is EndStatus.TIMEOUT
    assert turn.exit_code == -signal.SIGKILL
    assert turn.swept == 1
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "tool").read_text("utf-8")), 0)


def test_l11_a_grandchild_that_holds_the_pipe_does_not_hold_the_turn(tmp_path: Path) -> None:
    then = "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True)"
    began = time.monotonic()
    turn = drive(tmp_path, pi(1, last=True), then=then, limits=TurnLimits(drain_s=0.5))
    assert turn.record.status is EndStatus.COMPLETED
    assert turn.swept == 1
    assert turn.record.ended is not None
    # The turn ends with the program's exit and not with the drain behind it.
    assert turn.record.ended.us + 400_000 <= (time.monotonic() - began) * 1e6


@pytest.mark.parametrize(("heard_ms", "late"), [(None, False), (1000, True), (3600, False), (4600, False)])
def test_l11_a_line_is_late_only_against_when_the_end_was_heard_of(heard_ms: int | None, *, late: bool) -> None:
    # The program ended at 1 s; a runner that is held up hears of it later, and reads what was said before later too.
    heard = None if heard_ms is None else stamp_of_ms(heard_ms)
    assert _said_after(heard, stamp_of_ms(4500), drain_s=1.0) is late


def test_l11_a_grandchild_that_keeps_talking_does_not_hold_the_turn(tmp_path: Path) -> None:
    chatter = "[(print('{}', flush=True), time.sleep(0.01)) for _ in iter(int, 1)]"
    then = f"subprocess.Popen([sys.executable, '-c', {'import time; ' + chatter!r}], start_new_session=True)"
    turn = drive(tmp_path, pi(1, last=True), then=then, limits=TurnLimits(drain_s=0.5, timeout_s=20))
    assert turn.record.status is EndStatus.COMPLETED
    assert turn.swept == 1


def test_l15_a_step_of_the_wall_clock_moves_no_limit(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([[0.0, line] for line in pi(1, last=True)]), encoding="utf-8")
    launch = Launch(
        argv=(sys.executable, "-I", "-S", "-c", _FAKE, str(script), ""), env={}, cwd=tmp_path, conversation=Prompt("")
    )
    leaps = iter(range(10**15, 10**18, 10**14))
    turn = drive_turn(
        Harness.PI,
        launch,
        meter=CapMeter(UNCAPPED, limit=None),
        wall_us=lambda: next(leaps),
        monotonic_ns=time.monotonic_ns,
        limits=TurnLimits(timeout_s=60),
    )
    assert turn.record.status is EndStatus.COMPLETED


def test_ctrl_c_keeps_what_was_measured_and_leaves_nothing(tmp_path: Path) -> None:
    # A runner of tests that was started in the background ignores the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    at_the_end = nth(1, TurnEnd)

    def ctrl_c(event: Event) -> bool:
        if at_the_end(event):
            os.kill(os.getpid(), signal.SIGINT)
        return False

    try:
        turn = drive(tmp_path, pi(1), then="time.sleep(600)", limits=TurnLimits(grace_s=0.3), watch=ctrl_c)
    finally:
        signal.signal(signal.SIGINT, before)
    assert turn.interrupted
    assert turn.record.status is EndStatus.CRASHED
    assert len(turn.record.messages) == 1
    assert turn.exit_code is not None


def test_a_turn_with_a_flood_of_errors_a_giant_line_and_no_last_line_feed_completes(tmp_path: Path) -> None:
    *early, last = pi(1, last=True)
    then = (
        "sys.stderr.write('e' * 200_000); sys.stderr.flush()\n"
        "print('x' * (50 << 20), flush=True)\n"
        f"sys.stdout.write({last!r}); sys.stdout.flush()"
    )
    turn = drive(tmp_path, early, then=then, limits=TurnLimits(timeout_s=60))
    assert turn.record.status is EndStatus.COMPLETED
    assert turn.record.ending is not None
    assert (turn.record.ending.stderr_bytes, turn.record.ending.skipped) == (200_000, 1)


def test_both_counters_are_recorded_although_the_turn_is_cut(tmp_path: Path) -> None:
    capped = drive(tmp_path, [*pi(1), *pi(2), *pi(3, last=True)], max_turns=2)
    assert (capped.record.summary.model_calls, capped.record.summary.tool_calls) == (2, 2)
    limits = TurnLimits(timeout_s=FAR_S, grace_s=0.2)
    late = drive(tmp_path, [*pi(1), *pi(2)], then="time.sleep(600)", limits=limits, late_at=nth(2, TurnEnd))
    assert late.record.status is EndStatus.TIMEOUT
    assert (late.record.summary.model_calls, late.record.summary.tool_calls) == (2, 2)
