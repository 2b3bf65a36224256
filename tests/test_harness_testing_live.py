"""What the live tier calls wrong: each truth, broken once, is named."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.clock import Anchor, stamp_of_ms
from harness.kinds import EndStatus, Harness, ToolStatus
from harness.launch import WireApi
from harness.record import Summary, ToolCall, TurnRecord
from harness.testing.live import __main__ as tier
from harness.testing.live.__main__ import Cell
from harness.testing.live.checks import Seen, faults, late, wire
from harness.testing.live.scenarios import SCENARIOS, Scenario
from harness.testing.live.turn import LiveTurn, union_us
from harness.testing.provider import Exchange
from harness.tokens import TokenBuckets

TOKENS = TokenBuckets(uncached_input=10, cache_write=0, cache_read=5, output=7)
CALL = ToolCall(
    call_id="c", name="bash", sequence=0, status=ToolStatus.OK, started=stamp_of_ms(100), completed=stamp_of_ms(1100)
)
FAILING = next(row for row in SCENARIOS if row.name == "failing")
ONE_TOOL = replace(FAILING, failed_tools=0)
SPANS = ((1_000_000, 2_000_000),)


def turn(
    *, survivors: int = 0, terminal_events: int = 1, overshoot_s: float | None = None, **record: object
) -> LiveTurn:
    """Return a turn of two seconds whose buckets add up, changed where told."""
    sound = TurnRecord(
        harness=Harness.PI,
        iteration=1,
        anchor=Anchor(wall_us=0),
        status=EndStatus.COMPLETED,
        started=stamp_of_ms(0),
        ended=stamp_of_ms(2000),
        calls=(CALL,),
        head_us=1_000_000,
        tool_union_us=1_000_000,
        tail_us=0,
        summary=Summary(usage=TOKENS, recognised=9),
    )
    return LiveTurn(
        record=replace(sound, **record),  # type: ignore[arg-type]  # the fields are those of the record
        terminal_events=terminal_events,
        exit_code=0,
        overshoot_s=overshoot_s,
        survivors=survivors,
        crash=None,
        wall_us=(0, 2_000_000),
    )


def asked(*, model: str = "m", limit: int | None = 9) -> Exchange:
    """Return one served request."""
    return Exchange(
        index=0,
        at_ns=0,
        api=WireApi.OPENAI_CHAT,
        model=model,
        output_limit=limit,
        side=False,
        position=0,
        outcome="served",
        billed=TOKENS,
        body_bytes=1,
    )


def seen(found: LiveTurn, *requests: Exchange) -> Seen:
    """Return what a turn left, with one sound request unless told otherwise."""
    return Seen(turn=found, requests=requests or (asked(),), spans=SPANS, model="m", output_limit=9)


def test_a_sound_turn_has_no_fault() -> None:
    assert faults(Harness.PI, ONE_TOOL, seen(turn())) == ()


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (turn(status=EndStatus.CRASHED), "ended crashed, expected completed"),
        (turn(terminal_events=2), "2 terminal records, expected 1"),
        (turn(survivors=1), "1 processes survived"),
        (turn(overshoot_s=9.0), "ended 9.0 s after its limit"),
        (turn(tail_us=50_000), "residual -2.5%"),
        (turn(head_us=950_000), "residual +2.5%"),
        (turn(tool_union_us=900_000, tail_us=100_000), "tool union off by -0.10 s"),
        (turn(tool_union_us=2_600_000, tail_us=-1_600_000), "tool union off by +1.60 s"),
        (turn(tool_union_us=None, tail_us=1_000_000), "no tool span"),
        (turn(calls=()), "0 tool calls, expected 1"),
        (turn(calls=(replace(CALL, status=ToolStatus.ERROR),)), "1 failed tool calls, expected 0"),
        (turn(summary=Summary(usage=replace(TOKENS, output=8), recognised=9)), "output 8, expected 7"),
        (turn(summary=Summary(usage=None, recognised=9)), "no token totals"),
        (turn(summary=Summary(usage=TOKENS, recognised=9, unknown=("new",))), "unknown kinds: new"),
        (turn(summary=Summary(usage=TOKENS)), "no known line"),
    ],
)
def test_each_broken_truth_is_named(found: LiveTurn, words: str) -> None:
    told = faults(Harness.PI, ONE_TOOL, seen(found))
    assert len(told) == 1
    assert words in told[0]


def test_only_what_a_busy_machine_can_cause_is_late() -> None:
    slow = turn(tool_union_us=2_600_000, tail_us=-1_600_000, overshoot_s=9.0)
    assert late(Harness.PI, seen(turn())) == ()
    assert faults(Harness.PI, ONE_TOOL, seen(slow)) == late(Harness.PI, seen(slow))
    assert len(late(Harness.PI, seen(slow))) == 2
    # A tool of which time was lost is no lateness: a line is never early.
    assert late(Harness.PI, seen(turn(tool_union_us=900_000, tail_us=100_000))) == ()


def judged(found: LiveTurn) -> Cell:
    told = seen(found)
    return Cell(
        harness=Harness.PI,
        scenario=ONE_TOOL,
        seen=told,
        faults=faults(Harness.PI, ONE_TOOL, told),
        late=late(Harness.PI, told),
        strange=(),
    )


@pytest.mark.parametrize(
    ("found", "times", "holds"),
    [
        ([turn(overshoot_s=9.0), turn()], 2, True),
        ([turn(overshoot_s=9.0), turn(overshoot_s=9.0)], 2, False),
        ([turn(overshoot_s=9.0, survivors=1)], 1, False),
        ([turn(survivors=1)], 1, False),
        ([turn()], 1, True),
    ],
)
def test_a_cell_that_was_only_late_is_played_once_more_and_both_are_told(
    monkeypatch: pytest.MonkeyPatch, found: list[LiveTurn], times: int, holds: bool
) -> None:
    played = []

    def play(*_: object, root: Path, cache: Path) -> Cell:
        played.append(root)
        return judged(found[len(played) - 1])

    monkeypatch.setattr(tier, "play", play)
    cells = tier.run([Harness.PI], [ONE_TOOL], cache=Path("nowhere"))
    assert len(played) == times
    assert len(set(played)) == times
    assert any(cell.faults for cell in cells) is not holds
    told = tier.report(cells, open_network=None, seconds=1)
    assert ("played again alone, first: ended 9.0 s after its limit" in told) is (times == 2)


def test_another_model_on_the_wire_is_a_fault_and_another_limit_is_configuration_only() -> None:
    assert faults(Harness.PI, ONE_TOOL, seen(turn(), asked(model="small"))) == ("another model on the wire than 'm'",)
    assert wire(seen(turn())) == "wire-verified"
    assert wire(seen(turn(), asked(limit=None))) == "configuration-only"


def test_more_answers_than_the_cap_and_one_under_way_are_a_fault() -> None:
    capped = Scenario(name="cap", script=FAILING.script, cap=3)
    told = [faults(Harness.PI, capped, seen(turn(), *(asked() for _ in range(n)))) for n in (2, 3, 4, 5)]
    assert [len(row) for row in told] == [1, 0, 0, 1]


def test_the_union_of_overlapping_spans_counts_no_time_twice() -> None:
    assert union_us(((0, 10), (5, 12), (20, 21))) == 13
    assert union_us(()) == 0
