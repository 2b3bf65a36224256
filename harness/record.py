"""The only place for what a recorded turn is: messages, tool calls, buckets and their exact times.

Times are whole microseconds; a share of a split window is an exact fraction of them, never rounded. None means that it
was never measured, 0 that it was measured and took no measurable time.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from harness.clock import Anchor, Basis, Stamp
from harness.intervals import Span
from harness.kinds import EndStatus, Harness, Quality, StreamEnd, ToolStatus
from harness.tokens import Reconciliation, TokenBuckets

Exact = int | Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A generation window.

    Attributes:
        start: Where the previous window closed, or the first model output of the turn.
        close: When the message was complete.
    """

    start: Stamp
    close: Stamp

    def raw_us(self) -> int:
        """Return its length; an inverted window is a measured zero."""
        return max(0, self.close - self.start)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One assistant message.

    Attributes:
        sequence: Place in the stream's order, from 0.
        message_id: Identity within the turn; None only where the stream omitted it.
        parent: Id of the tool call whose sub-agent wrote it; None on the main thread.
        window: Its generation window; None when the stream does not bound it.
        raw_us: Its part of the window with tool time still inside; None when not measurable.
        generation_us: raw_us without tool time; None until the collector subtracted, or when raw_us is None.
        first_delta_us: From the window's start to the first delta of any kind inside it; None when there was none.
        tool_ids: Tool calls that the message carries.
        tokens: Its token buckets; None when the stream has none.
        stop_reason: The provider's stop reason, or None.
    """

    sequence: int
    message_id: str | None
    parent: str | None = None
    window: Window | None = None
    raw_us: Exact | None = None
    generation_us: Exact | None = None
    first_delta_us: int | None = None
    tool_ids: tuple[str, ...] = ()
    tokens: TokenBuckets | None = None
    stop_reason: str | None = None

    def main_window(self) -> Window | None:
        """Return its window when it belongs to the main thread and was measured, else None."""
        return self.window if self.parent is None and self.raw_us is not None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One tool call.

    Attributes:
        call_id: Identity within the turn.
        name: Tool name as the harness prints it.
        sequence: Order of first sight, from 0.
        status: How it ended.
        requested: When the model finished asking for it (generation_completed_at); only claude-code's stream says.
        started: First instant; None when not observed.
        completed: Last instant; None when not observed. An unresolved call never gets one.
        duration_us: completed - started, or a duration that the stream reports without bounds; None when neither.
        parent: Id of the sub-agent that made it; None on the main thread.
        rollout: Bounds that codex wrote elsewhere, a diagnostic that no bucket reads; None where there are none.
        skills: Names of the skills that it used, by what the agent asked for.
    """

    call_id: str
    name: str
    sequence: int
    status: ToolStatus
    requested: Stamp | None = None
    started: Stamp | None = None
    completed: Stamp | None = None
    duration_us: int | None = None
    parent: str | None = None
    rollout: Span | None = None
    skills: tuple[str, ...] = ()

    def span(self) -> Span | None:
        """Return its bounds when both were observed in order, else None."""
        if self.started is None or self.completed is None or self.completed < self.started:
            return None
        return Span(start=self.started, end=self.completed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a reducer knows when its stream is over.

    Attributes:
        end: What the stream's own terminal event said.
        model_calls: Model calls of the main thread.
        tool_calls: Resolved tool calls of the main thread.
        usage: The turn's tokens as the stream totals them; None when it does not.
        cost_usd: Cost as the stream has it; None when it does not say.
        model: Model label, or None.
        session_id: The harness's own session or thread id, or None.
        recognised: Lines whose kind is known.
        unknown: Up to 8 kinds that are not, sorted.
        provider_retries: Retries of the provider that the stream reports.
        quality: What a reader of the times must know.
        skills: Skills that the program says it loaded, sorted; None when its stream does not say.
        provider_status: HTTP status of the provider's failure that stands, 400 to 599; None when there is none, or the
            stream does not tell it.
        provider_words: That failure's kind and message, to sort it by; never written anywhere. None when there is none.
        background: Main-thread calls that the program moved to the background, nothing ended, and the model has
            spoken its last word after; only a harness that is waited for says any.
    """

    end: StreamEnd = StreamEnd.OPEN
    model_calls: int = 0
    tool_calls: int = 0
    usage: TokenBuckets | None = None
    cost_usd: float | None = None
    model: str | None = None
    session_id: str | None = None
    recognised: int = 0
    unknown: tuple[str, ...] = ()
    provider_retries: int = 0
    quality: frozenset[Quality] = frozenset()
    skills: tuple[str, ...] | None = None
    provider_status: int | None = None
    provider_words: str | None = field(default=None, repr=False)
    background: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a turn's process ended, as the supervisor saw it.

    Attributes:
        exit_code: The program's own; negative is a signal, None when it was never seen.
        overshoot_us: How long after its limit a timed-out turn was over; None when it kept it.
        swept: Processes that the program left behind and that were killed; None when that is not known.
        skipped: Lines that were no JSON object.
        stderr_bytes: What the program wrote to its error output.
        given_up: Background calls that the turn no longer waited for, by id.
    """

    exit_code: int | None = None
    overshoot_us: int | None = None
    swept: int | None = None
    skipped: int = 0
    stderr_bytes: int = 0
    given_up: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRecord:
    """One turn, complete or as far as it is known.

    Attributes:
        harness: Which harness ran it.
        iteration: The driver's turn number from 1; a retry repeats it.
        status: How it ended; None while it has not.
        anchor: What the wall clock said at offset 0.
        started: Turn start, on the turn's clock; None before it.
        ended: Turn end, on the turn's clock; None while it has not ended.
        duration_us: The driver's separate monotonic measurement of the turn; None when not taken.
        messages: Assistant messages in stream order.
        calls: Tool calls by order of first sight.
        head_us: Turn start to the first window, without tool time; None when an end is missing.
        tail_us: Last window to turn end, without tool time; None when an end is missing.
        tool_union_us: Union of the main thread's bounded tool spans; None when there is none.
        orphan_wait_us: Union of the waits for calls that nothing ended, outside the identity; None when there is none.
        window_basis: Clock of the windows; None without a measured window.
        tool_basis: Clock of the tool spans; None without a bounded span.
        summary: What the reducer knew at the end.
        reconciliation: Tokens billed beyond the messages' sum; None when they agree or no total is known.
        quality: What a reader of the times must know.
        ending: How its process ended; None for a turn that was not driven.
    """

    harness: Harness
    iteration: int
    anchor: Anchor
    status: EndStatus | None = None
    started: Stamp | None = None
    ended: Stamp | None = None
    duration_us: int | None = None
    messages: tuple[Message, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    head_us: int | None = None
    tail_us: int | None = None
    tool_union_us: int | None = None
    orphan_wait_us: int | None = None
    window_basis: Basis | None = None
    tool_basis: Basis | None = None
    summary: Summary = field(default_factory=Summary)
    reconciliation: Reconciliation | None = None
    quality: frozenset[Quality] = frozenset()
    ending: Ending | None = None

    def span_us(self) -> int | None:
        """Return turn end minus turn start, or None while either is missing."""
        return None if self.started is None or self.ended is None else self.ended - self.started

    def generation_us(self) -> Exact | None:
        """Return the main thread's net generation, or None when no message measured any."""
        return sum_measured(message.generation_us for message in self.messages if message.parent is None)

    def accounted_us(self) -> Exact | None:
        """Return head + generation + tool union + tail, skipping what was not measured."""
        return sum_measured((self.head_us, self.generation_us(), self.tool_union_us, self.tail_us))

    def residual_us(self) -> Exact | None:
        """Return the part of the turn's span that no bucket holds; negative when they hold more than it."""
        span, held = self.span_us(), self.accounted_us()
        return None if span is None else span - (held if held is not None else 0)

    def turn_to_first_delta_us(self) -> int | None:
        """Return turn start to the first model delta: the one start-up figure that compares across harnesses.

        The first window alone may carry it: a later window's delta answers a later request.
        """
        opened = [(w.start, m.first_delta_us) for m in self.messages if (w := m.main_window()) is not None]
        first, latency = min(opened, key=lambda pair: pair[0], default=(None, None))
        if first is None or latency is None or self.started is None:
            return None
        return first - self.anchor.bridge(self.started, to=first.basis) + latency


def sum_measured(values: Iterable[Exact | None]) -> Exact | None:
    """Return the sum of what was measured, or None when nothing was."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None
