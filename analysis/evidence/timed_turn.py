"""The only place that reads one recorded turn of a timed run: its buckets, messages, tool spans and their doubts."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta

from analysis.evidence.timed_run import TimedMessage, TimedSpan, TimedTurn, TimingQuality
from harness.clock import Basis, Stamp
from harness.intervals import Span, union_us

Raw = Mapping[str, object]
US_PER_MS = 1000
US_PER_S = 1_000_000
# These stamped their first window before the turn start until the head was separated, and published a clamped 0.
CLAMPED_HEADS = frozenset({"claude-code", "antigravity"})
OWN_QUALITIES = frozenset(TimingQuality)
Place = Callable[[object], int | None]


def text(raw: Raw, key: str) -> str | None:
    """Return a string, or None."""
    value = raw.get(key)
    return value if isinstance(value, str) else None


def amount(raw: Raw, key: str) -> float | None:
    """Return a finite number, or None."""
    value = raw.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def whole(raw: Raw, key: str) -> int | None:
    """Return a whole number, or None."""
    value = raw.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def mapping(raw: Raw, key: str) -> Raw:
    """Return a nested object, an empty one when it is absent."""
    value = raw.get(key)
    return value if isinstance(value, dict) else {}


def rows(raw: Raw, key: str) -> tuple[Raw, ...]:
    """Return the objects of a list, none when it is absent."""
    value = raw.get(key)
    return tuple(row for row in value if isinstance(row, dict)) if isinstance(value, list) else ()


def read_turns(raws: tuple[Raw, ...], harness: str) -> tuple[TimedTurn, ...]:
    """Read a task's turns in their order; the place in the list is the key."""
    first = whole(raws[0], "iteration") if raws else None
    return tuple(
        _turn(raw, index, harness, first_turn=index == 0 or (first is not None and whole(raw, "iteration") == first))
        for index, raw in enumerate(raws)
    )


def _turn(raw: Raw, index: int, harness: str, *, first_turn: bool) -> TimedTurn:
    assistants = [row for row in rows(raw, "messages") if row.get("role", "assistant") == "assistant"]
    commands = rows(raw, "commands")
    doubts: set[TimingQuality] = set()
    place = _placer(raw, (*assistants, *commands), doubts)
    shared = Counter(_bounds(row) for row in assistants)
    messages = tuple(_message(row, at, place, alone=shared[_bounds(row)] == 1) for at, row in enumerate(assistants))
    owned = {call_id for message in messages if message.parent is not None for call_id in message.tool_ids}
    spans = tuple(_span(row, at, place, owned=owned) for at, row in enumerate(commands))
    union, derived = _union_ms(raw, spans)
    doubts |= _doubts(raw, messages, spans, harness=harness, derived=derived)
    seconds = amount(raw, "duration_seconds")
    usage = mapping(raw, "token_usage")
    return TimedTurn(
        index=index,
        iteration=whole(raw, "iteration"),
        session_id=text(raw, "session_id"),
        first_turn=first_turn,
        crashed=raw.get("crashed") is True,
        max_turns_exhausted=raw.get("max_turns_exhausted") is True,
        duration_ms=round(seconds * US_PER_S) / US_PER_MS if seconds else None,
        head_ms=amount(raw, "harness_startup_ms"),
        generation_ms=_sum(message.generation_ms for message in messages if message.parent is None),
        tool_union_ms=union,
        tail_ms=amount(raw, "harness_teardown_ms"),
        turn_to_first_delta_ms=amount(raw, "turn_to_first_delta_ms"),
        orphan_wait_ms=amount(raw, "orphan_wait_ms"),
        model_calls=whole(raw, "num_turns"),
        tool_calls=sum(span.main_thread and span.status in {"success", "error"} for span in spans),
        # Before the split, the stored field was input_tokens and meant the uncached slice.
        uncached_input_tokens=whole(
            usage, "uncached_input_tokens" if "uncached_input_tokens" in usage else "input_tokens"
        ),
        cache_write_tokens=whole(usage, "cache_creation_input_tokens"),
        cache_read_tokens=whole(usage, "cache_read_input_tokens"),
        output_tokens=whole(usage, "output_tokens"),
        cost_usd=amount(usage, "total_cost_usd"),
        # Only our own recorder stamps the turn's start; coder_eval's `timestamp` is taken when the record is built.
        start_us=place(raw.get("timestamp")) if "ended_at" in raw else None,
        end_us=place(raw.get("ended_at")),
        quality=tuple(sorted(doubts)),
        messages=messages,
        spans=spans,
    )


def _bounds(raw: Raw) -> tuple[str | None, str | None]:
    return text(raw, "started_at"), text(raw, "completed_at")


def _message(raw: Raw, index: int, place: Place, *, alone: bool) -> TimedMessage:
    start, close = place(raw.get("started_at")), place(raw.get("completed_at"))
    generation = amount(raw, "generation_duration_ms")
    own = amount(raw, "raw_window_ms")
    bounded = generation is not None and start is not None and close is not None
    ids = raw.get("tool_use_ids")
    return TimedMessage(
        index=index,
        message_id=text(raw, "message_id"),
        parent=text(raw, "parent_tool_use_id"),
        start_us=start if bounded else None,
        close_us=close if bounded else None,
        # A stored generation is net already: the raw window is what its bounds say, where one message has them alone.
        raw_ms=own if own is not None else _length_ms(start, close) if bounded and alone else None,
        generation_ms=generation,
        first_delta_latency_ms=amount(raw, "first_delta_latency_ms"),
        uncached_input_tokens=whole(raw, "input_tokens"),
        cache_write_tokens=whole(raw, "cache_creation_tokens"),
        cache_read_tokens=whole(raw, "cache_read_tokens"),
        output_tokens=whole(raw, "output_tokens"),
        tool_ids=tuple(item for item in ids if isinstance(item, str)) if isinstance(ids, list) else (),
    )


def _length_ms(start: int | None, close: int | None) -> float | None:
    return None if start is None or close is None else max(0, close - start) / US_PER_MS


def _span(raw: Raw, index: int, place: Place, *, owned: set[str]) -> TimedSpan:
    call_id = text(raw, "tool_id") or f"unnamed-{index}"
    sequence = whole(raw, "sequence_number")
    return TimedSpan(
        call_id=call_id,
        sequence=index if sequence is None else sequence,
        tool=text(raw, "tool_name") or "unknown",
        status=text(raw, "result_status"),
        main_thread=call_id not in owned and text(raw, "parent_tool_use_id") is None,
        start_us=place(raw.get("execution_started_at")),
        end_us=place(raw.get("execution_completed_at")),
        duration_ms=amount(raw, "duration_ms"),
    )


def bounded_spans(spans: Iterable[TimedSpan]) -> list[Span]:
    """Return the main thread's calls whose both ends were recorded in order."""
    return [
        Span(start=_wall(span.start_us), end=_wall(span.end_us))
        for span in spans
        if span.main_thread and span.start_us is not None and span.end_us is not None and span.end_us >= span.start_us
    ]


def _wall(us: int) -> Stamp:
    return Stamp(us=us, basis=Basis.HOST_WALL)


def _union_ms(raw: Raw, spans: tuple[TimedSpan, ...]) -> tuple[float | None, bool]:
    """Return the stored union; a record from before it was stored gets it from its spans. A stored 0 is a value."""
    stored = amount(raw, "tool_union_ms")
    if stored is not None:
        return stored, False
    bounded = bounded_spans(spans)
    return (union_us(bounded) / US_PER_MS, True) if bounded else (None, False)


def _doubts(
    raw: Raw, messages: tuple[TimedMessage, ...], spans: tuple[TimedSpan, ...], *, harness: str, derived: bool
) -> set[TimingQuality]:
    own = raw.get("quality")
    found = {TimingQuality(word) for word in own if word in OWN_QUALITIES} if isinstance(own, list) else set()
    main = [span for span in spans if span.main_thread]
    both = [span for span in main if span.start_us is not None and span.end_us is not None]
    tests = {
        TimingQuality.LEGACY_CLAMPED: harness in CLAMPED_HEADS and amount(raw, "harness_startup_ms") == 0.0,
        TimingQuality.SPANS_WITHOUT_BOUNDS: any(
            span.duration_ms is not None and (span.start_us is None or span.end_us is None) for span in main
        ),
        TimingQuality.UNION_DERIVED: derived,
        TimingQuality.UNMEASURED_WINDOW: any(m.parent is None and m.generation_ms is None for m in messages),
        TimingQuality.INVERTED_SPAN: any((span.end_us or 0) < (span.start_us or 0) for span in both),
    }
    return found | {quality for quality, holds in tests.items() if holds}


def _placer(raw: Raw, rows_with_times: tuple[Raw, ...], doubts: set[TimingQuality]) -> Place:
    """Return what turns a recorded wall time into microseconds from the turn's earliest one.

    A turn that mixes times with and without a zone has no common zero; then only the ones with the more usual form
    are placed.
    """
    keys = ("started_at", "completed_at", "execution_started_at", "execution_completed_at")
    given = [row.get(key) for row in rows_with_times for key in keys]
    if "ended_at" in raw:
        given.append(raw.get("timestamp"))
    times = [time for time in map(_instant, given) if time is not None]
    aware = [time for time in times if time.tzinfo is not None]
    if aware and len(aware) < len(times):
        doubts.add(TimingQuality.MIXED_ZONES)
    zoned = 2 * len(aware) >= len(times) and bool(aware)
    usable = aware if zoned else [time for time in times if time.tzinfo is None]
    zero = min(usable, default=None)

    def place(value: object) -> int | None:
        time = _instant(value)
        if time is None or zero is None or (time.tzinfo is not None) is not zoned:
            return None
        return (time - zero) // timedelta(microseconds=1)

    return place


def _instant(value: object) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        return None


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
