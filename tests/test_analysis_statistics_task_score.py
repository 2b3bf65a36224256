"""The score interval of several trials per task."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from analysis.statistics.interval import normal_quantile
from analysis.statistics.interval_methods import INTERVALS
from analysis.statistics.paired_table import PairedTable
from analysis.statistics.sample import SampleError
from analysis.statistics.score_intervals import tango
from analysis.statistics.success_sample import success_sample
from analysis.statistics.task_score import effective_counts, task_score, task_score_limits

thirds = st.lists(st.sampled_from([-1, -2 / 3, -1 / 3, 0, 1 / 3, 2 / 3, 1]), min_size=1, max_size=30)


@pytest.mark.parametrize("n", [1, 7, 24])
def test_trials_that_always_agree_give_tangos_interval_against_enumeration(n: int) -> None:
    for gain in range(n + 1):
        for loss in range(n + 1 - gain):
            ties = n - gain - loss
            referee = tango(PairedTable(n11=ties, n10=gain, n01=loss, n00=0), level=0.95)
            ours = task_score(np.repeat([1.0, -1.0, 0.0], [gain, loss, ties]), level=0.95)
            assert (ours.low, ours.high) == (referee.low, referee.high)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
def test_a_limit_is_where_the_score_statistic_is_z_against_theory(level: float) -> None:
    d = np.array([1, 2 / 3, 1 / 3, 1 / 3, 0, 0, 0, 0, 0, -1 / 3, 1, 2 / 3, 0, 0, -2 / 3])
    gain, loss, step = (float(value) for value in effective_counts(d))
    interval = task_score(d, level=level)
    for limit, side in ((interval.low, 1), (interval.high, -1)):
        delta = limit / step
        # The share of losses most likely at this difference, found by search, not by Tango's formula.
        edges = (max(0.0, -delta), (1 - delta) / 2)

        def unlikely(share: float, delta: float = delta) -> float:
            ties = d.size - gain - loss
            terms = ((gain, share + delta), (loss, share), (ties, 1 - 2 * share - delta))
            return -sum(count * math.log(max(chance, 1e-300)) for count, chance in terms)

        share = float(minimize_scalar(unlikely, bounds=edges, method="bounded", options={"xatol": 1e-12}).x)
        score = (gain - loss - d.size * delta) / math.sqrt(d.size * (2 * share + delta - delta**2))
        assert score == pytest.approx(side * normal_quantile(level), rel=1e-5)


@settings(deadline=None)
@given(change=thirds)
def test_a_level_near_zero_gives_the_estimate_and_one_near_one_everything_between_degenerate(
    change: list[float],
) -> None:
    low, high = task_score(change, level=1e-300), task_score(change, level=1 - 1e-16)
    mean = float(np.mean(change))
    assert (low.low, low.high) == pytest.approx((mean, mean), abs=1e-9)
    assert -1 <= high.low <= mean + 1e-12
    assert mean - 1e-12 <= high.high <= 1


@given(change=thirds)
def test_swapping_arms_negates_the_interval_and_order_does_not_matter(change: list[float]) -> None:
    there, back = task_score(change, level=0.95), task_score([-d for d in change], level=0.95)
    assert (back.low, back.high) == pytest.approx((-there.high, -there.low), abs=1e-10)
    again = task_score(sorted(change), level=0.95)
    assert (again.low, again.high) == pytest.approx((there.low, there.high), abs=1e-10)


@given(change=thirds)
def test_the_interval_holds_the_estimate_and_has_a_width(change: list[float]) -> None:
    interval = task_score(change, level=0.95)
    assert -1 <= interval.low <= float(np.mean(change)) + 1e-12
    assert float(np.mean(change)) - 1e-12 <= interval.high <= 1
    assert interval.width > 0


@settings(deadline=None)
@given(change=st.lists(st.floats(-1, 1), min_size=1, max_size=20), level=st.sampled_from([0.5, 0.95, 0.999]))
def test_many_at_once_agree_with_one_at_a_time(change: list[float], level: float) -> None:
    one = task_score(change, level=level)
    low, high = task_score_limits(np.array([change, change]), level=level)
    assert np.allclose(low, one.low, atol=1e-9)
    assert np.allclose(high, one.high, atol=1e-9)


@given(change=thirds)
def test_effective_counts_are_no_more_than_the_tasks_and_their_variance_no_less_than_the_observed(
    change: list[float],
) -> None:
    d = np.array(change)
    gain, loss, step = (float(value) for value in effective_counts(d))
    assert gain + loss <= d.size + 1e-9
    assert step * (gain - loss) == pytest.approx(float(d.sum()), abs=1e-12)
    assert step**2 * (gain + loss) >= float(d @ d) - 1e-12


def test_no_discordance_has_the_width_of_one_trial_degenerate() -> None:
    z2 = normal_quantile(0.95) ** 2
    interval = task_score([0.0] * 24, level=0.95)
    assert (interval.low, interval.high) == pytest.approx((-z2 / (24 + z2), z2 / (24 + z2)), rel=1e-10)


def test_one_task_and_all_solved_by_one_arm_degenerate() -> None:
    assert task_score([0.5], level=0.95).width > 1
    whole = task_score([1.0] * 24, level=0.95)
    assert whole.high == 1
    assert whole.low == pytest.approx(0.724, abs=1e-3)


@pytest.mark.parametrize("bad", [[math.nan], [math.inf], [1.2], [], ["0.1"], [True], [[0.1]]])
def test_values_that_are_no_difference_are_refused(bad: list[float]) -> None:
    with pytest.raises(SampleError, match="change"):
        task_score(bad, level=0.95)


@pytest.mark.parametrize("level", [0, 1, math.nan])
def test_a_level_outside_the_unit_interval_is_refused(level: float) -> None:
    with pytest.raises(SampleError, match="level"):
        task_score([0.1, 0.2], level=level)


def test_unequal_trials_are_taken_by_their_proportions() -> None:
    sample = success_sample([1, 3, 0], [2, 3, 4], control_solved=[1, 1, 1], control_trials=[4, 3, 2])
    interval = INTERVALS["task_score"].interval(sample, level=0.95)
    assert interval == task_score([0.25, 2 / 3, -0.5], level=0.95)
