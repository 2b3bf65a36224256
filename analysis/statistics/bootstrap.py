"""The only place for the seedless bootstrap of the mean task difference: what resampling converges to, computed.

The bootstrap distribution of a mean of n integers is the n-fold convolution of their relative frequencies, so the
"ideal" interval (infinitely many resamples) needs no random numbers and two people get the same digits. It is kept to
reproduce published percentile intervals; with few discordant tasks it is too short, so it is never the default.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtr, ndtri

from analysis.statistics.interval import Interval
from analysis.statistics.sample import FloatArray, IntArray, SampleError, open_unit, whole_numbers

# A quantile that falls on a step within rounding error belongs to that step.
STEP_TOLERANCE = 1e-11
# Mass outside the window of the Fourier sum, by Hoeffding's inequality.
WINDOW_LOG_MASS = 37.0
LARGEST_WINDOW = 2**24


def ideal_percentile(change: IntArray | Sequence[int], *, scale: int, level: float) -> Interval:
    """Return the percentile interval of infinitely many resamples of tasks.

    Without discordance both limits equal the estimate.

    Args:
        change: Treatment minus control per task, shape (n_tasks,), integers.
        scale: What the differences were multiplied by, so that change / scale lies in [-1, 1].
        level: Confidence level in (0, 1).

    Raises:
        SampleError: No task, anything but integers, or scale < 1.

    References:
        Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 13.
    """
    tail = (1 - open_unit(level, name="level")) / 2
    resampled = _resampled_sum(_checked(change, scale=scale))
    low, high = resampled.quantile(tail), resampled.quantile(1 - tail)
    return _interval(low, high, n=len(change), scale=scale, level=level, method="percentile")


def ideal_bca(change: IntArray | Sequence[int], *, scale: int, level: float) -> Interval:
    """Return the bias-corrected and accelerated interval of infinitely many resamples of tasks.

    Ties with the estimate count half in the bias correction. Without discordance both limits equal the estimate.

    Args:
        change: As for `ideal_percentile`.
        scale: As for `ideal_percentile`.
        level: Confidence level in (0, 1).

    Raises:
        SampleError: As for `ideal_percentile`.

    References:
        Efron (1987), JASA 82:171-185.
    """
    tail = (1 - open_unit(level, name="level")) / 2
    values = _checked(change, scale=scale)
    resampled = _resampled_sum(values)
    if resampled.step == 0:
        return _interval(resampled.origin, resampled.origin, n=values.size, scale=scale, level=level, method="bca")
    bias = float(ndtri(resampled.mid_rank(int(values.sum()))))
    acceleration = _mean_acceleration(values.astype(np.float64))
    low, high = (resampled.quantile(bca_share(p, bias=bias, acceleration=acceleration)) for p in (tail, 1 - tail))
    return _interval(low, high, n=values.size, scale=scale, level=level, method="bca")


def bca_share(probability: float, *, bias: float, acceleration: float) -> float:
    """Return the share of the bootstrap distribution at which BCa reads a limit.

    The correction has a pole; beyond it, at levels very near 1, the limit is the farthest that resampling can give.

    References:
        Efron (1987), JASA 82:171-185, equation 2.3.
    """
    z = bias + float(ndtri(probability))
    rest = 1 - acceleration * z
    return float(ndtr(bias + z / rest)) if rest > 0 else float(z > 0)


def acceleration(leave_one_out: FloatArray) -> float:
    """Return the acceleration constant from the n estimates that leave one unit out; 0 when they are all equal.

    References:
        Efron and Tibshirani (1993), equation 14.15.
    """
    deviation = leave_one_out.mean() - leave_one_out
    squares = float(deviation @ deviation)
    return float((deviation**3).sum()) / (6 * math.pow(squares, 1.5)) if squares > 0 else 0.0


def jackknife_se(leave_one_out: FloatArray) -> float:
    """Return the jackknife standard error from the n estimates that leave one unit out.

    References:
        Efron and Tibshirani (1993), equation 11.5.
    """
    n = leave_one_out.size
    deviation = leave_one_out - leave_one_out.mean()
    return math.sqrt((n - 1) / n * float(deviation @ deviation))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lattice:
    """Distribution of an integer sum: value origin + step * i has probability mass[i]; step 0 is a constant."""

    origin: int
    step: int
    mass: FloatArray
    cumulative: FloatArray

    def quantile(self, probability: float) -> int:
        """Return the smallest value whose cumulative probability reaches the given one."""
        i = int(np.searchsorted(self.cumulative, probability - STEP_TOLERANCE))
        return self.origin + self.step * min(i, self.mass.size - 1)

    def mid_rank(self, value: int) -> float:
        """Return P(sum < value) + P(sum = value) / 2."""
        i = (value - self.origin) // self.step
        return float(self.cumulative[i] - self.mass[i] / 2)


def _checked(change: IntArray | Sequence[int], *, scale: int) -> IntArray:
    if isinstance(scale, bool) or scale < 1:
        raise SampleError(f"scale={scale!r} must be a whole number >= 1")
    values = whole_numbers(change, name="change")
    if (np.abs(values) > scale).any():
        i = int(np.argmax(np.abs(values) > scale))
        raise SampleError(f"change[{i}]={values[i]} exceeds scale={scale}")
    return values


def _resampled_sum(values: IntArray) -> _Lattice:
    """Return the distribution of the sum of n draws, with replacement, from the values."""
    least = int(values.min())
    steps = values - least
    step = int(np.gcd.reduce(steps))
    n = values.size
    if step == 0:
        return _Lattice(origin=n * least, step=0, mass=np.ones(1), cumulative=np.ones(1))
    steps = steps // step
    span = int(steps.max())
    centre = int(steps.sum())
    reach = math.ceil(span * math.sqrt(n * WINDOW_LOG_MASS / 2))
    first, last = max(0, centre - reach), min(n * span, centre + reach)
    window = next_fast_len(max(last - first, span) + 1, real=True)
    if window > LARGEST_WINDOW:
        raise SampleError(f"differences spread over {window} steps, expected at most {LARGEST_WINDOW}")
    transform = rfft(np.bincount(steps, minlength=window) / n) ** n
    # The sum is known modulo the window only; turning it puts `first` at index 0.
    mass = np.clip(np.roll(irfft(transform, window), -(first % window))[: last - first + 1], 0, None)
    mass = np.asarray(mass, dtype=np.float64)
    cumulative = np.cumsum(mass)
    return _Lattice(origin=n * least + step * first, step=step, mass=mass, cumulative=cumulative / cumulative[-1])


def _mean_acceleration(values: FloatArray) -> float:
    """Return the acceleration of a mean, which needs no leave-one-out estimates."""
    deviation = values - values.mean()
    squares = float(deviation @ deviation)
    return float((deviation**3).sum()) / (6 * math.pow(squares, 1.5))


def _interval(low: int, high: int, *, n: int, scale: int, level: float, method: str) -> Interval:
    return Interval(low=low / (n * scale), high=high / (n * scale), level=level, method=method)
