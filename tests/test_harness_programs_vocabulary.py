"""The drift of a program's vocabulary: what was recorded, what a line holds, and what a reader is told."""

from pathlib import Path

import pytest

from harness.clock import stamp_of_ms
from harness.kinds import Harness
from harness.launch import Prompt
from harness.programs.vocabulary import KINDS_OF, RECORDED, drift, drift_findings
from harness.record import Summary, TurnRecord
from harness.reducers import make_reducer
from harness.replay import read_stream
from harness.scripts import SCRIPT_ANCHOR
from harness.testing.live.turn import _Heard

STREAMS = Path(__file__).parent / "fixtures" / "streams"
Line = dict[str, object]
LINES: list[tuple[Harness, Line, tuple[str, ...]]] = [
    (Harness.CLAUDE_CODE, {"type": "system", "subtype": "init"}, ("system/init",)),
    (Harness.CLAUDE_CODE, {"type": "result", "subtype": "success"}, ("result/success",)),
    (
        Harness.CLAUDE_CODE,
        {"type": "stream_event", "event": {"type": "content_block_start", "content_block": {"type": "text"}}},
        ("stream_event/content_block_start/text",),
    ),
    (
        Harness.CLAUDE_CODE,
        {"type": "assistant", "message": {"content": [{"type": "text"}, {"type": "tool_use"}]}},
        ("assistant/text", "assistant/tool_use"),
    ),
    (Harness.CODEX, {"id": 1, "result": {}}, ()),
    (Harness.CODEX, {"method": "item/started", "params": {"item": {"type": "reasoning"}}}, ("item/started/reasoning",)),
    (
        Harness.CODEX,
        {"method": "turn/completed", "params": {"turn": {"status": "failed"}}},
        ("turn/completed/failed",),
    ),
    (Harness.OPENCODE, {"type": "tool_use", "part": {"state": {"status": "error"}}}, ("tool_use/error",)),
    (Harness.OPENCODE, {"type": "step_finish", "part": {"reason": "stop"}}, ("step_finish/stop",)),
    (Harness.PI, {"type": "message_end", "message": {"role": "user"}}, ("message_end/user",)),
    (Harness.PI, {"type": "turn_end", "message": {"role": "assistant"}}, ("turn_end",)),
    (
        Harness.PI,
        {"type": "message_update", "assistantMessageEvent": {"type": "text_delta"}},
        ("message_update/text_delta",),
    ),
    (Harness.ANTIGRAVITY, {"type": "TOOL_CALL", "source": "MODEL", "status": "DONE"}, ("TOOL_CALL/MODEL",)),
]


@pytest.mark.parametrize(("harness", "line", "expected"), LINES)
def test_a_line_holds_its_outer_and_inner_kinds_and_each_was_recorded(
    harness: Harness, line: Line, expected: tuple[str, ...]
) -> None:
    assert KINDS_OF[harness](line) == expected
    assert drift(harness, expected) == ()


@pytest.mark.parametrize("harness", Harness)
def test_what_was_never_recorded_drifts(harness: Harness) -> None:
    assert drift(harness, [*RECORDED[harness], "shiny/new"]) == ("shiny/new",)


@pytest.mark.parametrize("harness", Harness)
def test_a_scripted_stream_shares_its_kinds_with_the_recorded_ones(harness: Harness) -> None:
    lines = [line for _, line in read_stream(STREAMS / f"{harness.value.replace('-', '_')}.jsonl")]
    kinds = {kind for line in lines for kind in KINDS_OF[harness](line)}
    assert kinds & RECORDED[harness]


@pytest.mark.parametrize("harness", Harness)
def test_each_recorded_kind_is_one_that_the_reducer_knows(harness: Harness) -> None:
    key = "method" if harness is Harness.CODEX else "type"
    reducer = make_reducer(harness, entry=stamp_of_ms(0), turn=1, anchor=SCRIPT_ANCHOR)
    for kind in sorted(RECORDED[harness]):
        reducer.feed(stamp_of_ms(1), {key: kind if harness is Harness.CODEX else kind.partition("/")[0]})
    assert reducer.summary().unknown == ()


def test_a_finding_names_unknown_kinds_once_and_repeats_no_prose() -> None:
    turn = TurnRecord(
        harness=Harness.PI,
        iteration=1,
        anchor=SCRIPT_ANCHOR,
        summary=Summary(unknown=("new_kind", "a sentence of a program")),
    )
    (finding,) = drift_findings((turn, turn))
    assert finding == (
        "event kinds outside the known vocabulary: (no plain word), new_kind; `evenhand doctor` tells the version"
    )
    assert drift_findings(()) == ()


def test_the_live_tier_hears_the_kinds_of_every_line_and_says_what_the_program_would_be_told() -> None:
    heard = _Heard(Harness.PI, Prompt("Do it."))
    assert heard.opening() == Prompt("Do it.").opening()
    assert heard.answer({"type": "shiny"}) == Prompt("").answer({})
    assert heard.interrupt() == Prompt("").interrupt()
    assert drift(Harness.PI, heard.kinds) == ("shiny",)
