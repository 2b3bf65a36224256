"""The only place for the shape of what a decision holds of two arms' wall clocks: buckets, caps, and what compares."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """One bucket over all attempts of an arm; times in milliseconds.

    Attributes:
        name: A name of TURN_BUCKETS or ATTEMPT_BUCKETS.
        scope: turn or attempt.
        of: Turns (or attempts) that could hold such time: a turn without a tool call has no tool time.
        measured: The part of them in which it was measured.
        total_ms: Sum over all of them; None as soon as one was not measured, and where there are none.
        known_ms: Sum over the measured ones; None without one.
        turn_median_ms: Median over measured turns that did not crash; None without one, and for an attempt's bucket.
        attempts: Attempts in which every part was measured.
        attempt_median_ms: Median over those of the attempt's own sum; None without one.
    """

    name: str
    scope: str
    of: int
    measured: int
    total_ms: float | None
    known_ms: float | None
    turn_median_ms: float | None
    attempts: int
    attempt_median_ms: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """A measure over several turns.

    Attributes:
        n: Turns in which it was measured.
        median: Their median, milliseconds; None when n is 0.
    """

    n: int
    median: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmClock:
    """Where the wall clock of one arm went; an arm whose trials were recorded under several names has one for each.

    Attributes:
        side: treatment or control.
        arm: Name of the arm.
        recorded_as: The recorder's name of it.
        harness: The recorder's agent type.
        attempts: Attempts that the times were read from.
        turns: Their turns.
        buckets: Totals and medians, of the turns and around them.
        to_first_delta_first, to_first_delta_later: Turn start to the first model delta, in first and in later turns.
        cap_units: What the turn cap counts; several when attempts differ, none without a cap.
        cap_limits: The caps.
        cap_unit_sources: Where the units come from: recorded, version, assumed.
        capped: Attempts that ended at the turn cap.
        cap_flagged: More than 5 percent of the attempts did.
        jobs: Attempts that the runs were allowed to run at once, distinct and sorted; none when not recorded.
        at_once: Most attempts that ran at any time; None when not recorded.
        gated: Turns whose residual was held to the bound.
        beyond: Those beyond it.
        disagreeing: Turns whose stored tool union is not the union of their spans.
        simulated: Attempts in which no real model ran.
        notes: What a reader must know before comparing this arm with another.
    """

    side: str
    arm: str
    recorded_as: str
    harness: str
    attempts: int
    turns: int
    buckets: tuple[Bucket, ...]
    to_first_delta_first: Spread
    to_first_delta_later: Spread
    cap_units: tuple[str, ...]
    cap_limits: tuple[int, ...]
    cap_unit_sources: tuple[str, ...]
    capped: int
    cap_flagged: bool
    jobs: tuple[int, ...]
    at_once: int | None
    gated: int
    beyond: int
    disagreeing: int
    simulated: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmClocks:
    """The wall clocks of both arms.

    Attributes:
        arms: Treatment, then control; an arm that no runner timed has none.
        one_harness: Every side ran on one harness, so that all buckets compare.
        max_residual_pct: Bound of the residual, percent of a turn's duration on either side.
        notes: What must be said beside any comparison of these clocks.
    """

    arms: tuple[ArmClock, ...]
    one_harness: bool
    max_residual_pct: float
    notes: tuple[str, ...]
