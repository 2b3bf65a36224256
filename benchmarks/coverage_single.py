"""The only place for coverage by enumeration: every 2x2 table with its exact chance, nothing is simulated.

With several trials per task the same tables stand for tasks whose trials always agree, the hardest case for intervals
that count on variation within tasks.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

from analysis.statistics.discordance import low_discordance
from analysis.statistics.interval_methods import INTERVALS
from analysis.statistics.paired_table import PairedTable, mcnemar_exact, mcnemar_mid_p
from analysis.statistics.sample import FloatArray
from analysis.statistics.success_sample import SuccessSample, success_sample
from analysis.statistics.unconditional import mcnemar_exact_unconditional

LEVEL = 0.95
TASKS = (24, 89)
DISCORDANCE = (0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
DIFFERENCES = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3)
# Its limits depend on the split of the concordant tasks too, so three counts do not determine it.
NEEDS_FOUR_CELLS = frozenset({"newcombe10"})
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What a method does in one cell of the grid.

    Attributes:
        method: Name of the interval.
        trials: Trials per task and arm, all of which agree.
        n: Tasks.
        discordance: Chance that exactly one arm solves a task.
        difference: True difference.
        coverage: Chance that the interval holds it.
        above: Chance that the whole interval lies above the truth: a claim of more than there is.
        below: Chance that it lies below.
        width: Mean width.
        warned: Chance that the low-discordance warning is printed.
    """

    method: str
    trials: int
    n: int
    discordance: float
    difference: float
    coverage: float
    above: float
    below: float
    width: float
    warned: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NullCell:
    """Type I error of a test in one cell at a true difference of zero."""

    test: str
    n: int
    discordance: float
    type_one: float


TESTS: dict[str, Callable[[PairedTable], float]] = {
    "exact": mcnemar_exact,
    "mid_p": mcnemar_mid_p,
    "exact_unconditional": mcnemar_exact_unconditional,
}


def methods(*, trials: int) -> tuple[str, ...]:
    """Return the intervals whose limits are a function of gains, losses and the number of tasks."""
    return tuple(
        name
        for name, method in INTERVALS.items()
        if name not in NEEDS_FOUR_CELLS and (trials == 1 or method.trials != "one")
    )


def limits(method: str, *, n: int, trials: int = 1) -> tuple[FloatArray, FloatArray]:
    """Return lower and upper limits for every count of gains and losses, shape (n + 1, n + 1); NaN where impossible."""
    low, high = np.full((n + 1, n + 1), np.nan), np.full((n + 1, n + 1), np.nan)
    for gain in range(n + 1):
        for loss in range(n + 1 - gain):
            interval = INTERVALS[method].interval(_sample(gain, loss, n=n, trials=trials), level=LEVEL)
            low[gain, loss], high[gain, loss] = interval.low, interval.high
    return low, high


def chances(*, n: int, discordance: float, difference: float) -> FloatArray:
    """Return the chance of each count of gains and losses, shape (n + 1, n + 1)."""
    m = np.arange(n + 1)
    share = (discordance + difference) / (2 * discordance) if discordance else 0.5
    gains, losses = np.meshgrid(m, m, indexing="ij")
    inside = gains + losses <= n
    total = np.where(inside, gains + losses, 0)
    chance = binom.pmf(total, n, discordance) * binom.pmf(gains, total, min(1.0, share))
    return np.asarray(np.where(inside, chance, 0.0), dtype=np.float64)


def grid() -> Iterator[tuple[float, float]]:
    """Yield discordance and true difference; a difference cannot exceed the discordance."""
    for discordance in DISCORDANCE:
        for difference in DIFFERENCES:
            if difference <= discordance:
                yield discordance, difference
                if difference:
                    yield discordance, -difference


def coverage(method: str, *, n: int, trials: int = 1) -> tuple[Cell, ...]:
    """Return the method's exact properties in every cell of the grid."""
    low, high = limits(method, n=n, trials=trials)
    warned = _warned(n)
    return tuple(
        _cell(low, high, warned, discordance=discordance, difference=difference, method=method, trials=trials)
        for discordance, difference in grid()
    )


def _cell(
    low: FloatArray,
    high: FloatArray,
    warned: FloatArray,
    *,
    discordance: float,
    difference: float,
    method: str,
    trials: int,
) -> Cell:
    n = low.shape[0] - 1
    chance = chances(n=n, discordance=discordance, difference=difference)
    above = float(chance[low > difference + ROUNDING].sum())
    below = float(chance[high < difference - ROUNDING].sum())
    return Cell(
        method=method,
        trials=trials,
        n=n,
        discordance=discordance,
        difference=difference,
        coverage=1 - above - below,
        above=above,
        below=below,
        width=float(np.nansum(chance * (high - low))),
        warned=float((chance * warned).sum()),
    )


def _warned(n: int) -> FloatArray:
    """Return 1 for every table that gets the low-discordance warning, shape (n + 1, n + 1)."""
    warned = np.zeros((n + 1, n + 1))
    for gain in range(n + 1):
        for loss in range(n + 1 - gain):
            warned[gain, loss] = low_discordance(np.repeat([1, -1, 0], [gain, loss, n - gain - loss]))
    return warned


def _sample(gain: int, loss: int, *, n: int, trials: int) -> SuccessSample:
    counts, full = [gain, loss, n - gain - loss], np.full(n, trials)
    return success_sample(
        np.repeat([trials, 0, 0], counts), full, control_solved=np.repeat([0, trials, 0], counts), control_trials=full
    )


def wrongly_superior(method: str, *, n: int, minimum_effect: float) -> float:
    """Return the greatest chance, over all discordances, that two equal arms are called superior."""
    low, _ = limits(method, n=n)
    return max(
        float(chances(n=n, discordance=discordance, difference=0.0)[low > minimum_effect].sum())
        for discordance in dict.fromkeys(discordance for discordance, _ in grid())
    )


def type_one(test: str, *, n: int) -> tuple[NullCell, ...]:
    """Return how often the test rejects at 0.05 when both arms are equal."""
    p = np.ones((n + 1, n + 1))
    for gain in range(n + 1):
        for loss in range(n + 1 - gain):
            p[gain, loss] = TESTS[test](PairedTable(n11=0, n10=gain, n01=loss, n00=n - gain - loss))
    return tuple(
        NullCell(
            test=test,
            n=n,
            discordance=discordance,
            type_one=float(chances(n=n, discordance=discordance, difference=0.0)[p <= 1 - LEVEL + ROUNDING].sum()),
        )
        for discordance in DISCORDANCE
    )
