"""The only place that reads opencode's stream (`opencode run --format json`): windows tile from finish to finish.

Each line carries the coding agent's own epoch stamp, and so do its tools, so windows and spans share one clock. What is
printed first did not always happen first: the first window opens at the earliest stamp of the step's parts.
"""

from collections.abc import Iterable

from harness.clock import Anchor, Basis, Stamp
from harness.events import DeltaKind, Event, TextChunk, TurnEnd, TurnStart
from harness.kinds import Quality, StreamEnd, ToolStatus
from harness.record import Message, Summary, Window
from harness.reducers.fields import Line, amount, epoch, filled, part, text, whole
from harness.reducers.ledger import Ledger
from harness.reducers.protocol import Reducer
from harness.reducers.skills import used_skills
from harness.tokens import TokenBuckets, add_buckets
from harness.windows import close_window

# Kinds of error that tell of the provider; any other is opencode's own, and its words say nothing of a provider.
PROVIDER_FAULTS = frozenset({"APIError", "ProviderAuthError"})
ENDED = {"completed": ToolStatus.OK, "error": ToolStatus.ERROR}


class OpenCode:
    """Reduces one invocation of opencode."""

    def __init__(self, *, entry: Stamp, turn: int, anchor: Anchor) -> None:  # noqa: ARG002  # every reducer is made alike
        self._anchor = anchor
        self._ledger = Ledger()
        self._mark: Stamp | None = None
        self._firsts: list[Stamp] = []
        self._speaking = False
        self._message_id: str | None = None
        self._tools: list[str] = []
        self._generations: set[str] = set()
        self._nameless = 0
        self._usage: list[TokenBuckets | None] = []
        self._costs: list[float | None] = []
        self._end = StreamEnd.OPEN
        self._session: str | None = None

    def feed(self, at: Stamp, line: Line) -> tuple[Event, ...]:
        """Take one line."""
        kind = filled(line, "type")
        handler = {
            "step_start": self._on_step_start,
            "text": self._on_text,
            "reasoning": self._on_text,
            "tool_use": self._on_tool,
            "step_finish": self._on_finish,
            "error": self._on_error,
        }.get(kind)
        if handler is None:
            self._ledger.strange(kind)
            return ()
        self._ledger.recognised += 1
        self._session = text(line, "sessionID") or self._session
        return tuple(handler(self._when(at, line), line))

    def close(self, at: Stamp) -> tuple[Event, ...]:  # noqa: ARG002  # a step without finish has no close to publish
        """Sweep the calls that nothing ended."""
        return tuple(self._ledger.sweep())

    def summary(self) -> Summary:
        """Return what is known so far."""
        costs = [cost for cost in self._costs if cost is not None]
        return Summary(
            end=self._end,
            # A retried generation prints a second step_start, so generations count by their message id.
            model_calls=len(self._generations) + self._nameless,
            tool_calls=self._ledger.resolved(),
            usage=add_buckets(self._usage),
            cost_usd=sum(costs) if costs and len(costs) == len(self._costs) else None,
            session_id=self._session,
            recognised=self._ledger.recognised,
            unknown=self._ledger.first_unknown(),
            quality=frozenset(self._ledger.quality),
            provider_status=self._ledger.provider.status,
            provider_words=self._ledger.provider.words,
        )

    def _when(self, at: Stamp, line: Line) -> Stamp:
        """Return the line's own stamp; without one its arrival, bridged and flagged."""
        own = epoch(line, "timestamp")
        if own is not None:
            return own
        self._ledger.quality.add(Quality.ARRIVAL_BRIDGED)
        return self._anchor.bridge(at, to=Basis.CLI_EPOCH)

    def _on_step_start(self, now: Stamp, line: Line) -> Iterable[Event]:
        self._message_id = text(part(line, "part"), "messageID") or self._message_id
        if self._message_id is not None:
            self._generations.add(self._message_id)
        self._firsts.append(now)
        return self._speak(now)

    def _on_text(self, now: Stamp, line: Line) -> Iterable[Event]:
        piece = part(line, "part")
        began = epoch(part(piece, "time"), "start")
        events = self._speak(now if began is None else began)
        if began is None:
            # The line is printed when the whole part is over; that instant is no first delta.
            return events
        self._firsts.append(began)
        kind = DeltaKind.TEXT if filled(line, "type") == "text" else DeltaKind.THINKING
        return [*events, TextChunk(at=began, kind=kind, text=filled(piece, "text"))]

    def _on_tool(self, now: Stamp, line: Line) -> Iterable[Event]:
        piece = part(line, "part")
        call_id = text(piece, "callID")
        if call_id is None:
            return ()
        state = part(piece, "state")
        times = part(state, "time")
        began, over = epoch(times, "start"), epoch(times, "end")
        events: list[Event] = [*self._speak(now), *self._enter(call_id, piece, began)]
        status = ENDED.get(filled(state, "status"))
        if status is None:
            return events
        if whole(part(state, "metadata"), "exit"):
            status = ToolStatus.ERROR
        began = self._ledger.calls[call_id].started if began is None else began
        return [*events, *self._ledger.end_call(call_id, status, started=began, completed=over)]

    def _enter(self, call_id: str, piece: Line, began: Stamp | None) -> Iterable[Event]:
        name = filled(piece, "tool")
        skills = used_skills(name, part(part(piece, "state"), "input"))
        events = self._ledger.open_call(call_id, name, started=began, skills=skills)
        if events:
            self._tools.append(call_id)
            # Only a call of this step says when the step's output began; a later word on an old call does not.
            self._firsts.extend([] if began is None else [began])
        return events

    def _on_finish(self, now: Stamp, line: Line) -> Iterable[Event]:
        piece = part(line, "part")
        message_id = text(piece, "messageID") or self._message_id
        if message_id is None:
            self._nameless += 1
        else:
            self._generations.add(message_id)
        window = self._window(now)
        reason = text(piece, "reason")
        if self._end is not StreamEnd.FAILED:
            self._end = StreamEnd.CLEAN if reason == "stop" else StreamEnd.OPEN
        self._ledger.provider.answered()
        self._usage.append(_buckets(part(piece, "tokens")))
        self._costs.append(amount(piece, "cost"))
        events = self._speak(now)
        message = Message(
            sequence=self._ledger.next_message(),
            message_id=message_id,
            window=window,
            raw_us=None if window is None else window.raw_us(),
            tool_ids=tuple(self._tools),
            tokens=self._usage[-1],
            stop_reason=reason,
        )
        # Spent: a second finish without a start must not publish the same span or the same tools again.
        self._tools, self._firsts, self._message_id, self._speaking = [], [], None, False
        return [*events, TurnEnd(messages=(message,))]

    def _window(self, now: Stamp) -> Window | None:
        """Open the first window at real output; tile every later one from the finish before it."""
        first = min(self._firsts, default=None)
        mark, self._mark = self._mark, now
        if mark is not None:
            return close_window(mark=mark, now=now)
        return None if first is None else close_window(mark=first, now=now)

    def _on_error(self, now: Stamp, line: Line) -> Iterable[Event]:  # noqa: ARG002
        self._end = StreamEnd.FAILED
        error = part(line, "error")
        name, data = filled(error, "name"), part(error, "data")
        if name in PROVIDER_FAULTS:
            self._ledger.provider.failed(whole(data, "statusCode"), name, message=text(data, "message"))
        return ()

    def _speak(self, at: Stamp) -> list[Event]:
        if self._speaking:
            return []
        self._speaking = True
        return [TurnStart(at=at, message_id=self._message_id)]


REDUCER: type[Reducer] = OpenCode


def _buckets(tokens: Line) -> TokenBuckets | None:
    """Read a step's tokens: the total decides whether the cache is inside the input and reasoning inside the output."""
    if not tokens:
        return None
    given, output, reasoning = whole(tokens, "input"), whole(tokens, "output"), whole(tokens, "reasoning")
    read, write = whole(part(tokens, "cache"), "read"), whole(part(tokens, "cache"), "write")
    cached = (read or 0) + (write or 0)
    total = whole(tokens, "total")
    shown = (given or 0) + (output or 0)
    inside = total is not None and cached > 0 and total in {shown, shown + (reasoning or 0)}
    fresh = None if given is None else max(0, given - cached) if inside else given
    apart = total is None or total != shown + (0 if inside else cached)
    return TokenBuckets(
        uncached_input=fresh,
        cache_write=write,
        cache_read=read,
        output=None if output is None else output + (reasoning or 0) if apart else output,
        reasoning=reasoning,
    )
