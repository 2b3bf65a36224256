"""The only place that reads pi's stream (`pi -p --mode json`): windows tile from one turn_end to the next.

The first window opens at the first turn_start, which pi prints before it asks the provider, so pi's head holds the boot
alone and its first generation holds the wait for the provider. The record is flagged; only turn_to_first_delta
compares with others. Event lines carry no stamp of their own, so arrivals are used.
"""

from collections.abc import Iterable

from harness.clock import Anchor, Stamp
from harness.events import DeltaKind, Event, Note, NoteKind, TextChunk, TurnEnd, TurnStart
from harness.kinds import Quality, StreamEnd, ToolStatus
from harness.record import Message, Summary, Window
from harness.reducers.fields import Line, amount, filled, flag, part, text, whole
from harness.reducers.ledger import Ledger
from harness.reducers.protocol import Reducer
from harness.reducers.provider import leading_status
from harness.reducers.skills import used_skills
from harness.tokens import TokenBuckets, add_buckets
from harness.windows import close_window

DELTAS = {
    "text_start": DeltaKind.TEXT,
    "text_delta": DeltaKind.TEXT,
    "thinking_start": DeltaKind.THINKING,
    "thinking_delta": DeltaKind.THINKING,
    "toolcall_start": DeltaKind.TOOL_ARGUMENTS,
    "toolcall_delta": DeltaKind.TOOL_ARGUMENTS,
}
SILENT = frozenset(
    {"message_end", "tool_execution_update", "agent_start", "agent_end", "entry_appended", "queue_update"}
    | {"compaction_start", "compaction_end"}
)


class Pi:
    """Reduces one invocation of pi."""

    def __init__(self, *, entry: Stamp, turn: int, anchor: Anchor) -> None:  # noqa: ARG002  # every reducer is made alike
        self._ledger = Ledger(quality={Quality.WINDOW_BEFORE_REQUEST})
        self._mark: Stamp | None = None
        self._speaking = False
        self._tools: list[str] = []
        self._turns = 0
        self._usage: list[TokenBuckets | None] = []
        self._costs: list[float | None] = []
        self._end = StreamEnd.OPEN
        self._session: str | None = None
        self._model: str | None = None

    def feed(self, at: Stamp, line: Line) -> tuple[Event, ...]:
        """Take one line."""
        kind = filled(line, "type")
        handler = {
            "session": self._on_session,
            "turn_start": self._on_turn_start,
            "message_start": self._on_message_start,
            "message_update": self._on_update,
            "tool_execution_start": self._on_tool_start,
            "tool_execution_end": self._on_tool_end,
            "turn_end": self._on_turn_end,
            "agent_settled": self._on_settled,
            "auto_retry_start": self._on_retry,
            "auto_retry_end": self._on_retry_end,
        }.get(kind)
        if handler is None and kind not in SILENT:
            self._ledger.strange(kind)
            return ()
        self._ledger.recognised += 1
        return () if handler is None else tuple(handler(at, line))

    def close(self, at: Stamp) -> tuple[Event, ...]:  # noqa: ARG002  # a turn without turn_end has no close to publish
        """Sweep the calls that nothing ended."""
        return tuple(self._ledger.sweep())

    def summary(self) -> Summary:
        """Return what is known so far."""
        costs = [cost for cost in self._costs if cost is not None]
        return Summary(
            end=self._end,
            model_calls=self._turns,
            tool_calls=self._ledger.resolved(),
            usage=add_buckets(self._usage),
            cost_usd=sum(costs) if costs and len(costs) == len(self._costs) else None,
            model=self._model,
            session_id=self._session,
            recognised=self._ledger.recognised,
            unknown=self._ledger.first_unknown(),
            provider_retries=self._ledger.retries,
            quality=frozenset(self._ledger.quality),
            provider_status=self._ledger.provider.status,
            provider_words=self._ledger.provider.words,
        )

    def _on_session(self, at: Stamp, line: Line) -> Iterable[Event]:  # noqa: ARG002
        self._session = text(line, "id")
        return ()

    def _on_turn_start(self, at: Stamp, line: Line) -> Iterable[Event]:  # noqa: ARG002
        self._turns += 1
        # A start that an internal retry repeats does not move the first window: the time before it was the turn's too.
        if self._mark is None:
            self._mark = at
        return ()

    def _on_message_start(self, at: Stamp, line: Line) -> Iterable[Event]:
        return self._speak(at) if filled(part(line, "message"), "role") == "assistant" else ()

    def _on_update(self, at: Stamp, line: Line) -> Iterable[Event]:
        update = part(line, "assistantMessageEvent")
        kind = DELTAS.get(filled(update, "type"))
        if kind is None:
            return ()
        return [*self._speak(at), TextChunk(at=at, kind=kind, text=filled(update, "delta"))]

    def _on_tool_start(self, at: Stamp, line: Line) -> Iterable[Event]:
        call_id = text(line, "toolCallId")
        if call_id is None:
            return ()
        name = filled(line, "toolName")
        events = self._ledger.open_call(call_id, name, started=at, skills=used_skills(name, part(line, "args")))
        if events:
            self._tools.append(call_id)
        return [*self._speak(at), *events]

    def _on_tool_end(self, at: Stamp, line: Line) -> Iterable[Event]:
        call = self._ledger.calls.get(filled(line, "toolCallId"))
        if call is None:
            return ()
        status = ToolStatus.ERROR if flag(line, "isError") else ToolStatus.OK
        return self._ledger.end_call(call.call_id, status, started=call.started, completed=at)

    def _on_turn_end(self, at: Stamp, line: Line) -> Iterable[Event]:
        message = part(line, "message")
        window = None if self._mark is None else close_window(mark=self._mark, now=at)
        self._mark = at
        self._end = _verdict(filled(message, "stopReason"))
        self._model = text(message, "model") or self._model
        self._note_failure(message)
        usage = part(message, "usage")
        self._usage.append(_buckets(usage))
        self._costs.append(amount(part(usage, "cost"), "total"))
        started = self._speak(at)
        self._speaking = False
        return [*started, TurnEnd(messages=(self._message(message, window),))]

    def _note_failure(self, message: Line) -> None:
        if filled(message, "stopReason") != "error":
            self._ledger.provider.answered()
            return
        words = filled(message, "errorMessage")
        self._ledger.provider.failed(leading_status(words), message=words)

    def _message(self, message: Line, window: Window | None) -> Message:
        tools, self._tools = tuple(self._tools), []
        return Message(
            sequence=self._ledger.next_message(),
            message_id=text(message, "responseId"),
            window=window,
            raw_us=None if window is None else window.raw_us(),
            tool_ids=tools,
            tokens=self._usage[-1],
            stop_reason=text(message, "stopReason"),
        )

    def _on_settled(self, at: Stamp, line: Line) -> Iterable[Event]:  # noqa: ARG002
        if flag(line, "aborted"):
            self._end = StreamEnd.FAILED
        return ()

    def _on_retry(self, at: Stamp, line: Line) -> Iterable[Event]:  # noqa: ARG002
        self._ledger.retries += 1
        return (Note(at=at, kind=NoteKind.PROVIDER_RETRY),)

    def _on_retry_end(self, at: Stamp, line: Line) -> Iterable[Event]:  # noqa: ARG002
        if line.get("success") is False:
            self._end = StreamEnd.FAILED
        return ()

    def _speak(self, at: Stamp) -> list[Event]:
        if self._speaking:
            return []
        self._speaking = True
        return [TurnStart(at=at)]


REDUCER: type[Reducer] = Pi


def _verdict(stop_reason: str) -> StreamEnd:
    if stop_reason == "stop":
        return StreamEnd.CLEAN
    return StreamEnd.FAILED if stop_reason in {"error", "aborted"} else StreamEnd.OPEN


def _buckets(usage: Line) -> TokenBuckets | None:
    """Read pi's usage: `input` is fresh, `output` includes reasoning."""
    if not usage:
        return None
    return TokenBuckets(
        uncached_input=whole(usage, "input"),
        cache_write=whole(usage, "cacheWrite"),
        cache_read=whole(usage, "cacheRead"),
        output=whole(usage, "output"),
        reasoning=whole(usage, "reasoning"),
    )
