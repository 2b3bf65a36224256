"""The only place that reads an attempt's record as turn metrics: one turn per generation of the main thread.

A turn is what the format means by it: one answer of the model and the tool calls in it. It begins where the one before
ended, the first where the harness was started, so its first chunk is waited for by the same measure on every harness.
The format has no room for a number that nobody measured. So a generation without a known cost has no usage, one without
bounds has no turn, and a tool call without a measured duration is left out; `Generations.left_out` counts them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from harness.clock import US_PER_MS, Stamp
from harness.kinds import EndStatus, ToolStatus
from harness.prices import Prices
from harness.record import Message, ToolCall, TurnRecord
from harness.task import TaskRecord
from harness.tokens import TokenBuckets, add_buckets
from harness.turn_rules import UNKNOWN

_STOPS = {
    "stop": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "STOP": "stop",
    "length": "length",
    "max_tokens": "length",
    "MAX_TOKENS": "length",
    "tool_use": "toolUse",
    "toolUse": "toolUse",
    "tool-calls": "toolUse",
    "tool_calls": "toolUse",
    "error": "error",
    "aborted": "aborted",
}
_ENDS = {EndStatus.CRASHED: "error", EndStatus.TIMEOUT: "aborted"}
_USAGE = ("input", "output", "cacheRead", "cacheWrite")
_CLASSES = {ToolStatus.PERMISSION_DENIED: "permission", ToolStatus.UNRESOLVED: "aborted"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Generations:
    """An attempt as turn metrics.

    Attributes:
        turns: What `harness.turn_metrics.TurnRecorder.record` takes, in order.
        without_usage: Turns that have no usage because their tokens or their cost are not known.
        left_out: Generations and tool calls that have no place in the format, since they were not measured.
    """

    turns: tuple[Mapping[str, object], ...]
    without_usage: int
    left_out: int


def generations(task: TaskRecord, prices: Prices | None) -> Generations:
    """Return an attempt's generations as turn metrics.

    Args:
        task: The attempt.
        prices: The declared prices; None means that no generation's cost is known.
    """
    read = [_Read(task, turn, prices=prices) for turn in task.turns]
    counted: Counter[object] = Counter()
    turns: list[Mapping[str, object]] = []
    for one in read:
        for turn in one.turns():
            turns.append({**turn, "turnIndex": counted[turn["sessionId"]]})
            counted[turn["sessionId"]] += 1
    return Generations(
        turns=tuple(turns),
        without_usage=sum(turn.get("usage") is None for turn in turns),
        left_out=sum(one.left_out for one in read),
    )


class _Read:
    """A turn of the harness while its generations are read."""

    def __init__(self, task: TaskRecord, turn: TurnRecord, *, prices: Prices | None) -> None:
        self.left_out = 0
        self._task = task
        self._turn = turn
        self._prices = prices
        self._calls = {call.call_id: call for call in turn.calls if call.parent is None}
        self._ended_us = None if turn.ended is None else self._us(turn.ended)
        self._reached_us = 0 if turn.started is None else self._us(turn.started)

    def turns(self) -> Iterator[Mapping[str, object]]:
        """Yield each generation that has bounds, and what followed the last one when the turn broke off."""
        main = [message for message in self._turn.messages if message.parent is None]
        # One generation may come in several messages, which share its id.
        for _, group in groupby(main, key=lambda message: message.message_id or message.sequence):
            yield from self._generation(tuple(group))
        yield from self._broken_off()

    def _generation(self, group: tuple[Message, ...]) -> Iterator[Mapping[str, object]]:
        calls = [self._calls.pop(name) for message in group for name in message.tool_ids if name in self._calls]
        bounds = [message.window for message in group if message.window is not None]
        if not bounds:
            self.left_out += 1 + len(calls)
            return
        opens_us = min(self._us(window.start) for window in bounds)
        first_us = _sum(opens_us, group[0].first_delta_us)
        ends = [self._us(window.close) for window in bounds]
        # Output that came while an earlier tool still ran: the answer did not wait for its end.
        start_us = min(self._reached_us, ends[0] if first_us is None else first_us)
        ends += [self._us(call.completed) for call in calls if call.completed is not None]
        stops = [message.stop_reason for message in group if message.stop_reason is not None]
        yield from self._turn_of(
            start_us,
            max(ends),
            calls,
            timeToFirstChunkMs=None if first_us is None else (first_us - start_us) / US_PER_MS,
            usage=self._usage([message.tokens for message in group if message.tokens is not None]),
            stopReason=_STOPS.get(stops[-1]) if stops else None,
        )

    def _broken_off(self) -> Iterator[Mapping[str, object]]:
        calls = list(self._calls.values())
        reason = None if self._turn.status is None else _ENDS.get(self._turn.status)
        if reason is None or self._ended_us is None:
            self.left_out += len(calls)
            return
        yield from self._turn_of(min(self._reached_us, self._ended_us), self._ended_us, calls, stopReason=reason)

    def _turn_of(
        self, start_us: int, end_us: int, calls: Sequence[ToolCall], **measured: object
    ) -> Iterator[Mapping[str, object]]:
        """Yield a turn; none where the harness named no session, for nothing else joins it to its attempt."""
        summary, anchor = self._turn.summary, self._turn.anchor
        self._reached_us = max(self._reached_us, end_us)
        if summary.session_id is None:
            self.left_out += 1 + len(calls)
            return
        yield {
            "sessionId": summary.session_id,
            "model": summary.model or self._task.model,
            "startedAtEpochMs": (anchor.wall_us + start_us) / US_PER_MS,
            "endedAtEpochMs": (anchor.wall_us + end_us) / US_PER_MS,
            **measured,
            "toolCalls": [found for call in calls if (found := self._call(call)) is not None],
            "runtimeProvenance": {"selectedModel": self._task.model, "responseModel": summary.model},
        }

    def _call(self, call: ToolCall) -> Mapping[str, object] | None:
        duration_us = call.duration_us
        if duration_us is None and call.started is not None and call.status is ToolStatus.UNRESOLVED:
            # Nothing ended it: it ran at least until the turn was over.
            duration_us = None if self._ended_us is None else max(self._ended_us - self._us(call.started), 0)
        if duration_us is None:
            self.left_out += 1
            return None
        failed = call.status is not ToolStatus.OK
        return {
            "name": call.name,
            "durationMs": duration_us / US_PER_MS,
            "ok": not failed,
            "errorClass": _CLASSES.get(call.status, UNKNOWN) if failed else None,
        }

    def _usage(self, parts: Sequence[TokenBuckets]) -> Mapping[str, object] | None:
        """Return a generation's tokens and cost; None where one of them is not known."""
        tokens = add_buckets(parts)
        cost_usd = None if self._prices is None else self._prices.cost_usd(tokens)
        if tokens is None or cost_usd is None:
            return None
        counts = (tokens.uncached_input, tokens.output, tokens.cache_read, tokens.cache_write)
        if None in counts:
            return None
        return {**dict(zip(_USAGE, counts, strict=True)), "costUsd": cost_usd}

    def _us(self, stamp: Stamp) -> int:
        return self._turn.anchor.offset_us(stamp)


def _sum(start_us: int, length_us: int | None) -> int | None:
    return None if length_us is None else start_us + length_us
