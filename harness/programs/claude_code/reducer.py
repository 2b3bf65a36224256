"""The only place that reads claude-code's stream (`claude -p --output-format stream-json --include-partial-messages`).

Windows tile from one assistant line of the main thread to the next; the mark is re-seeded once, at the first
message_start, so that boot and the wait for the provider stay in the head. A user line never moves the mark, because
what lies between two results belongs to nobody else; neither does a line of a sub-agent, whose time the call that
spawned it covers. One response comes as several lines of one message id, and its output tokens come after them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from harness.clock import Anchor, Stamp
from harness.events import DeltaKind, Event, Note, NoteKind, TextChunk, TurnEnd, TurnStart
from harness.kinds import Quality, StreamEnd, ToolStatus
from harness.record import Message, Summary
from harness.reducers.fields import Line, amount, filled, flag, part, parts, text, whole
from harness.reducers.ledger import Ledger
from harness.reducers.protocol import Reducer
from harness.reducers.skills import bare_name, used_skills
from harness.tokens import TokenBuckets, add_buckets, share_tokens
from harness.windows import close_window

DELTAS = {
    "text_delta": DeltaKind.TEXT,
    "thinking_delta": DeltaKind.THINKING,
    "signature_delta": DeltaKind.THINKING,
    "citations_delta": DeltaKind.TEXT,
    "input_json_delta": DeltaKind.TOOL_ARGUMENTS,
}
QUIET = frozenset({"rate_limit_event", "control_request", "control_response", "keep_alive"})


@dataclass(slots=True)
class _Generation:
    """The lines of one response that wait for its output tokens."""

    message_id: str | None
    messages: list[Message] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)


class ClaudeCode:
    """Reduces one invocation of claude-code."""

    def __init__(self, *, entry: Stamp, turn: int, anchor: Anchor) -> None:  # noqa: ARG002  # every reducer is made alike
        self._turn = turn
        self._ledger = Ledger(quality={Quality.HEAD_NOT_SEPARATED})
        self._mark = entry
        self._seeded = False
        self._pending: _Generation | None = None
        self._main_ids: set[str] = set()
        self._billed: set[str] = set()
        self._nameless = 0
        self._announced: str | None = None
        self._summary = Summary()

    def feed(self, at: Stamp, line: Line) -> tuple[Event, ...]:
        """Take one line."""
        kind = filled(line, "type")
        handler = {
            "system": self._on_system,
            "stream_event": self._on_stream_event,
            "assistant": self._on_assistant,
            "user": self._on_user,
            "result": self._on_result,
        }.get(kind)
        if handler is None and kind not in QUIET:
            self._ledger.strange(kind)
            return ()
        self._ledger.recognised += 1
        return () if handler is None else tuple(handler(at, line))

    def close(self, at: Stamp) -> tuple[Event, ...]:  # noqa: ARG002  # an unfinished block has no close to publish
        """Flush the last response and sweep the calls that nothing ended."""
        return (*self._flush(None), *self._ledger.sweep())

    def summary(self) -> Summary:
        """Return what is known so far; generations count by message id, never by the stream's num_turns."""
        return replace(
            self._summary,
            model_calls=len(self._main_ids) + self._nameless,
            tool_calls=self._ledger.resolved(),
            recognised=self._ledger.recognised,
            unknown=self._ledger.first_unknown(),
            provider_retries=self._ledger.retries,
            quality=frozenset(self._ledger.quality),
            provider_status=self._ledger.provider.status,
            provider_words=self._ledger.provider.words,
        )

    def _on_system(self, at: Stamp, line: Line) -> Iterable[Event]:
        subtype = filled(line, "subtype")
        if subtype == "init":
            self._summary = replace(
                self._summary,
                session_id=text(line, "session_id"),
                model=text(line, "model") or self._summary.model,
                skills=_listed(line),
            )
        if subtype == "api_retry":
            self._ledger.retries += 1
            self._ledger.provider.failed(whole(line, "error_status"), text(line, "error"))
            return (Note(at=at, kind=NoteKind.PROVIDER_RETRY),)
        if subtype == "status" and filled(line, "status") == "requesting":
            return (Note(at=at, kind=NoteKind.REQUEST_SENT),)
        return ()

    def _on_stream_event(self, at: Stamp, line: Line) -> Iterable[Event]:
        if text(line, "parent_tool_use_id") is not None:
            return ()
        event = part(line, "event")
        kind = filled(event, "type")
        if kind == "message_start":
            return self._on_message_start(at, part(event, "message"))
        if kind == "content_block_delta":
            delta = part(event, "delta")
            found = DELTAS.get(filled(delta, "type"), DeltaKind.TEXT)
            return (TextChunk(at=at, kind=found, text=filled(delta, "text") or filled(delta, "thinking")),)
        if kind == "message_delta":
            return self._flush(whole(part(event, "usage"), "output_tokens"), text(part(event, "delta"), "stop_reason"))
        return ()

    def _on_message_start(self, at: Stamp, message: Line) -> Iterable[Event]:
        if not self._seeded:
            self._mark = at
            self._seeded = True
            self._ledger.quality.discard(Quality.HEAD_NOT_SEPARATED)
        self._ledger.provider.answered()
        flushed = self._flush(None)
        return [*flushed, *self._announce(at, text(message, "id"))]

    def _announce(self, at: Stamp, message_id: str | None) -> list[Event]:
        if message_id is not None and message_id == self._announced:
            return []
        self._announced = message_id
        return [TurnStart(at=at, message_id=message_id)]

    def _on_assistant(self, at: Stamp, line: Line) -> Iterable[Event]:
        message = part(line, "message")
        message_id, parent = text(message, "id"), text(line, "parent_tool_use_id")
        if flag(line, "is_api_error_message"):
            kinds = (text(line, key) for key in ("error", "api_error", "api_error_type"))
            self._ledger.provider.failed(whole(line, "api_error_status"), *kinds)
        elif parent is None:
            self._ledger.provider.answered()
        blocks = parts(message, "content")
        tools = [block for block in blocks if filled(block, "type") == "tool_use" and text(block, "id") is not None]
        events: list[Event] = []
        if parent is None:
            events += self._main_emission(at, message, blocks)
        else:
            events.append(TurnEnd(messages=(self._sub_message(message, parent, tools),)))
        for block in tools:
            events += self._ledger.open_call(
                filled(block, "id"),
                filled(block, "name"),
                requested=at,
                parent=parent,
                skills=used_skills(filled(block, "name"), part(block, "input")),
            )
        if parent is None and message_id is not None:
            self._main_ids.add(message_id)
        return events

    def _main_emission(self, at: Stamp, message: Line, blocks: tuple[Line, ...]) -> list[Event]:
        message_id = text(message, "id")
        events: list[Event] = []
        if self._pending is not None and (message_id is None or self._pending.message_id != message_id):
            events += self._flush(None)
        if message_id is None:
            self._nameless += 1
        events += self._announce(at, message_id)
        window = close_window(mark=self._mark, now=at)
        self._mark = at
        self._seeded = True
        pending = self._pending or _Generation(message_id=message_id)
        pending.messages.append(
            Message(
                sequence=self._ledger.next_message(),
                message_id=message_id,
                window=window,
                raw_us=window.raw_us(),
                tool_ids=_tool_ids(blocks),
                tokens=self._first_usage(message_id, part(message, "usage")),
                stop_reason=text(message, "stop_reason"),
            )
        )
        pending.lengths.append(sum(_length(block) for block in blocks))
        self._pending = pending
        self._summary = replace(self._summary, model=text(message, "model") or self._summary.model)
        return events

    def _first_usage(self, message_id: str | None, usage: Line) -> TokenBuckets:
        """Book the prompt on a response's first line only; the output figure there is a placeholder."""
        if message_id is not None and message_id in self._billed:
            return TokenBuckets(uncached_input=0, cache_write=0, cache_read=0)
        if message_id is not None:
            self._billed.add(message_id)
        return TokenBuckets(
            uncached_input=whole(usage, "input_tokens"),
            cache_write=whole(usage, "cache_creation_input_tokens"),
            cache_read=whole(usage, "cache_read_input_tokens"),
        )

    def _sub_message(self, message: Line, parent: str, tools: list[Line]) -> Message:
        return Message(
            sequence=self._ledger.next_message(),
            message_id=text(message, "id"),
            parent=parent,
            tool_ids=tuple(filled(block, "id") for block in tools),
            tokens=self._first_usage(text(message, "id"), part(message, "usage")),
            stop_reason=text(message, "stop_reason"),
        )

    def _flush(self, output: int | None, stop_reason: str | None = None) -> list[Event]:
        pending, self._pending = self._pending, None
        if pending is None:
            return []
        messages = pending.messages
        if output is not None:
            shares = share_tokens(output, pending.lengths)
            messages = [_with_output(message, share) for message, share in zip(messages, shares, strict=True)]
        if stop_reason is not None:
            messages = [replace(message, stop_reason=stop_reason) for message in messages]
        return [TurnEnd(messages=tuple(messages))]

    def _on_user(self, at: Stamp, line: Line) -> Iterable[Event]:
        events: list[Event] = []
        for block in parts(part(line, "message"), "content"):
            call = self._ledger.calls.get(filled(block, "tool_use_id"))
            if filled(block, "type") != "tool_result" or call is None:
                continue
            status = ToolStatus.ERROR if flag(block, "is_error") else ToolStatus.OK
            events += self._ledger.end_call(call.call_id, status, started=call.requested, completed=at)
            events += self._sub_agent_end(call.call_id, part(line, "tool_use_result"))
        return events

    def _total(self, line: Line) -> TokenBuckets | None:
        """Read the turn's total; per model it runs on over a resumed session's turns, `usage` never does."""
        usage = part(line, "usage")
        return _buckets(usage) if usage and self._turn > 1 else _total(line)

    def _sub_agent_end(self, call_id: str, result: Line) -> list[Event]:
        """Make the sub-agent's last message of its result: it is never streamed, so it has no window."""
        if text(result, "agentId") is None:
            return []
        usage = part(result, "usage")
        message = Message(
            sequence=self._ledger.next_message(),
            message_id=f"subagent-{call_id}",
            parent=call_id,
            tokens=_buckets(usage) if usage else None,
        )
        return [TurnEnd(messages=(message,))]

    def _on_result(self, at: Stamp, line: Line) -> Iterable[Event]:  # noqa: ARG002
        capped = filled(line, "subtype") == "error_max_turns" or filled(line, "terminal_reason") == "max_turns"
        failed = flag(line, "is_error") or filled(line, "subtype").startswith("error")
        end = StreamEnd.CAPPED if capped else StreamEnd.FAILED if failed else StreamEnd.CLEAN
        self._summary = replace(
            self._summary,
            end=end,
            usage=self._total(line),
            # A resumed session's cost holds the turns before this one too, and nothing says how much of it.
            cost_usd=amount(line, "total_cost_usd") if self._turn == 1 else None,
            session_id=text(line, "session_id") or self._summary.session_id,
        )
        events = self._flush(None)
        for denial in parts(line, "permission_denials"):
            call = self._ledger.calls.get(filled(denial, "tool_use_id"))
            if call is not None:
                events += self._ledger.end_call(
                    call.call_id, ToolStatus.PERMISSION_DENIED, started=call.started, completed=call.completed
                )
        return events


REDUCER: type[Reducer] = ClaudeCode


def _listed(line: Line) -> tuple[str, ...] | None:
    """Return the skills that a session lists at its start; None when it has no such list."""
    names = line.get("skills")
    if not isinstance(names, list):
        return None
    return tuple(sorted({bare_name(name) for name in names if isinstance(name, str)}))


def _with_output(message: Message, output: int) -> Message:
    tokens = message.tokens if message.tokens is not None else TokenBuckets()
    return replace(message, tokens=replace(tokens, output=output))


def _tool_ids(blocks: Iterable[Line]) -> tuple[str, ...]:
    ids = (text(block, "id") for block in blocks if filled(block, "type") == "tool_use")
    return tuple(call_id for call_id in ids if call_id is not None)


def _length(block: Line) -> int:
    """Return how much content a block holds: the weight by which a response's output tokens are shared."""
    written = (filled(block, key) for key in ("text", "thinking"))
    return sum(map(len, written)) + (len(str(block["input"])) if "input" in block else 0)


def _buckets(usage: Line) -> TokenBuckets:
    return TokenBuckets(
        uncached_input=whole(usage, "input_tokens"),
        cache_write=whole(usage, "cache_creation_input_tokens"),
        cache_read=whole(usage, "cache_read_input_tokens"),
        output=whole(usage, "output_tokens"),
    )


def _total(result: Line) -> TokenBuckets | None:
    """Read the turn's total: per model where given, since `usage` omits what sub-agents and retries took."""
    models = [row for row in part(result, "modelUsage").values() if isinstance(row, dict)]
    if models:
        return add_buckets(
            TokenBuckets(
                uncached_input=whole(row, "inputTokens"),
                cache_write=whole(row, "cacheCreationInputTokens"),
                cache_read=whole(row, "cacheReadInputTokens"),
                output=whole(row, "outputTokens"),
            )
            for row in models
        )
    usage = part(result, "usage")
    return _buckets(usage) if usage else None
