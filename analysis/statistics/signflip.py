"""The only place for the exact test of success: task-level sign flips, for any number of trials, without a seed.

Under the null hypothesis the two harnesses are exchangeable within each task, so each task's difference is as likely
to have the other sign. The task is the unit: trials are never pooled. Differences are integers on a common scale, so
ties are exact. With one trial per task the test is the exact McNemar test.

Small samples are counted in one big integer (Kronecker substitution). Large ones use the characteristic function of
the exponentially tilted sum, which keeps the relative accuracy of a p-value of 1e-100 as well as that of 0.05.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from scipy.fft import irfft, next_fast_len
from scipy.optimize import brentq
from scipy.special import expit

from analysis.statistics.sample import FloatArray, IntArray, SampleError, same_length, whole_numbers

Alternative = Literal["two-sided", "greater", "less"]

# Bits touched by the big-integer count; above it the tilted sum is faster.
EXACT_COUNT_BITS = 5_000_000
# Mass that may fall outside the window of the Fourier sum, by Hoeffding's inequality.
WINDOW_LOG_MASS = 46.8
LARGEST_WINDOW = 2**23


@dataclass(frozen=True, slots=True, kw_only=True)
class SignFlip:
    """Result of a task-level sign-flip test.

    Attributes:
        p_exact: Probability, under the null, of a sum at least as extreme; in (0, 1]. A value below the smallest
            normal float is given as that float.
        p_mid: The same with half the probability of the observed sum; in (0, 1].
        statistic: Sum of the integer differences; positive favours the treatment.
        n_nonzero: Tasks whose difference is not zero.
    """

    p_exact: float
    p_mid: float
    statistic: int
    n_nonzero: int


def sign_flip(change: IntArray | Sequence[int], *, alternative: Alternative = "two-sided") -> SignFlip:
    """Test that each task's difference is symmetric about zero, by its exact permutation distribution.

    No discordance at all gives p = 1 for both p-values: the data say nothing.

    Args:
        change: Treatment minus control per task, shape (n_tasks,), integers on a common scale.
        alternative: `greater` asks whether the treatment is better.

    Raises:
        SampleError: No task, or anything but integers.

    References:
        Fisher (1935), The Design of Experiments, section 21. Pagano and Tritchler (1983), JASA 78:435-440.
        Lancaster (1961), JASA 56:223-234 (mid-p).
    """
    values = whole_numbers(change, name="change")
    sizes = _nonzero_sizes(values)
    statistic = int(values.sum())
    if not sizes:
        return SignFlip(p_exact=1.0, p_mid=1.0, statistic=0, n_nonzero=0)
    at_least, exactly = _tail(*_reduced(sizes, _oriented(statistic, alternative=alternative)))
    p_exact, p_mid = _p_values(at_least, exactly, statistic=statistic, alternative=alternative)
    return SignFlip(p_exact=p_exact, p_mid=p_mid, statistic=statistic, n_nonzero=len(sizes))


def sign_flip_rational(change: IntArray | Sequence[int], *, alternative: Alternative = "two-sided") -> Fraction:
    """Return the exact p-value of `sign_flip` as a fraction.

    Time grows faster than the square of the number of discordant tasks: 25 ms at 1,000 tasks, 1 s at 3,000, minutes at
    10,000.

    Args:
        change: As for `sign_flip`.
        alternative: As for `sign_flip`.

    Raises:
        SampleError: As for `sign_flip`.
    """
    values = whole_numbers(change, name="change")
    sizes = _nonzero_sizes(values)
    statistic = int(values.sum())
    if not sizes or (alternative == "two-sided" and statistic == 0):
        return Fraction(1)
    at_least, _ = _count(*_reduced(sizes, _oriented(statistic, alternative=alternative)))
    sides = 2 if alternative == "two-sided" else 1
    return Fraction(sides * at_least, 2 ** len(sizes))


def integer_change(
    treatment_solved: IntArray | Sequence[int],
    treatment_trials: IntArray | Sequence[int],
    *,
    control_solved: IntArray | Sequence[int],
    control_trials: IntArray | Sequence[int],
) -> tuple[IntArray, int]:
    """Return each task's difference in proportion solved as an integer, and the scale it was multiplied by.

    The scale is the least common multiple of all trial counts, so that unequal counts stay exact.

    Args:
        treatment_solved: Trials solved per task, shape (n_tasks,).
        treatment_trials: Trials per task, >= 1.
        control_solved: The control's, same tasks in the same order.
        control_trials: The control's.

    Returns:
        `(change, scale)`: change / scale is the difference in [-1, 1].

    Raises:
        SampleError: Lengths differ, no trial in a task, more solved than tried, or a scale too large to hold.
    """
    solved_t, trials_t = _solved_of_trials(treatment_solved, treatment_trials, arm="treatment")
    solved_c, trials_c = _solved_of_trials(control_solved, control_trials, arm="control")
    same_length(treatment_trials=trials_t, control_trials=trials_c)
    scale = math.lcm(*{int(k) for k in np.concatenate([trials_t, trials_c])})
    if scale >= 2**31:
        raise SampleError(f"the trial counts' least common multiple {scale} is too large, expected below 2^31")
    return solved_t * (scale // trials_t) - solved_c * (scale // trials_c), scale


def _solved_of_trials(
    solved: IntArray | Sequence[int], trials: IntArray | Sequence[int], *, arm: str
) -> tuple[IntArray, IntArray]:
    of = whole_numbers(trials, name=f"{arm}_trials", minimum=1)
    some = whole_numbers(solved, name=f"{arm}_solved", minimum=0)
    same_length(**{f"{arm}_solved": some, f"{arm}_trials": of})
    if (some > of).any():
        i = int(np.argmax(some > of))
        raise SampleError(f"{arm}_solved[{i}]={some[i]} exceeds {arm}_trials[{i}]={of[i]}")
    return some, of


def _nonzero_sizes(change: IntArray) -> list[int]:
    """Return the sizes as Python integers: the usual study is counted in them, faster than numpy starts."""
    sizes: list[int] = np.abs(change[change != 0]).tolist()
    return sizes


def _reduced(sizes: list[int], statistic: int) -> tuple[list[int], int]:
    """Return sizes and statistic in the largest step that divides them all."""
    divisor = math.gcd(*sizes)
    return (sizes, statistic) if divisor == 1 else ([size // divisor for size in sizes], statistic // divisor)


def _oriented(statistic: int, *, alternative: Alternative) -> int:
    """Return the statistic turned so that the tail in question is the upper one."""
    match alternative:
        case "two-sided":
            return abs(statistic)
        case "greater":
            return statistic
        case "less":
            return -statistic
        case _:
            raise SampleError(f"alternative={alternative!r}, expected two-sided, greater or less")


def _p_values(at_least: float, exactly: float, *, statistic: int, alternative: Alternative) -> tuple[float, float]:
    if alternative != "two-sided":
        exact, mid = at_least, at_least - exactly / 2
    elif statistic == 0:
        exact, mid = 1.0, 1 - exactly / 2
    else:
        exact, mid = 2 * at_least, 2 * at_least - exactly
    smallest = sys.float_info.min
    return min(1.0, max(smallest, exact)), min(1.0, max(smallest, mid))


def _tail(sizes: list[int], statistic: int) -> tuple[float, float]:
    """Return P(S >= statistic) and P(S = statistic) for S = sum of the sizes with random signs."""
    if len(sizes) ** 2 * sum(sizes) <= EXACT_COUNT_BITS:
        at_least, exactly = _count(sizes, statistic)
        signs = 2 ** len(sizes)
        return at_least / signs, exactly / signs
    return _tilted_tail(np.array(sizes, dtype=np.int64), statistic)


def _count(sizes: list[int], statistic: int) -> tuple[int, int]:
    """Count the sign patterns whose sum is at least, and exactly, the statistic.

    The number of subsets with each sum are the digits of one integer in base 2^(n+1), which no digit can overflow.
    """
    digit = len(sizes) + 1
    counts = 1
    for size in sizes:
        counts += counts << (size * digit)
    total = sum(sizes)
    # A sum of signed sizes S means that the positive ones add up to (S + total) / 2.
    upper = counts >> ((statistic + total) // 2 * digit)
    # A number is congruent to the sum of its digits modulo base - 1, and that sum is at most 2^n.
    return upper % ((1 << digit) - 1), upper & ((1 << digit) - 1)


def _tilted_tail(sizes: IntArray, statistic: int) -> tuple[float, float]:
    """Return the tail by Fourier inversion of the distribution tilted so that its mean is at the observed value.

    References:
        Esscher (1932), Skandinavisk Aktuarietidskrift 15:175-195. Hoeffding (1963), JASA 58:13-30 (the window).
    """
    if statistic < 0:
        at_least, exactly = _tilted_tail(sizes, -statistic)
        return 1 - (at_least - exactly), exactly
    distinct, counts = np.unique(sizes, return_counts=True)
    total = int(sizes.sum())
    observed = (statistic + total) // 2
    if observed == total:
        return 0.5**sizes.size, 0.5**sizes.size
    tilt = _tilt(distinct, counts, target=observed)
    reach = math.ceil(math.sqrt(WINDOW_LOG_MASS / 2 * float((sizes.astype(np.float64) ** 2).sum())))
    up, down = min(reach, total - observed), min(reach, observed)
    if up + down > LARGEST_WINDOW:
        raise SampleError(
            f"differences spread over {up + down} steps, expected at most {LARGEST_WINDOW}; use a coarser scale"
        )
    # Index 0 is the observed value; lattice points below it wrap around to the end of the window.
    window = next_fast_len(up + down + 1, real=True)
    mass = _tilted_mass(distinct, counts, tilt=tilt, observed=observed, window=window)
    above = np.arange(up + 1)
    log_scale = float(counts @ np.logaddexp(0.0, tilt * distinct)) - sizes.size * math.log(2) - tilt * observed
    scale = math.exp(log_scale)
    at_least = scale * float(np.clip(mass[above], 0, None) @ np.exp(-tilt * above))
    return at_least, scale * max(0.0, float(mass[0]))


def _tilt(distinct: IntArray, counts: IntArray, *, target: int) -> float:
    """Return the exponent that moves the mean of the positive part to the target."""
    if 2 * target == int(distinct @ counts):
        return 0.0

    def excess(tilt: float) -> float:
        return float((counts * distinct) @ expit(tilt * distinct)) - target

    bound = 1.0 / float(distinct.max())
    while excess(bound) < 0 or excess(-bound) > 0:
        bound *= 2
    return float(brentq(excess, -bound, bound))


def _tilted_mass(distinct: IntArray, counts: IntArray, *, tilt: float, observed: int, window: int) -> FloatArray:
    frequency = 2 * np.pi * np.arange(window // 2 + 1) / window
    transform = np.exp(1j * np.mod(frequency * observed, 2 * np.pi))
    for size, count in zip(distinct.tolist(), counts.tolist(), strict=True):
        positive = float(expit(tilt * size))
        transform *= ((1 - positive) + positive * np.exp(-1j * frequency * size)) ** count
    return np.asarray(irfft(transform, window), dtype=np.float64)
