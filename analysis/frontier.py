"""The only place that lays out the axes on which arms are placed, and asks where each arm stands.

Quality, cost, latency, tokens: any declared axes, all from one joint bootstrap over the tasks that every arm attempted.
There is no score over axes.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.random import Generator

from analysis.decision import FrontierArm, FrontierAxis, FrontierResult
from analysis.measures import COST, ArmMeasures, Measures
from analysis.statistics.axes import Axis, Direction, Sums, TrialQuantile, prepare_axes
from analysis.statistics.contrast import Scale
from analysis.statistics.placement import NOTE, Placement, place_on_frontier
from analysis.statistics.quantities import Values
from analysis.statistics.sample import FloatArray
from analysis.statistics.task_bootstrap import count_blocks, percentile_limits

RESAMPLES = 10_000
DEFAULT_AXES = ("success", "cost_usd", "wall_time")
LEVEL = 0.95


class FrontierError(Exception):
    """An axis, a floor or an epsilon that was asked for does not exist or cannot be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A floor as somebody declared it; exactly one of the two is given."""

    axis: str
    at_least: float | None = None
    at_most: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is asked of the frontier.

    Attributes:
        axes: Names of axes; empty takes DEFAULT_AXES. One on which no two arms are known is left out, with a note.
        floors: At most one for each axis.
        epsilons: Axis to the smallest difference that matters; 0 for an axis that is not named.
        alpha: Error allowed for each arm's state, in (0, 1).
        seed: Recorded beside the result.
        resamples: Bootstrap resamples.
    """

    axes: tuple[str, ...] = ()
    floors: tuple[Bound, ...] = ()
    epsilons: tuple[tuple[str, float], ...] = ()
    alpha: float = 0.05
    seed: int
    resamples: int = RESAMPLES


Measure = Callable[[Measures], Sums | TrialQuantile]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """How an axis is computed, in which unit, and which way is better."""

    unit: str
    direction: Direction
    scale: Scale
    measure: Measure
    needs: tuple[str, ...]


def place(measures: Measures, wanted: Wanted, *, rng: Generator) -> FrontierResult | None:
    """Place two or more arms; None with fewer than two axes on which two arms are known.

    Args:
        measures: The arms on the tasks that all of them attempted.
        wanted: Axes, floors, epsilons.
        rng: Generator of the resamples.

    Raises:
        FrontierError: For an axis that does not exist, or a floor or epsilon that does not fit its axis.
    """
    names = _axes_of(wanted)
    kept = [name for name in names if _known_arms(measures, name) > 1]
    notes = [f"no two arms are known on {name}, which is left out" for name in names if name not in kept]
    if len(kept) < 2 or not measures.tasks:
        return None
    axes = [_axis(name, measures, wanted) for name in kept]
    # Two passes over the same draws: one counts who dominates whom, one keeps the values for their limits.
    state = rng.bit_generator.state
    found = place_on_frontier(
        [arm.arm for arm in measures.arms], axes, alpha=wanted.alpha, resamples=wanted.resamples, rng=rng
    )
    rng.bit_generator.state = state
    limits = _limits(axes, measures, resamples=wanted.resamples, rng=rng)
    return FrontierResult(
        axes=tuple(_described(axis) for axis in axes),
        arms=tuple(_arm(one, limits[place]) for place, one in enumerate(found.placements)),
        n_tasks=len(measures.tasks),
        alpha=found.alpha,
        resamples=found.resamples,
        seed=wanted.seed,
        note="; ".join((NOTE, *notes)),
    )


def axis_names() -> tuple[str, ...]:
    """Return the names of all axes."""
    return tuple(_KINDS)


def known_axis(name: str) -> str:
    """Return an axis's own name for one of its spellings.

    Raises:
        FrontierError: When there is no such axis.
    """
    found = "cost_usd" if name == "total_cost" else name
    if found not in _KINDS:
        raise FrontierError(f"axis {name!r} does not exist; expected one of {', '.join(_KINDS)}")
    return found


def is_on_better_side(bound: Bound) -> bool:
    """Say whether a floor bounds its axis from the worse side, as the frontier takes it: at least what is better high.

    Raises:
        FrontierError: When there is no such axis.
    """
    higher = _KINDS[known_axis(bound.axis)].direction is Direction.HIGHER
    return (bound.at_least if higher else bound.at_most) is not None


def unit_of(name: str) -> str:
    """Return the unit of an axis.

    Raises:
        FrontierError: When there is no such axis.
    """
    return _KINDS[known_axis(name)].unit


def bare_axis(name: str, measures: Measures) -> Axis | None:
    """Return an axis of the first arm alone, without floor and epsilon; None when that arm is not measured on it.

    Raises:
        FrontierError: When there is no such axis.
    """
    kind = _KINDS[known_axis(name)]
    alone = replace(measures, arms=measures.arms[:1])
    if not measures.tasks or not _known_arms(alone, known_axis(name)):
        return None
    return Axis(name=known_axis(name), measure=kind.measure(alone), direction=kind.direction, scale=kind.scale)


def _axes_of(wanted: Wanted) -> list[str]:
    """Return the axes, each once; one that has only a floor is an axis too."""
    named = [known_axis(name) for name in (*(wanted.axes or DEFAULT_AXES), *(bound.axis for bound in wanted.floors))]
    return list(dict.fromkeys(named))


def _known_arms(measures: Measures, name: str) -> int:
    """Return how many arms are measured throughout on an axis; prices of two methods are known of nobody."""
    needs = _KINDS[name].needs
    if COST in needs and len({method for arm in measures.arms for method in arm.cost_methods}) > 1:
        return 0
    return sum(all(arm.known(column) == len(arm.task) for column in needs) for arm in measures.arms)


def _axis(name: str, measures: Measures, wanted: Wanted) -> Axis:
    kind = _KINDS[name]
    epsilons = {known_axis(axis): value for axis, value in wanted.epsilons}
    epsilon = epsilons.get(name, 0.0)
    _check_range(f"epsilon {name}", epsilon, kind)
    return Axis(
        name=name,
        measure=kind.measure(measures),
        direction=kind.direction,
        scale=kind.scale,
        epsilon=epsilon,
        floor=_floor(name, kind, wanted.floors),
    )


def _floor(name: str, kind: _Kind, floors: Sequence[Bound]) -> float | None:
    bounds = [bound for bound in floors if known_axis(bound.axis) == name]
    if len(bounds) > 1:
        raise FrontierError(f"axis {name} has {len(bounds)} floors; expected at most one")
    if not bounds:
        return None
    higher = kind.direction is Direction.HIGHER
    value = bounds[0].at_least if higher else bounds[0].at_most
    if value is None:
        sign = ">=" if higher else "<="
        raise FrontierError(f"a floor of {name} is written {name}{sign}VALUE: {kind.direction.value} is better")
    _check_range(f"floor {name}", value, kind)
    return value


def _check_range(what: str, value: float, kind: _Kind) -> None:
    most = 1.0 if kind.unit.startswith("proportion") else math.inf
    if not (math.isfinite(value) and 0 <= value <= most):
        span = "of at least 0" if math.isinf(most) else "from 0 to 1"
        raise FrontierError(f"{what}={value!r} must be a number {span}")


def _described(axis: Axis) -> FrontierAxis:
    return FrontierAxis(
        name=axis.name,
        unit=_KINDS[axis.name].unit,
        direction=axis.direction.value,
        epsilon=axis.epsilon,
        scale=axis.scale.value,
        floor=axis.floor,
    )


_Limits = tuple[tuple[float | None, float | None], ...]


def _limits(axes: Sequence[Axis], measures: Measures, *, resamples: int, rng: Generator) -> list[_Limits]:
    """Return each arm's percentile limits per axis; None where it is unknown, undefined or never varies."""
    prepared = prepare_axes(axes)
    width = max([prepared.columns.shape[1], *(trials.task.size for trials in prepared.ordered.values())])
    blocks = count_blocks(prepared.n_tasks, resamples=resamples, rng=rng, cells_per_row=width)
    values = np.concatenate([prepared.values(counts) for counts in blocks], axis=-1)
    return [
        tuple(
            _finite(values[axis, arm]) if prepared.known[arm, axis] and prepared.n_tasks > 1 else (None, None)
            for axis in range(len(axes))
        )
        for arm in range(len(measures.arms))
    ]


def _finite(replicates: FloatArray) -> tuple[float | None, float | None]:
    low, high = percentile_limits(replicates, level=LEVEL)
    if low == high:
        # Tasks that do not vary say nothing of others: a point would be a certainty that nobody has.
        return None, None
    return (low if math.isfinite(low) else None), (high if math.isfinite(high) else None)


def _arm(found: Placement, limits: _Limits) -> FrontierArm:
    return FrontierArm(
        arm=found.arm,
        state=found.state.value,
        reason=found.reason,
        values=found.values,
        low=tuple(low for low, _ in limits),
        high=tuple(high for _, high in limits),
        p_non_dominated=found.p_non_dominated,
        p_dominated_by=found.p_dominated_by,
        p_floor=found.p_floor,
        p_front=found.p_front,
        p_axis_rank=found.p_axis_rank,
    )


def _success(measures: Measures) -> Sums:
    return Sums(numerator=[measures.solved(arm) / measures.trials(arm) for arm in measures.arms])


def _per_trial(column: str) -> Measure:
    """Return the mean over tasks of each task's mean over its trials."""

    def measure(measures: Measures) -> Sums:
        return Sums(numerator=[_task_means(measures, arm, column) for arm in measures.arms])

    return measure


def _task_means(measures: Measures, arm: ArmMeasures, column: str) -> Values:
    sums, trials = measures.task_sums(arm, column), measures.trials(arm)
    if isinstance(sums, np.ndarray):
        return np.asarray(sums / trials)
    return [None if part is None else part / count for part, count in zip(sums, trials.tolist(), strict=True)]


def _over(top: str, bottom: str) -> Measure:
    def measure(measures: Measures) -> Sums:
        tops, bottoms = ([measures.task_sums(arm, name) for arm in measures.arms] for name in (top, bottom))
        return Sums(numerator=tops, denominator=bottoms)

    return measure


def _cost_per_solved(measures: Measures) -> Sums:
    return Sums(
        numerator=[measures.task_sums(arm, COST) for arm in measures.arms],
        denominator=[measures.solved(arm).astype(np.float64) for arm in measures.arms],
    )


def _quantile(column: str, probability: float) -> Measure:
    def measure(measures: Measures) -> TrialQuantile:
        return TrialQuantile(trials=[arm.trial_values(column) for arm in measures.arms], probability=probability)

    return measure


def _consumed(column: str, unit: str, measure: Measure | None = None) -> _Kind:
    """Return an axis of something that is used up: lower is better, and shares of it matter."""
    return _Kind(
        unit=unit,
        direction=Direction.LOWER,
        scale=Scale.RATIO,
        measure=measure or _per_trial(column),
        needs=(column,),
    )


_KINDS: Mapping[str, _Kind] = MappingProxyType(
    {
        "success": _Kind(
            unit="proportion as a mean over tasks",
            direction=Direction.HIGHER,
            scale=Scale.DIFFERENCE,
            measure=_success,
            needs=(),
        ),
        "cost_usd": _consumed(COST, "USD per trial"),
        "cost_per_solved": _consumed(COST, "USD per solved task", _cost_per_solved),
        "input_tokens": _consumed("input_tokens", "tokens per trial"),
        "output_tokens": _consumed("output_tokens", "tokens per trial"),
        "requests": _consumed("requests", "requests per trial"),
        "tool_calls": _consumed("tool_calls", "calls per trial"),
        "wall_time": _consumed("wall_ms", "milliseconds per trial"),
        "wall_time_p50": _consumed("wall_ms", "milliseconds", _quantile("wall_ms", 0.5)),
        "wall_time_p95": _consumed("wall_ms", "milliseconds", _quantile("wall_ms", 0.95)),
        "agent_time": _consumed("agent_ms", "milliseconds per trial"),
        "agent_time_p50": _consumed("agent_ms", "milliseconds", _quantile("agent_ms", 0.5)),
        "agent_time_p95": _consumed("agent_ms", "milliseconds", _quantile("agent_ms", 0.95)),
        "cache_share": _Kind(
            unit="proportion of input tokens",
            direction=Direction.HIGHER,
            scale=Scale.DIFFERENCE,
            measure=_over("cache_tokens", "input_tokens"),
            needs=("cache_tokens", "input_tokens"),
        ),
    }
)
