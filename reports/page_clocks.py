"""The only place for what a report says of the arms' wall clocks: the buckets of a turn, those around it, the turn cap.

Times are in milliseconds to the microsecond, as `evenhand timing` prints them, so that the two can be held together.
"""

from collections.abc import Callable, Iterator

from analysis.arm_clocks import ArmClock, ArmClocks, Bucket, Spread
from analysis.decision import Decision
from analysis.timing import ACROSS_HARNESSES, CAP_FLAG_SHARE, ONE_HARNESS
from reports import numbers
from reports.layout import NOTHING, Column, Section, Table

BUCKET_NAMES = {
    "head_first": "Head, first turns",
    "head_later": "Head, later turns of a dialogue",
    "generation": "Generation, without tool time",
    "tool_union": "Tools, union of the calls",
    "tail": "Tail",
    "residual": "Residual: in no bucket of the turn",
    "attempt": "Attempt as a whole",
    "agent_wall": "All turns of an attempt",
    "setup": "Set-up",
    "grading": "Grading",
    "retry_wait": "Waits before a repetition",
    "probe": "Version probing",
    "unaccounted": "In no bucket of the attempt",
}
SOURCES = {
    "recorded": "the recorder says so",
    "version": "the recorder's version",
    "assumed": "assumed from the parity contract",
}
_READ = (
    "Head, generation, tools and tail fill a turn; set-up, grading and waits lie around the turns. The two scopes are "
    "never added. A total is not measured as soon as one part of it was not."
)
_ACROSS = (
    "The arms ran on different harnesses: only the time to the first delta compares between them. Every other bucket "
    "opens and closes at other events on each harness and describes its own arm."
)
_ONE = "The arms ran on one harness: its buckets open and close at the same events in both."
_SIMULATED = "SIMULATED MODEL: no real model ran in {share} attempts, so these times measure harness and script only."


def clocks_section(decision: Decision, figures: tuple[str, ...]) -> Section | None:
    """Return the wall clocks of both arms; None where no runner timed the turns of either."""
    clocks = decision.clocks
    if clocks is None:
        return None
    said = (ACROSS_HARNESSES, ONE_HARNESS)
    notes = [note for note in clocks.notes if note not in said]
    notes += [f"{arm_words(clock, clocks)}: {note}" for clock in clocks.arms for note in clock.notes]
    return Section(
        anchor="clocks",
        title="Where the wall clock went",
        paragraphs=tuple(_paragraphs(clocks)),
        items=tuple(notes),
        figures=("clocks",) if "clocks" in figures else (),
        tables=(_first_delta(clocks), _totals(clocks), _medians(clocks), _caps(clocks)),
    )


def arm_words(clock: ArmClock, clocks: ArmClocks) -> str:
    """Return what an arm's column is called: its name, and the recorder's where one arm was recorded under several."""
    several = sum(one.side == clock.side for one in clocks.arms) > 1
    return f"{clock.arm} ({clock.side}{f', {clock.recorded_as} on {clock.harness}' if several else ''})"


def cap_words(clock: ArmClock) -> str:
    """Return a turn cap with what it counts: the number alone is no budget."""
    if not clock.cap_limits:
        return "none"
    units = " or ".join(unit.replace("_", " ") for unit in clock.cap_units)
    return f"{' or '.join(map(numbers.count, clock.cap_limits))}, counted in {units}"


def reached_words(clock: ArmClock) -> str:
    """Return how many attempts ended at the cap, flagged above 5 percent."""
    if not clock.cap_limits and not clock.capped:
        return NOTHING
    flag = f": more than {numbers.percent(CAP_FLAG_SHARE, digits=0)}, the cap shapes the result"
    return numbers.share(clock.capped, clock.attempts) + (flag if clock.cap_flagged else "")


def _paragraphs(clocks: ArmClocks) -> Iterator[str]:
    simulated = sum(clock.simulated for clock in clocks.arms)
    if simulated:
        yield _SIMULATED.format(share=numbers.share(simulated, sum(clock.attempts for clock in clocks.arms)))
    yield _ONE if clocks.one_harness else _ACROSS
    yield _READ


def _columns(clocks: ArmClocks, first: str, *kinds: str) -> tuple[Column, ...]:
    sides = (f"{arm_words(clock, clocks)}{kind}" for kind in kinds or ("",) for clock in clocks.arms)
    return (Column(heading=first), *(Column(heading=side, kind="number") for side in sides))


def _first_delta(clocks: ArmClocks) -> Table:
    spreads: tuple[tuple[str, str, Callable[[ArmClock], Spread]], ...] = (
        ("First turns", "head_first", lambda clock: clock.to_first_delta_first),
        ("Later turns of a dialogue", "head_later", lambda clock: clock.to_first_delta_later),
    )
    rows = tuple(
        (name, *(_to_delta(clock, head, pick(clock)) for clock in clocks.arms)) for name, head, pick in spreads
    )
    caption = (
        "Turn start to the first model delta, median in ms over the turns that record one. The one time that compares "
        "across harnesses."
    )
    return Table(caption=caption, columns=_columns(clocks, "Turns"), rows=rows)


def _to_delta(clock: ArmClock, head: str, found: Spread) -> str:
    """Return a time to the first delta; an arm without such turns has nothing that could be measured."""
    turns = next(bucket.of for bucket in clock.buckets if bucket.name == head)
    return _spread(found.median, found.n) if turns else NOTHING


def _spread(median: float | None, n: int) -> str:
    return numbers.NOT_MEASURED if median is None else f"{numbers.milliseconds(median)} (n = {numbers.count(n)})"


def _totals(clocks: ArmClocks) -> Table:
    caption = f"Totals over all attempts, in ms. {_standing(clocks)}"
    return Table(caption=caption, columns=_columns(clocks, "Bucket"), rows=_rows(clocks, _total))


def _medians(clocks: ArmClocks) -> Table:
    caption = (
        "Medians in ms: of an attempt's own sum, over the attempts in which every part was measured; of a turn, over "
        f"the turns that did not crash. {_standing(clocks)}"
    )
    columns = _columns(clocks, "Bucket", ": per attempt", ": per turn")
    return Table(caption=caption, columns=columns, rows=_rows(clocks, _per_attempt, _per_turn))


def _standing(clocks: ArmClocks) -> str:
    return "One harness: they compare." if clocks.one_harness else "They do not compare across harnesses."


def _rows(clocks: ArmClocks, *cells: Callable[[Bucket], str]) -> tuple[tuple[str, ...], ...]:
    held = [{bucket.name: bucket for bucket in clock.buckets} for clock in clocks.arms]
    return tuple(
        (words, *(cell(buckets[name]) for cell in cells for buckets in held)) for name, words in BUCKET_NAMES.items()
    )


def _total(bucket: Bucket) -> str:
    if not bucket.of:
        return NOTHING
    if bucket.total_ms is not None:
        return numbers.milliseconds(bucket.total_ms)
    if bucket.known_ms is None:
        return numbers.NOT_MEASURED
    known = numbers.share(bucket.measured, bucket.of)
    part = numbers.milliseconds(bucket.known_ms)
    return f"{numbers.NOT_MEASURED}; known for {known} {bucket.scope}s (sum of known: {part})"


def _per_attempt(bucket: Bucket) -> str:
    if not bucket.of:
        return NOTHING
    return _spread(bucket.attempt_median_ms, bucket.attempts)


def _per_turn(bucket: Bucket) -> str:
    return NOTHING if bucket.scope == "attempt" or not bucket.of else numbers.milliseconds(bucket.turn_median_ms)


def _caps(clocks: ArmClocks) -> Table:
    picks: tuple[tuple[str, Callable[[ArmClock], str]], ...] = (
        ("Harness", lambda clock: clock.harness),
        ("Attempts", lambda clock: numbers.count(clock.attempts)),
        ("Turns", lambda clock: numbers.count(clock.turns)),
        ("Turn cap and its unit", cap_words),
        ("Unit known from", lambda clock: ", ".join(SOURCES[one] for one in clock.cap_unit_sources) or NOTHING),
        ("Attempts that ended at the cap", reached_words),
        ("Attempts allowed at once", lambda clock: ", ".join(map(numbers.count, clock.jobs)) or numbers.NOT_MEASURED),
        ("Most attempts at once", lambda clock: numbers.count(clock.at_once)),
        ("Turns whose residual was gated", lambda clock: numbers.share(clock.gated, clock.turns)),
        (f"Of them beyond {clocks.max_residual_pct:g}%", lambda clock: numbers.count(clock.beyond)),
        ("Turns whose stored tool union is wrong", lambda clock: numbers.count(clock.disagreeing)),
    )
    rows = tuple((name, *(pick(clock) for clock in clocks.arms)) for name, pick in picks)
    caption = "Turn cap, load and gate. The same cap in another unit is another budget."
    columns = tuple(Column(heading=one.heading) for one in _columns(clocks, "Property"))
    return Table(caption=caption, columns=columns, rows=rows)
