"""The only place that reads codex's stream (`codex app-server`, one JSON-RPC notification a line).

Items carry the coding agent's own epoch stamps, so windows and tool spans share that clock. Blocks gather until the
thread's token usage comes; the window runs from the mark, or from the first item's start, to the last item's
completion, and is divided into a thinking and an action message by their share of the output tokens. The echoed user
message is not output. Tool starts are stamped about 0.14 s late by codex itself; the record is flagged.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from harness.clock import US_PER_MS, Anchor, Basis, Stamp
from harness.events import DeltaKind, Event, Note, NoteKind, TextChunk, TurnEnd, TurnStart
from harness.kinds import Quality, StreamEnd, ToolStatus
from harness.record import Exact, Message, Summary, Window
from harness.reducers.fields import Line, amount, epoch, filled, flag, part, text, whole
from harness.reducers.ledger import Ledger
from harness.reducers.protocol import Reducer
from harness.reducers.skills import used_skills
from harness.tokens import TokenBuckets
from harness.windows import close_window

META = frozenset({"userMessage", "hookPrompt", "contextCompaction"})
CONTENT = frozenset({"agentMessage", "plan"})
DELTAS = {
    "item/agentMessage/delta": DeltaKind.TEXT,
    "item/plan/delta": DeltaKind.TEXT,
    "item/reasoning/textDelta": DeltaKind.THINKING,
    "item/reasoning/summaryTextDelta": DeltaKind.THINKING,
}
# Prefixes of notifications that say nothing about time or tokens.
QUIET = (
    *("item/", "thread/", "turn/", "account/", "mcpServer/", "remoteControl/"),
    *("configWarning", "warning", "deprecationNotice", "rawResponse"),
)
# Kinds of failure that are codex's own and not its provider's.
OWN_FAULTS = frozenset({"sandboxError", "threadRollbackFailed"})
STATUSES = {"failed": ToolStatus.ERROR, "declined": ToolStatus.PERMISSION_DENIED}


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemTiming:
    """When an item ran: both stamps or neither.

    Attributes:
        started: First instant, or None.
        completed: Last instant, or None.
        duration_us: Their difference; without them the stream's own duration when it is above 0, which means reported.
    """

    started: Stamp | None
    completed: Stamp | None
    duration_us: int | None


def item_timing(*, started: Stamp | None, completed: Stamp | None, reported_ms: float | None) -> ItemTiming:
    """Return an item's bounds; one stamp alone bounds nothing, and a reported 0 means that nobody reported."""
    if started is not None and completed is not None:
        return ItemTiming(started=started, completed=completed, duration_us=max(0, completed - started))
    duration = round(reported_ms * US_PER_MS) if reported_ms else None
    return ItemTiming(started=None, completed=None, duration_us=duration)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    thinking: bool
    silent: bool
    started: Stamp | None
    completed: Stamp | None
    call_id: str | None = None


class Codex:
    """Reduces one turn of a codex thread."""

    def __init__(self, *, entry: Stamp, turn: int, anchor: Anchor) -> None:  # noqa: ARG002  # every reducer is made alike
        self._anchor = anchor
        self._turn = turn
        self._ledger = Ledger()
        self._mark: Stamp | None = None
        self._starts: dict[str, Stamp | None] = {}
        self._blocks: list[_Block] = []
        self._speaking = False
        self._begun = False
        self._generations = 0
        self._written = 0
        self._thread: str | None = None
        self._before: TokenBuckets | None = None
        self._total: TokenBuckets | None = None
        self._end = StreamEnd.OPEN

    def feed(self, at: Stamp, line: Line) -> tuple[Event, ...]:
        """Take one notification; one of another thread (a sub-agent's) makes no event."""
        method, params = filled(line, "method"), part(line, "params")
        handler = {
            "item/started": self._on_started,
            "item/completed": self._on_completed,
            "thread/tokenUsage/updated": self._on_usage,
            "turn/completed": self._on_turn_completed,
            "error": self._on_error,
        }.get(method)
        if handler is None and method not in DELTAS and not method.startswith(QUIET):
            # A response to a request has an id and no method; it is protocol, not vocabulary.
            if "id" not in line:
                self._ledger.strange(method)
            return ()
        self._ledger.recognised += 1
        if self._foreign(params):
            return ()
        self._begun = self._begun or method == "turn/started" or method.startswith("item/")
        if method in DELTAS:
            return tuple(self._on_delta(self._when(at, line), DELTAS[method], params))
        return () if handler is None else tuple(handler(self._when(at, line), params))

    def close(self, at: Stamp) -> tuple[Event, ...]:  # noqa: ARG002  # a window closes at its last item, not here
        """Flush blocks whose usage never came, and sweep the calls that nothing ended."""
        return (*self._flush(None), *self._ledger.sweep())

    def summary(self) -> Summary:
        """Return what is known so far."""
        return Summary(
            end=self._end,
            model_calls=self._generations,
            tool_calls=self._ledger.resolved(),
            usage=_less(self._total, self._before),
            session_id=self._thread,
            recognised=self._ledger.recognised,
            unknown=self._ledger.first_unknown(),
            provider_retries=self._ledger.retries,
            quality=frozenset(self._ledger.quality),
            provider_status=self._ledger.provider.status,
            provider_words=self._ledger.provider.words,
        )

    def _foreign(self, params: Line) -> bool:
        thread = text(params, "threadId")
        if self._thread is None:
            self._thread = thread
        return thread is not None and thread != self._thread

    def _when(self, at: Stamp, line: Line) -> Stamp:
        """Return the envelope's own stamp; without one the arrival, bridged and flagged."""
        own = epoch(line, "emittedAtMs")
        if own is not None:
            return own
        self._ledger.quality.add(Quality.ARRIVAL_BRIDGED)
        return self._anchor.bridge(at, to=Basis.CLI_EPOCH)

    def _on_delta(self, now: Stamp, kind: DeltaKind, params: Line) -> Iterable[Event]:
        return [*self._speak(now), TextChunk(at=now, kind=kind, text=filled(params, "delta"))]

    def _on_started(self, now: Stamp, params: Line) -> Iterable[Event]:
        item = part(params, "item")
        kind, item_id = filled(item, "type"), text(item, "id")
        if kind in META or item_id is None:
            return ()
        began = epoch(params, "startedAtMs")
        self._starts[item_id] = began
        events = self._speak(now if began is None else began)
        if _is_tool(kind):
            self._ledger.quality.add(Quality.START_LATE)
            events += self._ledger.open_call(item_id, kind, started=began, skills=_skills(item))
        return events

    def _on_completed(self, now: Stamp, params: Line) -> Iterable[Event]:
        item = part(params, "item")
        kind, item_id = filled(item, "type"), text(item, "id")
        if kind in META or item_id is None:
            return ()
        began = self._starts.get(item_id)
        began = epoch(params, "startedAtMs") if began is None else began
        over = epoch(params, "completedAtMs")
        tool = _is_tool(kind)
        self._blocks.append(
            _Block(
                thinking=kind == "reasoning",
                silent=kind == "reasoning" and not _has_text(item),
                started=began,
                completed=over,
                call_id=item_id if tool else None,
            )
        )
        events = self._speak(now)
        if tool:
            timing = item_timing(started=began, completed=over, reported_ms=amount(item, "durationMs"))
            events += self._ledger.open_call(item_id, kind, started=timing.started, skills=_skills(item))
            events += self._ledger.end_call(
                item_id,
                _status(item),
                started=timing.started,
                completed=timing.completed,
                duration_us=timing.duration_us,
            )
        return events

    def _on_usage(self, now: Stamp, params: Line) -> Iterable[Event]:  # noqa: ARG002
        usage = part(params, "tokenUsage")
        last, total = _buckets(part(usage, "last")), _buckets(part(usage, "total"))
        if not self._begun:
            # A resumed thread says first where it stood; that is no call of this turn.
            self._before = total
            return []
        if self._before is None:
            # A thread's total runs on over turns: before this turn it was the total without the turn's first call.
            self._before = _less(total, last)
        self._total = total if total is not None else self._total
        self._generations += 1
        return self._flush(last)

    def _flush(self, tokens: TokenBuckets | None) -> list[Event]:
        reasoned = None if tokens is None else tokens.reasoning
        blocks = [block for block in self._blocks if not (block.silent and not reasoned)]
        self._blocks, self._speaking = [], False
        if not blocks:
            return []
        window = self._window(blocks)
        if window is not None:
            self._mark = window.close
        message_id = f"codex-{self._turn}-msg-{self._written}"
        self._written += 1
        groups = [
            group for group in ([b for b in blocks if b.thinking], [b for b in blocks if not b.thinking]) if group
        ]
        raws = _divide(window, tokens, len(groups))
        shares = _token_shares(tokens, len(groups))
        messages = [
            Message(
                sequence=self._ledger.next_message(),
                message_id=message_id,
                window=window,
                raw_us=raw,
                tool_ids=tuple(block.call_id for block in group if block.call_id is not None),
                tokens=share,
            )
            for group, raw, share in zip(groups, raws, shares, strict=True)
        ]
        return [TurnEnd(messages=tuple(messages))]

    def _window(self, blocks: list[_Block]) -> Window | None:
        starts = [block.started for block in blocks if block.started is not None]
        ends = [block.completed for block in blocks if block.completed is not None]
        if not ends or (not starts and self._mark is None):
            return None
        first = min(starts, default=None)
        mark = self._mark if self._mark is not None else min(starts)
        return close_window(mark=mark, now=max(ends), item_start=first)

    def _on_turn_completed(self, now: Stamp, params: Line) -> Iterable[Event]:  # noqa: ARG002
        status = filled(part(params, "turn"), "status")
        self._end = {"completed": StreamEnd.CLEAN, "failed": StreamEnd.FAILED}.get(status, StreamEnd.OPEN)
        if status == "failed":
            self._refused(part(part(params, "turn"), "error"))
        return ()

    def _on_error(self, now: Stamp, params: Line) -> Iterable[Event]:
        self._refused(part(params, "error"))
        if not flag(params, "willRetry"):
            return ()
        self._ledger.retries += 1
        return (Note(at=now, kind=NoteKind.PROVIDER_RETRY),)

    def _refused(self, error: Line) -> None:
        """Read what codex says of a failure: its kind is a word, or a word with the HTTP status inside."""
        info = part(error, "codexErrorInfo")
        kind = next(iter(info), None) or text(error, "codexErrorInfo")
        if kind not in OWN_FAULTS:
            status = None if kind is None else whole(part(info, kind), "httpStatusCode")
            self._ledger.provider.failed(status, kind, message=text(error, "message"))

    def _speak(self, at: Stamp) -> list[Event]:
        self._ledger.provider.answered()
        if self._speaking:
            return []
        self._speaking = True
        return [TurnStart(at=at, message_id=f"codex-{self._turn}-msg-{self._written}")]


REDUCER: type[Reducer] = Codex


def _is_tool(kind: str) -> bool:
    return kind not in META and kind not in CONTENT and kind != "reasoning"


def _skills(item: Line) -> tuple[str, ...]:
    # The item holds what the command printed, too; only what was asked for counts.
    return used_skills(filled(item, "type"), {key: item.get(key) for key in ("command", "arguments")})


def _has_text(item: Line) -> bool:
    return any(bool(item.get(key)) for key in ("summary", "content", "text"))


def _status(item: Line) -> ToolStatus:
    if whole(item, "exitCode"):
        return ToolStatus.ERROR
    return STATUSES.get(filled(item, "status"), ToolStatus.OK)


def _divide(window: Window | None, tokens: TokenBuckets | None, count: int) -> list[Exact | None]:
    """Divide a window between thinking and action by output tokens; equally when there is no output."""
    if window is None:
        return [None] * count
    raw = window.raw_us()
    if count == 1:
        return [raw]
    output = (tokens.output if tokens is not None else None) or 0
    reasoned = min((tokens.reasoning if tokens is not None else None) or 0, output)
    first = Fraction(raw * reasoned, output) if output else Fraction(raw, 2)
    thinking: Exact = first.numerator if first.denominator == 1 else first
    return [thinking, raw - thinking]


def _token_shares(tokens: TokenBuckets | None, count: int) -> list[TokenBuckets | None]:
    """Give the prompt to the first part and the output to whom it belongs."""
    if tokens is None or count == 1:
        return [tokens] * count
    output, reasoning = tokens.output or 0, tokens.reasoning or 0
    first = TokenBuckets(
        uncached_input=tokens.uncached_input,
        cache_write=tokens.cache_write,
        cache_read=tokens.cache_read,
        output=reasoning,
        reasoning=reasoning,
    )
    rest = TokenBuckets(uncached_input=0, cache_write=0, cache_read=0, output=max(0, output - reasoning), reasoning=0)
    return [first, rest]


def _buckets(usage: Line) -> TokenBuckets | None:
    """Read codex's usage: the input includes what came from a cache, the output includes reasoning."""
    given = whole(usage, "inputTokens")
    if given is None:
        return None
    cached = whole(usage, "cachedInputTokens") or 0
    return TokenBuckets(
        uncached_input=max(0, given - cached),
        cache_write=0,
        cache_read=cached,
        output=whole(usage, "outputTokens"),
        reasoning=whole(usage, "reasoningOutputTokens"),
    )


def _less(total: TokenBuckets | None, before: TokenBuckets | None) -> TokenBuckets | None:
    if total is None or before is None:
        return total
    return TokenBuckets(
        uncached_input=_minus(total.uncached_input, before.uncached_input),
        cache_write=_minus(total.cache_write, before.cache_write),
        cache_read=_minus(total.cache_read, before.cache_read),
        output=_minus(total.output, before.output),
        reasoning=_minus(total.reasoning, before.reasoning),
    )


def _minus(total: int | None, before: int | None) -> int | None:
    return None if total is None or before is None else total - before
