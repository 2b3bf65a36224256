"""The only place for the names of the intervals of a success difference, and for how many trials each one is.

A plan, a command option and the comparison all look a name up here, so a method that does not fit the data is refused
before it is computed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, Protocol

from analysis.statistics import clustered, score_intervals, task_intervals
from analysis.statistics.bootstrap import ideal_bca, ideal_percentile
from analysis.statistics.exact_interval import fay_lumbard
from analysis.statistics.interval import Interval
from analysis.statistics.paired_table import PairedTable
from analysis.statistics.sample import SampleError
from analysis.statistics.success_sample import SuccessSample
from analysis.statistics.task_score import task_score

Trials = Literal["one", "equal", "any"]

# Why these: docs/coverage/README.md.
DEFAULT_INTERVAL_SINGLE = "tango"
DEFAULT_INTERVAL_REPEATED = "task_score"


class Compute(Protocol):
    """Compute an interval from checked counts."""

    def __call__(self, sample: SuccessSample, *, level: float) -> Interval:
        """Return the interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalMethod:
    """A named interval of the difference in proportion solved.

    Attributes:
        name: The name a plan uses.
        trials: `one` trial per task and arm, `equal` numbers of trials, or `any`.
        recommended: False for methods that are here only for comparison with published tables.
        compute: The method itself.
    """

    name: str
    trials: Trials
    recommended: bool
    compute: Compute

    def fits(self, sample: SuccessSample) -> bool:
        """Tell whether the method is for this number of trials."""
        match self.trials:
            case "any":
                return True
            case "equal":
                return sample.trials is not None
            case "one":
                return sample.trials == 1

    def interval(self, sample: SuccessSample, *, level: float) -> Interval:
        """Return the interval of the sample's difference.

        Raises:
            SampleError: The method is not for this number of trials, or the level is not in (0, 1).
        """
        if not self.fits(sample):
            found = "unequal numbers of trials" if sample.trials is None else f"{sample.trials} trials per task"
            wanted = "one trial" if self.trials == "one" else f"{self.trials} numbers of trials"
            raise SampleError(f"interval {self.name} is for {wanted} per task and arm, found {found}")
        return self.compute(sample, level=level)


def interval_method(name: str) -> IntervalMethod:
    """Look a method up by name.

    Raises:
        SampleError: There is none of that name.
    """
    if name not in INTERVALS:
        raise SampleError(f"interval={name!r} is unknown, expected one of {', '.join(sorted(INTERVALS))}")
    return INTERVALS[name]


def default_method(sample: SuccessSample) -> IntervalMethod:
    """Return the method that decides when a plan names none."""
    return INTERVALS[DEFAULT_INTERVAL_SINGLE if sample.trials == 1 else DEFAULT_INTERVAL_REPEATED]


def _of_table(method: Callable[..., Interval]) -> Compute:
    def compute(sample: SuccessSample, *, level: float) -> Interval:
        table: PairedTable = sample.table
        return method(table, level=level)

    return compute


def _of_change(method: Callable[..., Interval]) -> Compute:
    def compute(sample: SuccessSample, *, level: float) -> Interval:
        return method(sample.change, scale=sample.scale, level=level)

    return compute


def _task_score(sample: SuccessSample, *, level: float) -> Interval:
    return task_score(sample.difference_by_task, level=level)


def _pseudo_task_t(sample: SuccessSample, *, level: float) -> Interval:
    return task_intervals.pseudo_task_t(sample.difference_by_task, trials=sample.harmonic_trials, level=level)


def _mj_floor(sample: SuccessSample, *, level: float) -> Interval:
    return task_intervals.mj_floor(sample.difference_by_task, level=level)


def _task_t(sample: SuccessSample, *, level: float) -> Interval:
    return task_intervals.task_t(sample.difference_by_task, level=level)


def _yang_score(sample: SuccessSample, *, level: float) -> Interval:
    trials = int(sample.treatment_trials[0])
    pairs = clustered.pair_trials(sample.treatment_solved, sample.control_solved, trials=trials)
    return clustered.yang_score(pairs, level=level)


def _method(name: str, trials: Trials, compute: Compute, *, recommended: bool = True) -> IntervalMethod:
    return IntervalMethod(name=name, trials=trials, recommended=recommended, compute=compute)


INTERVALS: Mapping[str, IntervalMethod] = MappingProxyType(
    {
        method.name: method
        for method in (
            _method("tango", "one", _of_table(score_intervals.tango)),
            _method("newcombe10", "one", _of_table(score_intervals.newcombe10)),
            _method("bonett_price", "one", _of_table(score_intervals.bonett_price)),
            _method("agresti_min", "one", _of_table(score_intervals.agresti_min)),
            _method("fay_lumbard", "one", _of_table(fay_lumbard)),
            _method("wald", "one", _of_table(score_intervals.wald), recommended=False),
            _method("wald_cc", "one", _of_table(score_intervals.wald_cc), recommended=False),
            _method("task_score", "any", _task_score),
            _method("pseudo_task_t", "any", _pseudo_task_t),
            _method("mj_floor", "any", _mj_floor),
            _method("yang_score", "equal", _yang_score),
            _method("task_t", "any", _task_t, recommended=False),
            _method("percentile", "any", _of_change(ideal_percentile), recommended=False),
            _method("bca", "any", _of_change(ideal_bca), recommended=False),
        )
    }
)
