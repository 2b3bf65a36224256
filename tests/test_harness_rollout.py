"""A codex rollout gives a call's outer bounds and a sub-agent's work as a diagnostic: no bucket, no cap reads it."""

import json
import sys
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.caps import CapMeter
from harness.clock import Basis, Stamp, stamp_of_ms
from harness.drive import drive_turn
from harness.events import ToolEnd
from harness.facts import DEFAULT_CAPS
from harness.intervals import Span
from harness.kinds import EndStatus, Harness, ToolStatus
from harness.launch import Launch, Prompt
from harness.record import TurnRecord
from harness.replay import TurnFrame, replay
from harness.rollout import recovered, rollout_bounds, with_rollout
from harness.run_folder import turn_document
from harness.scripts import script_lines

SCRIPT = [[1000, "start", "c", "commandExecution"], [1400, "done", "c", "commandExecution"], [0, "usage", 5, 0]]


def line(kind: str, second: float, call_id: str | None = "c") -> dict[str, object]:
    payload = {"type": kind} | ({} if call_id is None else {"call_id": call_id})
    return {"type": "response_item", "timestamp": f"2026-09-21T14:13:{second:06.3f}Z", "payload": payload}


def test_a_call_is_bounded_by_its_request_and_its_answer() -> None:
    found = rollout_bounds([line("function_call", 20.86), line("message", 21), line("function_call_output", 21.41)])
    assert set(found) == {"c"}
    assert found["c"].end - found["c"].start == 550_000
    assert found["c"].start.basis is Basis.CLI_EPOCH


@pytest.mark.parametrize(
    "lines",
    [
        [line("function_call", 1)],
        [line("function_call_output", 1)],
        [line("function_call", 1, None), line("function_call_output", 2, None)],
        [{**line("function_call", 1), "timestamp": "soon"}, line("function_call_output", 2)],
        [{**line("function_call", 1), "timestamp": "2026-09-21T14:13:20"}, line("function_call_output", 2)],
        [{**line("function_call", 1), "type": "event_msg"}, line("function_call_output", 2)],
    ],
)
def test_what_is_not_observed_on_both_sides_bounds_nothing(lines: list[dict[str, object]]) -> None:
    assert rollout_bounds(lines) == {}


def test_no_bucket_changes_and_the_document_shows_both() -> None:
    frame = TurnFrame(started=stamp_of_ms(0), ended=stamp_of_ms(2000))
    record = replay(Harness.CODEX, script_lines(Harness.CODEX, SCRIPT), frame)
    outer = Span(
        start=record.anchor.bridge(stamp_of_ms(860), to=Basis.CLI_EPOCH),
        end=record.anchor.bridge(stamp_of_ms(1410), to=Basis.CLI_EPOCH),
    )
    shown = with_rollout(record, {"c": outer, "other": outer})
    assert replace(shown, calls=record.calls) == record
    document: dict[str, Any] = turn_document(shown)
    (command,) = document["commands"]
    assert command["execution_started_at"].endswith(":21.000000+00:00")
    assert command["rollout_started_at"].endswith(":20.860000+00:00")
    assert record.anchor.offset_us(Stamp(us=outer.end.us, basis=Basis.CLI_EPOCH)) == 1_410_000


def event(item: dict[str, object], second: float) -> dict[str, object]:
    payload = {"type": "item_completed", "item": item}
    return {"type": "event_msg", "timestamp": f"2026-09-21T14:13:{second:06.3f}Z", "payload": payload}


def usage(second: float, given: int, cached: int, output: int) -> dict[str, object]:
    counts = {"input_tokens": given, "cached_input_tokens": cached, "output_tokens": output}
    at = f"2026-09-21T14:13:{second:06.3f}Z"
    return {"type": "token_usage_record", "timestamp": at, "payload": {"usage": counts}}


def write(folder: Path, thread: str, lines: Iterable[dict[str, object]], *, parent: str | None = None) -> None:
    meta = {"id": thread, **({} if parent is None else {"parent_thread_id": parent})}
    rows: list[dict[str, object]] = [{"type": "session_meta", "timestamp": "2026-09-21T14:13:00.000Z", "payload": meta}]
    path = folder / "2026" / f"rollout-{thread}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in [*rows, *lines]), encoding="utf-8")


SPAWN: dict[str, object] = {"id": "c", "tool": "spawn_agent", "receiver_thread_ids": ["child"]}


def turn() -> TurnRecord:
    """Return a turn of the thread "main" that began at 14:13:20."""
    record = replay(
        Harness.CODEX, script_lines(Harness.CODEX, SCRIPT), TurnFrame(started=stamp_of_ms(0), ended=stamp_of_ms(2000))
    )
    return replace(record, summary=replace(record.summary, session_id="main"))


def spawned(folder: Path) -> None:
    """Write a main thread that spawned a child, and the child's work: two calls, one of them left open."""
    write(folder, "main", [line("function_call", 21), line("function_call_output", 21.4), event(SPAWN, 21.4)])
    done = [line("function_call", 21.5, "k1"), line("function_call_output", 21.7, "k1"), usage(21.8, 100, 40, 9)]
    failed = event({"id": "k1", "exit_code": 3}, 21.7)
    write(folder, "child", [*done, failed, line("function_call", 21.9, "c")], parent="main")


def test_the_work_of_a_sub_agent_is_recorded_under_the_call_that_spawned_it_and_counts_nowhere(tmp_path: Path) -> None:
    spawned(tmp_path)
    before = turn()
    after = recovered(before, tmp_path)
    own, first, second = after.calls
    assert own.rollout is not None
    assert (first.call_id, first.parent, first.status, first.duration_us) == ("k1", "c", ToolStatus.ERROR, 200_000)
    assert (second.call_id, second.status, second.completed) == ("c@child", ToolStatus.UNRESOLVED, None)
    (message,) = [message for message in after.messages if message.parent is not None]
    assert (message.parent, message.window, message.raw_us) == ("c", None, None)
    assert message.tokens is not None
    assert (message.tokens.uncached_input, message.tokens.cache_read, message.tokens.output) == (60, 40, 9)
    assert replace(after, calls=before.calls, messages=before.messages) == before


def test_an_earlier_turn_of_the_same_thread_is_not_recorded_again(tmp_path: Path) -> None:
    write(tmp_path, "main", [line("function_call", 1), line("function_call_output", 2), event(SPAWN, 2)])
    write(tmp_path, "child", [line("function_call", 3, "k"), usage(4, 1, 0, 1)], parent="main")
    before = turn()
    assert recovered(before, tmp_path) == before


@pytest.mark.parametrize("content", [b"", b"{", b"[1]\n", b'{"type": "session_meta", "payload": {"id": 7}}\n'])
def test_a_rollout_that_makes_no_sense_adds_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "rollout-x.jsonl").write_bytes(content)
    before = turn()
    assert recovered(before, tmp_path) == before
    assert recovered(before, tmp_path / "absent") == before


STOPS = [(False, EndStatus.MAX_TURNS_EXHAUSTED, 2), (True, EndStatus.STOPPED_EARLY, 0)]


@pytest.mark.parametrize(("early", "status", "recovered_calls"), STOPS)
def test_a_cap_still_recovers_sub_agents_and_an_early_stop_does_not(
    tmp_path: Path, *, early: bool, status: EndStatus, recovered_calls: int
) -> None:
    folder = tmp_path / "sessions"
    now_s = time.time()
    lines = [dict(line) for _, line in script_lines(Harness.CODEX, SCRIPT)]
    for one in lines:
        params = one["params"]
        assert isinstance(params, dict)
        params["threadId"] = "main"
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now_s + 60)) + "Z"
    spawned(folder)
    for path in folder.glob("**/*.jsonl"):
        rows = [{**json.loads(row), "timestamp": stamp} for row in path.read_text("utf-8").splitlines()]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    program = (
        f"import time\nfor line in {[json.dumps(one) for one in lines]!r}: print(line, flush=True)\ntime.sleep(60)"
    )
    driven = drive_turn(
        Harness.CODEX,
        Launch(
            argv=(sys.executable, "-I", "-S", "-c", program),
            env={},
            cwd=tmp_path,
            conversation=Prompt(""),
            rollouts=folder,
        ),
        meter=CapMeter(DEFAULT_CAPS[Harness.CODEX], limit=1),
        wall_us=lambda: round(now_s * 1e6),
        monotonic_ns=time.monotonic_ns,
        watch=lambda event: early and isinstance(event, ToolEnd),
    )
    assert driven.record.status is status
    assert driven.record.summary.tool_calls == 1
    assert sum(call.parent is not None for call in driven.record.calls) == recovered_calls
