"""An attempt as turn metrics: a turn per generation, tiling the harness's turn, and never a number nobody measured."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from harness.clock import Anchor, Stamp
from harness.generations import generations
from harness.kinds import EndStatus, Harness, ToolStatus
from harness.prices import Prices
from harness.record import Message, Summary, ToolCall, TurnRecord, Window
from harness.task import TaskRecord
from harness.tokens import TokenBuckets
from harness.turn_projection import turn_record

LIST = Prices(input=1.0, output=10.0, cache_read=0.0, cache_write=0.0)
TOKENS = TokenBuckets(uncached_input=1000, output=100, cache_read=50, cache_write=0)
WALL_US = 1_796_000_000_000_000


def at(ms: int) -> Stamp:
    return Stamp(us=ms * 1000)


def message(sequence: int, start: int, close: int, **more: object) -> Message:
    window = Window(start=at(start), close=at(close))
    given = {"message_id": f"m{sequence}", "window": window, "raw_us": window.raw_us(), "tokens": TOKENS, **more}
    return Message(sequence=sequence, **given)  # type: ignore[arg-type]  # the fields are those of a message


def call(name: str, start: int, end: int | None, *, status: ToolStatus = ToolStatus.OK) -> ToolCall:
    completed = None if end is None else at(end)
    duration_us = None if end is None else (end - start) * 1000
    return ToolCall(
        call_id=name,
        name="bash",
        sequence=0,
        status=status,
        started=at(start),
        completed=completed,
        duration_us=duration_us,
    )


def task(messages: Sequence[Message], calls: Sequence[ToolCall] = (), **more: object) -> TaskRecord:
    turn = TurnRecord(
        harness=Harness.PI,
        iteration=1,
        anchor=Anchor(wall_us=WALL_US),
        status=EndStatus.COMPLETED,
        started=at(0),
        ended=at(2000),
        messages=tuple(messages),
        calls=tuple(calls),
        summary=Summary(session_id="s", model="answered"),
    )
    turn = replace(turn, **more)  # type: ignore[arg-type]  # the fields are those of a turn
    return TaskRecord(
        task_id="t",
        arm="a",
        harness=Harness.PI,
        model="asked",
        started_wall_us=WALL_US,
        final_status="x",
        turns=(turn,),
    )


def lines(task: TaskRecord, prices: Prices | None = LIST) -> list[Mapping[str, object]]:
    """Return the records that a recorder would write; what the format refuses raises."""
    return [turn_record(turn) for turn in generations(task, prices).turns]


def test_each_turn_begins_where_the_one_before_ended_and_waits_for_its_first_chunk() -> None:
    first = message(0, 300, 500, first_delta_us=50_000, tool_ids=("c",), stop_reason="tool_use")
    second = message(1, 500, 1500, first_delta_us=700_000, stop_reason="end_turn")
    found = lines(task([first, second], [call("c", 450, 900)]))
    starts = [turn["startedAtEpochMs"] for turn in found]
    assert starts == [WALL_US // 1000, WALL_US // 1000 + 900]
    assert [turn["durationMs"] for turn in found] == [900, 600]
    assert [turn["timeToFirstChunkMs"] for turn in found] == [350, 300]
    assert [turn["stopReason"] for turn in found] == ["toolUse", "stop"]
    assert [turn["turnIndex"] for turn in found] == [0, 1]
    assert found[0]["toolCalls"] == [{"name": "bash", "durationMs": 450, "ok": True}]


def test_messages_that_share_an_id_are_one_generation() -> None:
    parts = [message(0, 0, 400, message_id="m"), message(1, 0, 400, message_id="m")]
    (turn,) = lines(task(parts))
    usage = turn["usage"]
    assert isinstance(usage, dict)
    assert (usage["input"], usage["output"], usage["cacheRead"]) == (2000, 200, 100)
    assert usage["costUsd"] == pytest.approx((2000 * 1.0 + 200 * 10.0) / 1e6)


def test_without_a_known_cost_there_is_no_usage_rather_than_a_zero() -> None:
    found = generations(task([message(0, 0, 400)]), None)
    assert (found.without_usage, found.turns[0]["usage"]) == (1, None)
    unknown = message(0, 0, 400, tokens=TokenBuckets(uncached_input=1, output=1, cache_read=0))
    assert "usage" not in lines(task([unknown]))[0]


def test_what_a_sub_agent_did_is_no_turn_of_the_main_thread() -> None:
    theirs = [message(1, 0, 400, parent="c"), message(0, 400, 800)]
    assert len(lines(task(theirs, [replace(call("d", 1, 2), parent="c")]))) == 1


def test_a_generation_without_bounds_and_a_call_without_duration_are_counted_and_left_out() -> None:
    unbounded = message(0, 0, 1, window=None, tool_ids=("c",))
    silent = replace(call("e", 1, 2), duration_us=None)
    found = generations(task([unbounded, message(1, 5, 9, tool_ids=("e",))], [call("c", 0, 1), silent]), LIST)
    assert (len(found.turns), found.left_out) == (1, 3)
    assert found.turns[0]["toolCalls"] == []


@pytest.mark.parametrize(("status", "reason"), [(EndStatus.CRASHED, "error"), (EndStatus.TIMEOUT, "aborted")])
def test_what_followed_the_last_generation_of_a_broken_turn_is_a_turn_of_its_own(
    status: EndStatus, reason: str
) -> None:
    hanging = call("c", 1200, None, status=ToolStatus.UNRESOLVED)
    found = lines(task([message(0, 0, 1000)], [hanging], status=status))
    assert [turn.get("stopReason") for turn in found] == [None, reason]
    assert (found[1]["durationMs"], "usage" in found[1]) == (1000, False)
    assert found[1]["toolCalls"] == [{"name": "bash", "durationMs": 800, "ok": False, "errorClass": "aborted"}]


def test_a_harness_that_named_no_session_has_no_turns() -> None:
    found = generations(task([message(0, 0, 400)], summary=Summary(model="m")), LIST)
    assert (found.turns, found.left_out) == ((), 1)


def test_sessions_that_go_on_count_on_and_a_new_one_begins_at_zero() -> None:
    one = task([message(0, 0, 400)])
    again = replace(one.turns[0], iteration=2)
    other = replace(one.turns[0], iteration=3, summary=Summary(session_id="other"))
    found = lines(replace(one, turns=(*one.turns, again, other)))
    assert [(turn["sessionId"], turn["turnIndex"]) for turn in found] == [("s", 0), ("s", 1), ("other", 0)]


def test_selected_and_response_model_are_the_provenance() -> None:
    provenance = lines(task([message(0, 0, 400)]))[0]["runtimeProvenance"]
    assert isinstance(provenance, dict)
    assert (provenance["selectedModel"], provenance["responseModel"]) == ("asked", "answered")
