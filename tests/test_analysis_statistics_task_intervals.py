"""Intervals over several trials per task, and the seedless bootstrap."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analysis.statistics import bootstrap
from analysis.statistics.bootstrap import acceleration, bca_share, ideal_bca, ideal_percentile, jackknife_se
from analysis.statistics.interval import Interval, normal_quantile
from analysis.statistics.sample import SampleError
from analysis.statistics.task_intervals import harmonic_trials, mj_floor, pseudo_task_t, task_t

proportions = st.lists(st.sampled_from([-1, -2 / 3, -1 / 3, 0, 1 / 3, 2 / 3, 1]), min_size=2, max_size=30)
OMK24 = [0] * 19 + [1] * 2 + [-1] * 3


def test_t_against_scipy() -> None:
    d = [1 / 3, 0, -1 / 3, 2 / 3, 1, 0]
    referee = stats.ttest_1samp(d, 0).confidence_interval(0.9)
    interval = task_t(d, level=0.9)
    assert (interval.low, interval.high) == pytest.approx((referee.low, referee.high), rel=1e-12)


def three_trials(change: list[float], *, level: float) -> Interval:
    return pseudo_task_t(change, trials=3, level=level)


@pytest.mark.parametrize("method", [three_trials, mj_floor, task_t])
@given(change=proportions)
def test_swapping_arms_negates_and_order_does_not_matter(method: Callable[..., Interval], change: list[float]) -> None:
    there, back = method(change, level=0.95), method([-d for d in change], level=0.95)
    assert (back.low, back.high) == pytest.approx((-there.high, -there.low), abs=1e-12)
    again = method(sorted(change), level=0.95)
    assert (again.low, again.high) == pytest.approx((there.low, there.high), abs=1e-12)


def test_mj_floor_without_discordance_against_theory() -> None:
    z2 = normal_quantile(0.95) ** 2
    interval = mj_floor([0.0] * 24, level=0.95)
    assert interval.high == pytest.approx(z2 / 2 / (24 + z2), rel=1e-12)
    assert interval.low == -interval.high


def test_pseudo_tasks_without_discordance_against_theory() -> None:
    interval = pseudo_task_t([0.0] * 24, trials=4, level=0.95)
    # Two values of 1/2 among 26: the variance is (1/2) / 25.
    assert interval.high == pytest.approx(stats.t.ppf(0.975, 25) * math.sqrt(0.5 / 25 / 26), rel=1e-12)


def test_one_task_degenerate() -> None:
    assert pseudo_task_t([0.5], trials=2, level=0.95).width > 1
    assert mj_floor([0.5], level=0.95).width > 0.5
    with pytest.raises(SampleError, match="1 task"):
        task_t([0.5], level=0.95)


@pytest.mark.parametrize("bad", [[math.nan], [math.inf], [1.2], [], ["0.1"], [True], [[0.1]]])
def test_values_that_are_no_difference_are_refused(bad: list[float]) -> None:
    with pytest.raises(SampleError, match="change"):
        mj_floor(bad, level=0.95)


@pytest.mark.parametrize("trials", [0, 0.5, math.nan, math.inf])
def test_less_than_one_trial_is_refused(trials: float) -> None:
    with pytest.raises(SampleError, match="trials="):
        pseudo_task_t([0.1, 0.2], trials=trials, level=0.95)


def test_unequal_trials_are_averaged_as_their_variance_is() -> None:
    assert harmonic_trials([1, 2], [2, 4]) == pytest.approx(1 / np.mean([1, 0.5, 0.5, 0.25]))
    assert harmonic_trials([3, 3], [3, 3]) == pytest.approx(3)
    with pytest.raises(SampleError, match="trials"):
        harmonic_trials([0, 1], [1, 1])


def test_percentile_reproduces_the_published_interval_of_24_tasks() -> None:
    interval = ideal_percentile(OMK24, scale=1, level=0.95)
    assert (round(100 * interval.low, 2), round(100 * interval.high, 2)) == (-20.83, 12.5)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_percentile_and_bca_against_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    change = rng.binomial(3, 0.6, 40) - rng.binomial(3, 0.5, 40)
    data = (change.astype(np.float64),)
    percentile = stats.bootstrap(data, np.mean, n_resamples=40_000, method="percentile", rng=rng).confidence_interval
    bca = stats.bootstrap(data, np.mean, n_resamples=40_000, method="BCa", rng=rng).confidence_interval
    for method, referee in ((ideal_percentile, percentile), (ideal_bca, bca)):
        ours = method(change, scale=3, level=0.95)
        # One step of the lattice is 1/(3 * 40); a Monte Carlo quantile may land on the next one.
        assert (ours.low, ours.high) == pytest.approx((referee.low / 3, referee.high / 3), abs=1.01 / 120)


@settings(deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=4))
def test_percentile_against_enumeration(change: list[int]) -> None:
    n = len(change)
    sums = sorted(sum(change[i // n**k % n] for k in range(n)) for i in range(n**n))
    position = math.ceil(0.05 * len(sums) - 1e-9) - 1
    assert ideal_percentile(change, scale=3, level=0.9).low == pytest.approx(sums[position] / (3 * n))


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=20))
def test_swapping_arms_negates_the_bootstrap_interval(change: list[int]) -> None:
    # A lattice quantile is the smallest value that reaches the level, so the mirror may differ by one step.
    step = 1 / len(change)
    for method in (ideal_percentile, ideal_bca):
        there = method(change, scale=3, level=0.95)
        back = method([-d for d in change], scale=3, level=0.95)
        assert (back.low, back.high) == pytest.approx((-there.high, -there.low), abs=2 * step)


@pytest.mark.parametrize("level", [0.95, 0.999999, 1 - 1e-12, 1 - 1e-16])
@pytest.mark.parametrize("change", [[0] * 30 + [1], [1] + [-1] * 40, [0, 0, 1], [-1] + [0] * 50])
def test_bca_beyond_its_pole_reaches_as_far_as_resampling_does_degenerate(change: list[int], level: float) -> None:
    narrower, found = ideal_bca(change, scale=1, level=0.9), ideal_bca(change, scale=1, level=level)
    assert found.low <= narrower.low <= narrower.high <= found.high
    assert bca_share(1 - 1e-12, bias=0, acceleration=1 / 6) == 1
    assert bca_share(1e-12, bias=0, acceleration=-1 / 6) == 0


def test_bootstrap_without_discordance_is_a_point_degenerate() -> None:
    for method in (ideal_percentile, ideal_bca):
        interval = method([1, 1, 1], scale=2, level=0.95)
        assert (interval.low, interval.high) == (0.5, 0.5)


@pytest.mark.parametrize(
    ("change", "scale", "message"),
    [
        ([], 1, "shape"),
        ([2], 1, "exceeds scale=1"),
        ([1], 0, "scale=0"),
        ([1], True, "scale=True"),
        ([0.5], 1, "float"),
    ],
)
def test_bootstrap_refuses_what_it_cannot_use(change: list[int], scale: int, message: str) -> None:
    for method in (ideal_percentile, ideal_bca):
        with pytest.raises(SampleError, match=message):
            method(change, scale=scale, level=0.95)


def test_bootstrap_refuses_a_scale_that_does_not_fit() -> None:
    with pytest.raises(SampleError, match="spread over"):
        ideal_percentile([0, 1, 2_000_000_011], scale=2_000_000_011, level=0.95)


def test_ten_thousand_tasks_fit_the_window_against_theory() -> None:
    change = np.repeat([1, 0, -1], [3000, 5000, 2000])
    interval = ideal_percentile(change, scale=1, level=0.95)
    se = math.sqrt((0.5 - 0.01) / 10_000)
    assert (interval.low, interval.high) == pytest.approx((0.1 - 1.96 * se, 0.1 + 1.96 * se), abs=2e-4)


def test_law_school_jackknife_against_efron_and_tibshirani() -> None:
    lsat = np.array([576, 635, 558, 578, 666, 580, 555, 661, 651, 605, 653, 575, 545, 572, 594], dtype=float)
    gpa = np.array([3.39, 3.3, 2.81, 3.03, 3.44, 3.07, 3.0, 3.43, 3.36, 3.13, 3.12, 2.74, 2.76, 2.88, 2.96])
    keep = ~np.eye(15, dtype=bool)
    leave_one_out = np.array([np.corrcoef(lsat[k], gpa[k])[0, 1] for k in keep])
    assert jackknife_se(leave_one_out) == pytest.approx(0.1425, abs=5e-5)
    assert acceleration(leave_one_out) == pytest.approx(-0.0757, abs=5e-5)
    assert acceleration(np.ones(4)) == 0
    # A mean's acceleration needs no leave-one-out estimates.
    means = np.array([lsat[k].mean() for k in keep])
    assert bootstrap._mean_acceleration(lsat) == pytest.approx(acceleration(means), rel=1e-9)
