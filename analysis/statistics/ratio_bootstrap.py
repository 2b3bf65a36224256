"""The only place for bootstrap intervals of a ratio over tasks, percentile and BCa; tasks are drawn whole.

Both are here because a plan may name them. The t interval on task influence values is the default: at the sizes of a
benchmark its coverage is closer to the level.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from scipy.special import ndtri

from analysis.statistics.bootstrap import acceleration, bca_share
from analysis.statistics.contrast import ROUNDING
from analysis.statistics.interval import Interval
from analysis.statistics.sample import FloatArray, SampleError, open_unit
from analysis.statistics.task_bootstrap import count_blocks

METHODS = ("percentile", "bca")
# How often each task was drawn, shape (rows, n_tasks), to the log ratio of each row, shape (rows,).
LogRatio = Callable[[FloatArray], FloatArray]


def of_sums(numerators: tuple[FloatArray, ...], denominators: tuple[FloatArray, ...]) -> LogRatio:
    """Return the log of a product of sums over a product of sums, as a function of how often each task was drawn.

    Args:
        numerators: Each of shape (n_tasks,), >= 0.
        denominators: Likewise. A sum of zero makes the ratio infinite; zero over zero says nothing and is infinite too.
    """
    columns = np.stack([*numerators, *denominators], axis=1)
    signs = np.array([1.0] * len(numerators) + [-1.0] * len(denominators))

    def log_ratio(counts: FloatArray) -> FloatArray:
        sums = counts @ columns
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.log(sums) @ signs
        return np.where(np.isnan(found), np.inf, found)

    return log_ratio


def of_means(change: FloatArray) -> LogRatio:
    """Return the mean of per-task differences of mean logarithms, shape (n_tasks,), as such a function."""
    return lambda counts: np.asarray(counts @ change / change.size)


def resampled_ratio(
    log_ratio: LogRatio, n_tasks: int, *, method: str, level: float, resamples: int, rng: Generator
) -> Interval | None:
    """Return a bootstrap interval of a ratio; None with one task or without variation.

    Args:
        log_ratio: From of_sums or of_means.
        n_tasks: Tasks.
        method: percentile or bca.
        level: Confidence level in (0, 1).
        resamples: Bootstrap resamples, >= 1.
        rng: The comparison's generator.

    Raises:
        SampleError: Another method, or a level outside (0, 1).

    References:
        Efron and Tibshirani (1993), chapters 13 and 14; whole clusters: Davison and Hinkley (1997), section 3.8.
    """
    if method not in METHODS:
        raise SampleError(f"method={method!r} must be one of {', '.join(METHODS)}")
    tail = (1 - open_unit(level, name="level")) / 2
    if n_tasks < 2:
        return None
    replicates = np.sort(
        np.concatenate([log_ratio(counts) for counts in count_blocks(n_tasks, resamples=resamples, rng=rng)])
    )
    ends = (tail, 1 - tail) if method == "percentile" else _corrected(log_ratio, replicates, n_tasks, tail=tail)
    low, high = (replicates[_place(share, resamples)] for share in ends)
    if not high - low > ROUNDING:
        return None
    return Interval(low=_exp(low), high=_exp(high), level=level, method=f"{method} bootstrap over tasks")


def _corrected(log_ratio: LogRatio, replicates: FloatArray, n_tasks: int, *, tail: float) -> tuple[float, float]:
    """Return the shares that bias and acceleration move the two ends to."""
    whole = np.ones((1, n_tasks))
    estimate = float(log_ratio(whole)[0])
    below = (np.sum(replicates < estimate) + np.sum(replicates == estimate) / 2) / replicates.size
    bias = float(ndtri(np.clip(below, 1 / replicates.size, 1 - 1 / replicates.size)))
    left_out = log_ratio(whole - np.eye(n_tasks))
    skew = acceleration(left_out) if np.isfinite(left_out).all() else 0.0
    low, high = (bca_share(share, bias=bias, acceleration=skew) for share in (tail, 1 - tail))
    return low, high


def _place(share: float, resamples: int) -> int:
    """Return the position of a quantile, taken outwards to whole replicates."""
    place = math.floor(share * resamples + 1e-9) if share < 0.5 else math.ceil(share * resamples - 1e-9) - 1
    return max(0, min(place, resamples - 1))


def _exp(value: float) -> float:
    return math.inf if math.isinf(value) and value > 0 else math.exp(value)
