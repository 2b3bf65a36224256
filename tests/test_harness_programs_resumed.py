"""A dialogue's later turn counts its own tokens only, whatever its program says of the turns before it."""

from collections.abc import Sequence

from harness.clock import stamp_of_ms
from harness.kinds import EndStatus, Harness
from harness.record import Summary
from harness.replay import TurnFrame, replay

Line = dict[str, object]


def summary(harness: Harness, lines: Sequence[Line], *, turn: int) -> Summary:
    """Return what a reducer knows after lines that come 100 ms apart."""
    stamped = [(stamp_of_ms(100 * place), line) for place, line in enumerate(lines, start=1)]
    frame = TurnFrame(started=stamp_of_ms(0), ended=stamp_of_ms(100 * len(lines) + 100))
    return replay(harness, stamped, frame, status=EndStatus.COMPLETED, turn=turn).summary


def result(*, usage: int, model_usage: int) -> Line:
    """Return claude-code's last line with two figures for the fresh input."""
    return {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "total_cost_usd": 0.02,
        "usage": {"input_tokens": usage, "output_tokens": 40},
        "modelUsage": {"m": {"inputTokens": model_usage, "outputTokens": 70}},
    }


def test_claude_codes_totals_per_model_run_on_over_a_resumed_session() -> None:
    later = summary(Harness.CLAUDE_CODE, [result(usage=4000, model_usage=7000)], turn=2)
    assert later.usage is not None
    assert (later.usage.uncached_input, later.usage.output) == (4000, 40)
    assert later.cost_usd is None


def test_claude_codes_first_turn_keeps_the_totals_per_model_and_its_cost() -> None:
    first = summary(Harness.CLAUDE_CODE, [result(usage=4000, model_usage=7000)], turn=1)
    assert first.usage is not None
    assert (first.usage.uncached_input, first.cost_usd) == (7000, 0.02)


def usage(turn: str, *, last: int, total: int) -> Line:
    """Return codex's token usage after a call."""
    figures = {
        name: {"inputTokens": n, "cachedInputTokens": 0, "outputTokens": n // 100}
        for name, n in (("last", last), ("total", total))
    }
    params = {"threadId": "t", "turnId": turn, "tokenUsage": figures}
    return {"method": "thread/tokenUsage/updated", "params": params, "emittedAtMs": 1000}


def test_a_resumed_codex_thread_says_first_where_it_stood_and_that_is_no_call() -> None:
    started: Line = {"method": "turn/started", "params": {"threadId": "t"}, "emittedAtMs": 1000}
    lines = [usage("old", last=2000, total=3000), started, usage("new", last=4000, total=7000)]
    later = summary(Harness.CODEX, lines, turn=2)
    assert later.usage is not None
    assert (later.usage.uncached_input, later.usage.output, later.model_calls) == (4000, 40, 1)


def test_antigravitys_conversation_is_known_by_its_id() -> None:
    line: Line = {"type": "UNKNOWN", "source": "SYSTEM", "_conversation": "c-1"}
    assert summary(Harness.ANTIGRAVITY, [line], turn=1).session_id == "c-1"
