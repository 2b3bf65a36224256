"""The only place for the endpoints of time: typical, quantiles, restricted mean, and solved trials alone.

A trial that its agent's clock cut off took at least its limit; it stays in every figure that is not conditional.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from analysis.decision import EndpointResult
from analysis.endpoint_resources import resource_row
from analysis.endpoint_rows import (
    LOG_RATIO,
    RATIO_OF_SUMS,
    Pair,
    Resource,
    set_interval,
    told,
    total_row,
    typical,
    with_contrast,
)
from analysis.measures import ArmMeasures
from analysis.planned_interval import with_planned_interval
from analysis.statistics.durations import ArmDurations, check_durations
from analysis.statistics.latency import compare_restricted_means, compare_typical_time, describe_solved
from analysis.statistics.latency_quantiles import ArmQuantile, QuantileComparison, compare_quantiles
from analysis.statistics.quantiles import AtLeast, Between, Observed
from analysis.statistics.ratio_bootstrap import LogRatio, of_means
from analysis.statistics.ratio_sets import Bounded, HalfLine, RatioEstimate

_QUANTILES = (("p50", 0.5), ("p95", 0.95))
_TIMES = (
    Resource(name="wall_time", column="wall_ms", unit="milliseconds", test=LOG_RATIO),
    Resource(name="agent_time", column="agent_ms", unit="milliseconds", test=LOG_RATIO),
)


def time_rows(pair: Pair) -> Iterator[EndpointResult]:
    """Yield the endpoints of the whole trial's time and of the agent's own."""
    for resource in _TIMES:
        durations = tuple(_durations(arm, resource.column) for arm in pair.arms)
        yield _typical_time(pair, resource, (durations[0], durations[1]))
        if not all(arm.known(resource.column) for arm in pair.arms):
            continue
        yield from _quantiles(pair, resource, (durations[0], durations[1]))
        yield _restricted_mean(pair, resource, (durations[0], durations[1]))
        yield from _solved_alone(resource, (durations[0], durations[1]))


def _durations(arm: ArmMeasures, column: str) -> ArmDurations:
    return ArmDurations(duration_ms=arm.quantities[column], task=arm.task, timed_out=arm.timed_out, solved=arm.solved)


_Durations = tuple[ArmDurations, ArmDurations]


def _typical_time(pair: Pair, resource: Resource, durations: _Durations) -> EndpointResult:
    test = pair.test_of(resource.name, resource.test)
    if test == RATIO_OF_SUMS:
        row = resource_row(pair, resource)
        late = sum(int(arm.timed_out.sum()) for arm in pair.arms)
        return replace(row, note=told(row.note, f"trials that count at their time limit: {late}" if late else ""))
    found = compare_typical_time(*durations, level=pair.level_of(resource.name))
    row = with_planned_interval(
        with_contrast(total_row(pair, resource, test=test, reason=found.ratio.reason), found.ratio),
        pair,
        contrasts={},
        log_ratio=partial(_restricted_log_ratio, durations),
    )
    row = typical(row)
    cut = f"trials cut at their task's time limit, in both arms alike: {found.cut_trials}" if found.cut_trials else ""
    return replace(row, note=told(row.note, cut))


def _restricted_log_ratio(durations: _Durations) -> LogRatio | None:
    """Return the ratio of restricted times for resampling: both arms' trials cut at the task's shortest timeout."""
    checked = check_durations(*durations).arms
    if checked is None:
        return None
    limits = np.minimum(checked[0].task_limits(), checked[1].task_limits())
    cut = [np.minimum(arm.trials.values, limits[arm.trials.task]) for arm in checked]
    if not all(values.all() for values in cut):
        return None
    a, b = (arm.trials.task_means(np.log(values)) for arm, values in zip(checked, cut, strict=True))
    return of_means(a - b)


def _quantiles(pair: Pair, resource: Resource, durations: _Durations) -> Iterator[EndpointResult]:
    found = compare_quantiles(
        *durations,
        level=pair.level_of(resource.name),
        resamples=pair.resamples,
        rng=pair.rng,
        probabilities=[probability for _, probability in _QUANTILES],
    )
    for (suffix, _), one in zip(_QUANTILES, found, strict=True):
        yield _quantile(f"{resource.name}_{suffix}", one)


def _quantile(name: str, found: QuantileComparison) -> EndpointResult:
    (treatment, treatment_open), (control, control_open) = _known(found.treatment), _known(found.control)
    row = EndpointResult(
        name=name,
        role="exploratory",
        unit="milliseconds",
        treatment=treatment,
        control=control,
        treatment_at_least=treatment_open,
        control_at_least=control_open,
        ratio=found.ratio.value,
        note=told(found.ratio.reason, "over all trials; the interval redraws whole tasks"),
    )
    return replace(row, interval=set_interval(found.ratio), note=told(row.note, _open_end(found.ratio)))


def _open_end(found: RatioEstimate) -> str:
    """Say why the interval of two finite quantiles is open, or starts at zero."""
    match found.values:
        case HalfLine() | Bounded(low=0.0) if found.value is not None:
            return "in some redraws a quantile lies beyond a time limit"
    return ""


def _known(found: ArmQuantile) -> tuple[float | None, bool]:
    """Return a quantile as far as it is known, and whether it is only a lower bound."""
    match found.value:
        case Observed(value=value):
            return value, False
        case AtLeast(value=value) | Between(low=value):
            return value, True
        case None:
            return None, False


def _restricted_mean(pair: Pair, resource: Resource, durations: _Durations) -> EndpointResult:
    found = compare_restricted_means(*durations, level=pair.level_of(resource.name))
    limit = "" if found.treatment_ms is None else "no trial was cut off, so this is the mean"
    if found.limit_ms is not None:
        limit = f"mean of the time or {found.limit_ms / 1000:.0f} s, whichever is first"
    row = EndpointResult(
        name=f"{resource.name}_restricted_mean",
        role="exploratory",
        unit="milliseconds",
        treatment=found.treatment_ms,
        control=found.control_ms,
        test="restricted_mean_t",
        note=told(found.ratio.reason, limit),
    )
    return with_contrast(row, found.ratio)


def _solved_alone(resource: Resource, durations: _Durations) -> Iterator[EndpointResult]:
    found = describe_solved(*durations, probabilities=(0.5,))
    if found is None:
        return
    both = f"{found.both_solved_tasks} tasks that both solved"
    yield EndpointResult(
        name=f"{resource.name}_solved_p50",
        role="exploratory",
        unit="milliseconds",
        treatment=found.treatment_ms[0] if found.treatment_ms else None,
        control=found.control_ms[0] if found.control_ms else None,
        ratio=found.both_solved_ratio,
        conditional=True,
        note=f"conditional on the outcome: the arms solve different trials; the ratio is over {both}",
    )
