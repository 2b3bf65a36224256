"""The only place for the score interval of several trials per task: Tango's, on tasks that may differ by less than one.

Where all trials of a task agree, several trials tell no more than one, and only a variance taken under the hypothesis
keeps the error of a verdict: that is Tango's idea, and this interval is exactly Tango's on such data.
"""

from collections.abc import Sequence

import numpy as np

from analysis.statistics.interval import Interval, bounded, normal_quantile
from analysis.statistics.sample import FloatArray, finite_numbers, open_unit
from analysis.statistics.score_intervals import score_limit
from analysis.statistics.task_intervals import Limits

# Imagined tasks whose arms differ fully. They do not move the estimate; they keep the step from being small only
# because no large difference was seen. Chosen by the coverage study: with 0 or a half, the one-sided error passes .04
# where trials nearly always agree; with 2, intervals are wider for no gain.
FULL_STEPS = 1.0
# Each halving of [-1, 1] is exact; after 60 nothing is left to halve.
HALVINGS = 60


def task_score(change: FloatArray | Sequence[float], *, level: float) -> Interval:
    """Invert Tango's score test on task differences, read as gains and losses of one common step.

    With d the differences, the step is (sum d^2 + 1) / (sum |d| + 1): the mean size of a difference, weighted by
    itself, with one imagined task that the arms split fully. In units of the step there are sum d+ / step gains and
    sum d- / step losses among n tasks; Tango's limits for them, times the step, are the interval. The estimate is the
    mean of d, and the variance that is implied is never below the observed one.

    If every difference is -1, 0 or 1 the step is 1, and the interval is Tango's, whatever the number of trials. No
    discordance gives -z^2/(n+z^2) and its mirror image. One task gives a wide interval, not an error.

    Args:
        change: Treatment minus control per task, shape (n_tasks,), each in [-1, 1].
        level: Confidence level in (0, 1).

    Raises:
        SampleError: No task, or a difference outside [-1, 1].

    References:
        Tango (1998), Stat Med 17:891-908, equations 13-16. The step is ours: docs/coverage/README.md.
    """
    d = finite_numbers(change, name="change", low=-1, high=1)
    z = normal_quantile(open_unit(level, name="level"))
    gain, loss, step = (float(value) for value in effective_counts(d))
    low, high = (step * score_limit(gain, loss, n=d.size, z=sign * z) for sign in (1, -1))
    return bounded(low, high, level=level, method="task_score")


def task_score_limits(change: FloatArray, *, level: float) -> Limits:
    """Return the unchecked limits of `task_score` along the last axis, for many data sets at once.

    Args:
        change: Shape (..., n_tasks).
        level: Confidence level in (0, 1).
    """
    gain, loss, step = effective_counts(change)
    z, n = normal_quantile(level), change.shape[-1]
    # The arms change places for the upper limit, so that one search serves both.
    return step * _lower(gain, loss, n=n, z=z), -step * _lower(loss, gain, n=n, z=z)


def effective_counts(change: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return gains, losses and the step that they are counted in, along the last axis; gains + losses <= n_tasks."""
    up, down = np.maximum(change, 0).sum(axis=-1), np.maximum(-change, 0).sum(axis=-1)
    step = ((change**2).sum(axis=-1) + FULL_STEPS) / (up + down + FULL_STEPS)
    return up / step, down / step, step


def _lower(gain: FloatArray, loss: FloatArray, *, n: int, z: float) -> FloatArray:
    """Return `score_limit` for a positive z, by halving [-1, estimate] for all data sets at once."""
    low, high = np.full(np.shape(gain), -1.0), np.asarray((gain - loss) / n)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        beyond = gain - loss - n * middle > z * np.sqrt(_null_variance(middle, gain=gain, loss=loss, n=n))
        low, high = np.where(beyond, middle, low), np.where(beyond, high, middle)
    return np.asarray((low + high) / 2)


def _null_variance(delta: FloatArray, *, gain: FloatArray, loss: FloatArray, n: int) -> FloatArray:
    """Return the variance of gains minus losses at a difference, with the discordance most likely under it."""
    b = (2 * n - gain + loss) * delta - gain - loss
    c = -loss * delta * (1 - delta)
    root = np.sqrt(np.maximum(0, b * b - 8 * n * c))
    # As in `score_limit`: the larger root, in the form that does not cancel.
    stable = np.divide(-2 * c, root + b, out=np.zeros_like(c), where=(b > 0) & (c != 0))
    share = np.where(b <= 0, (root - b) / (4 * n), stable)
    return np.asarray(np.maximum(0, n * (2 * share + delta * (1 - delta))))
