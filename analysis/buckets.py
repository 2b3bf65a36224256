"""The only place for the buckets of an arm's wall clock: what each one is, its total, and its medians.

Turn buckets fill a turn, attempt buckets lie around the turns; the two scopes are never added. What was not measured
makes a total unknown, and never counts as 0.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from analysis.arm_clocks import Bucket
from analysis.evidence.timed_run import TimedTrial, TimedTurn, TimingQuality


@dataclass(frozen=True, slots=True, kw_only=True)
class _TurnRule:
    """Which turns can hold a bucket's time, and how much one holds (milliseconds; None: not measured)."""

    applies: Callable[[TimedTurn], bool]
    value: Callable[[TimedTurn], float | None]


def sum_measured(values: Iterable[float | None]) -> float | None:
    """Return the sum of what was measured, or None when nothing was."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def accounted_ms(turn: TimedTurn) -> float | None:
    """Return head + generation + tool union + tail, skipping what was not measured; None when nothing was."""
    return sum_measured((turn.head_ms, turn.generation_ms, turn.tool_union_ms, turn.tail_ms))


def residual_ms(turn: TimedTurn) -> float | None:
    """Return what no bucket of a turn holds, negative where they hold more than the turn; None when it is untimed."""
    return None if turn.duration_ms is None else turn.duration_ms - (accounted_ms(turn) or 0.0)


def _head_ms(turn: TimedTurn) -> float | None:
    """Return the head; a recorded 0 from before it was separated is no measurement."""
    return None if TimingQuality.LEGACY_CLAMPED in turn.quality else turn.head_ms


TURN_BUCKETS: dict[str, _TurnRule] = {
    "head_first": _TurnRule(applies=lambda turn: turn.first_turn, value=_head_ms),
    "head_later": _TurnRule(applies=lambda turn: not turn.first_turn, value=_head_ms),
    "generation": _TurnRule(applies=lambda _turn: True, value=lambda turn: turn.generation_ms),
    "tool_union": _TurnRule(
        applies=lambda turn: turn.tool_union_ms is not None or any(span.main_thread for span in turn.spans),
        value=lambda turn: turn.tool_union_ms,
    ),
    "tail": _TurnRule(applies=lambda _turn: True, value=lambda turn: turn.tail_ms),
    "residual": _TurnRule(applies=lambda _turn: True, value=residual_ms),
}
ATTEMPT_BUCKETS: dict[str, Callable[[TimedTrial], float | None]] = {
    "attempt": lambda trial: trial.duration_ms,
    "agent_wall": lambda trial: trial.agent_wall_ms,
    "setup": lambda trial: trial.setup_ms,
    "grading": lambda trial: trial.grading_ms,
    "retry_wait": lambda trial: trial.retry_wait_ms,
    "probe": lambda trial: trial.probe_ms,
    "unaccounted": lambda trial: trial.unaccounted_ms,
}


def arm_buckets(trials: Sequence[TimedTrial]) -> tuple[Bucket, ...]:
    """Return every bucket of an arm: those of its turns, then those around them."""
    of_turns = (_of_turns(name, rule, trials) for name, rule in TURN_BUCKETS.items())
    of_attempts = (_of_attempts(name, value, trials) for name, value in ATTEMPT_BUCKETS.items())
    return (*of_turns, *of_attempts)


def _of_turns(name: str, rule: _TurnRule, trials: Sequence[TimedTrial]) -> Bucket:
    by_attempt = [[turn for turn in trial.turns if rule.applies(turn)] for trial in trials]
    turns = [turn for group in by_attempt for turn in group]
    whole = _known(rule.value(turn) for turn in turns if not turn.crashed)
    return _bucket(
        name,
        "turn",
        parts=[rule.value(turn) for turn in turns],
        attempts=[_total([rule.value(turn) for turn in group]) for group in by_attempt],
        turn_median_ms=median(whole) if whole else None,
    )


def _of_attempts(name: str, value: Callable[[TimedTrial], float | None], trials: Sequence[TimedTrial]) -> Bucket:
    parts = [value(trial) for trial in trials]
    return _bucket(name, "attempt", parts=parts, attempts=parts, turn_median_ms=None)


def _bucket(
    name: str,
    scope: str,
    *,
    parts: Sequence[float | None],
    attempts: Sequence[float | None],
    turn_median_ms: float | None,
) -> Bucket:
    known, whole = _known(parts), _known(attempts)
    return Bucket(
        name=name,
        scope=scope,
        of=len(parts),
        measured=len(known),
        total_ms=_total(parts),
        known_ms=sum(known) if known else None,
        turn_median_ms=turn_median_ms,
        attempts=len(whole),
        attempt_median_ms=median(whole) if whole else None,
    )


def _total(parts: Sequence[float | None]) -> float | None:
    known = _known(parts)
    return sum(known) if known and len(known) == len(parts) else None


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]
