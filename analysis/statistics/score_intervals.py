"""The only place for intervals of a paired difference of proportions from one trial per task and arm.

Each takes the 2x2 table and a level, and gives treatment minus control as proportions in [-1, 1]. Tango's is the
default; Wald's is here because published tables use it, and must never be one: it has no width without discordance.
"""

import math

from scipy.optimize import brentq

from analysis.statistics.interval import Interval, bounded, normal_quantile
from analysis.statistics.paired_table import PairedTable


def tango(table: PairedTable, *, level: float) -> Interval:
    """Invert the score test of a paired difference.

    No discordance gives -z^2/(n+z^2) and its mirror image.

    References:
        Tango (1998), Stat Med 17:891-908, equations 13-16.
    """
    z = normal_quantile(level)
    low, high = (score_limit(table.n10, table.n01, n=table.n, z=sign * z) for sign in (1, -1))
    return bounded(low, high, level=level, method="tango")


def newcombe10(table: PairedTable, *, level: float) -> Interval:
    """Square and add the Wilson limits of the two margins, with the continuity-corrected correlation.

    References:
        Newcombe (1998), Stat Med 17:2635-2650, method 10.
    """
    z = normal_quantile(level)
    p_t, p_c = (table.n11 + table.n10) / table.n, (table.n11 + table.n01) / table.n
    (low_t, high_t), (low_c, high_c) = _wilson_limits(p_t, n=table.n, z=z), _wilson_limits(p_c, n=table.n, z=z)
    phi = _corrected_phi(table)
    below = _add_squares(p_t - low_t, high_c - p_c, phi=phi)
    above = _add_squares(high_t - p_t, p_c - low_c, phi=phi)
    return bounded(table.difference - below, table.difference + above, level=level, method="newcombe10")


def bonett_price(table: PairedTable, *, level: float) -> Interval:
    """Add one task to each discordant cell, then take Wald's interval.

    References:
        Bonett and Price (2012), J Educ Behav Stat 37:479-488.
    """
    return _adjusted_wald(table, added=1.0, level=level, method="bonett_price")


def agresti_min(table: PairedTable, *, level: float) -> Interval:
    """Add half a task to each of the four cells, then take Wald's interval.

    References:
        Agresti and Min (2005), Stat Med 24:729-740.
    """
    return _adjusted_wald(table, added=0.5, level=level, method="agresti_min")


def wald(table: PairedTable, *, level: float) -> Interval:
    """Take the estimate plus or minus z standard errors; zero width without discordance, so never a default."""
    gap = (table.n10 - table.n01) ** 2
    return _symmetric(table, gap=gap, level=level, method="wald")


def wald_cc(table: PairedTable, *, level: float) -> Interval:
    """Take Wald's interval with the corrected variance, from (|n10 - n01| - 1)^2.

    References:
        Fagerland, Lydersen and Laake (2014), Stat Med 33:2850-2875.
    """
    gap = (abs(table.n10 - table.n01) - 1) ** 2
    return _symmetric(table, gap=gap, level=level, method="wald_cc")


def score_limit(gain: float, loss: float, *, n: float, z: float) -> float:
    """Solve score(delta) = z for the difference; the score falls from +inf to -inf as delta rises.

    Args:
        gain: Pairs that only the treatment solved; may be a fraction where pairings were averaged.
        loss: Pairs that only the control solved.
        n: All pairs.
        z: Positive for the lower limit, negative for the upper.

    References:
        Tango (1998), equations 13-16.
    """
    estimate = (gain - loss) / n

    def excess(delta: float) -> float:
        b = (2 * n - gain + loss) * delta - gain - loss
        c = -loss * delta * (1 - delta)
        # The larger root, written so that it does not cancel: the product of the roots is c / (2 n).
        root = math.sqrt(max(0.0, b * b - 8 * n * c))
        p01 = (root - b) / (4 * n) if b <= 0 else -2 * c / (root + b) if c else 0.0
        variance = n * (2 * p01 + delta * (1 - delta))
        numerator = gain - loss - n * delta
        if variance <= 0:
            return math.copysign(math.inf, numerator) if numerator else -z
        return numerator / math.sqrt(variance) - z

    edge = 1 - 1e-12
    if z * excess(estimate) >= 0:
        # A level so low that the limit is the estimate to the last digit.
        return estimate
    if z > 0:
        return float(brentq(excess, -edge, estimate, xtol=1e-13)) if excess(-edge) > 0 else -1.0
    return float(brentq(excess, estimate, edge, xtol=1e-13)) if excess(edge) < 0 else 1.0


def _wilson_limits(p: float, *, n: int, z: float) -> tuple[float, float]:
    centre = (2 * n * p + z * z) / (2 * (n + z * z))
    half = z * math.sqrt(z * z + 4 * n * p * (1 - p)) / (2 * (n + z * z))
    return centre - half, centre + half


def _corrected_phi(table: PairedTable) -> float:
    margins = (table.n11 + table.n10) * (table.n01 + table.n00) * (table.n11 + table.n01) * (table.n10 + table.n00)
    if margins == 0:
        return 0.0
    cross = float(table.n11 * table.n00 - table.n10 * table.n01)
    if cross > 0:
        cross = max(cross - table.n / 2, 0.0)
    return cross / math.sqrt(margins)


def _add_squares(a: float, b: float, *, phi: float) -> float:
    return math.sqrt(max(0.0, a * a - 2 * phi * a * b + b * b))


def _adjusted_wald(table: PairedTable, *, added: float, level: float, method: str) -> Interval:
    n = table.n + 2
    gain, loss = (table.n10 + added) / n, (table.n01 + added) / n
    half = normal_quantile(level) * math.sqrt((gain + loss - (gain - loss) ** 2) / n)
    return bounded(gain - loss - half, gain - loss + half, level=level, method=method)


def _symmetric(table: PairedTable, *, gap: float, level: float, method: str) -> Interval:
    half = normal_quantile(level) * math.sqrt(max(0.0, table.discordant - gap / table.n)) / table.n
    return bounded(table.difference - half, table.difference + half, level=level, method=method)
