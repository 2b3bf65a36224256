"""Estimands, pass@k, the registry of interval methods."""

import itertools
import math

import numpy as np
import pytest

from analysis.statistics.estimands import Estimand, fixed_suite, similar_tasks
from analysis.statistics.interval_methods import (
    DEFAULT_INTERVAL_REPEATED,
    DEFAULT_INTERVAL_SINGLE,
    INTERVALS,
    default_method,
    interval_method,
)
from analysis.statistics.pass_at_k import compare_pass, pass_at_k, pass_hat_k
from analysis.statistics.sample import SampleError
from analysis.statistics.success_sample import SuccessSample, success_sample


def sample(treatment: list[int], control: list[int], *, trials: int = 3) -> SuccessSample:
    return success_sample(
        treatment, [trials] * len(treatment), control_solved=control, control_trials=[trials] * len(control)
    )


def test_both_estimands_estimate_the_same_number() -> None:
    of = sample([3, 2, 0, 1], [1, 2, 0, 2])
    similar, fixed = similar_tasks(of, level=0.95), fixed_suite(of, level=0.95)
    assert similar.difference == fixed.difference == pytest.approx(1 / 12)
    assert (similar.estimand, fixed.estimand) == (Estimand.SIMILAR_TASKS, Estimand.FIXED_SUITE)


def test_fixed_suite_standard_error_against_theory() -> None:
    of = sample([2, 3], [1, 0])
    # Each of the two varying proportions has variance p(1-p)/(K-1) = (2/9)/2.
    assert fixed_suite(of, level=0.95).standard_error == pytest.approx(math.sqrt(2 / 9) / 2)


def test_similar_tasks_standard_error_against_theory() -> None:
    d = np.array([2 / 3, 0, 0, -1 / 3])
    assert similar_tasks(sample([3, 2, 0, 1], [1, 2, 0, 2]), level=0.95).standard_error == pytest.approx(
        d.std(ddof=1) / 2
    )


def test_one_trial_shows_nothing_within_a_task_degenerate() -> None:
    estimate = fixed_suite(sample([1, 0], [0, 0], trials=1), level=0.95)
    assert (estimate.standard_error, estimate.interval) == (None, None)
    assert "at least 2" in estimate.note


def test_one_task_has_an_interval_but_no_standard_error_degenerate() -> None:
    estimate = similar_tasks(sample([2], [1]), level=0.95)
    assert estimate.standard_error is None
    assert estimate.interval is not None
    assert estimate.note


def test_all_solved_keeps_a_width_degenerate() -> None:
    of = sample([3] * 10, [3] * 10)
    for estimate in (similar_tasks(of, level=0.95), fixed_suite(of, level=0.95)):
        assert estimate.difference == 0
        assert estimate.interval is not None
        assert estimate.interval.low < 0 < estimate.interval.high


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_pass_rates_against_enumeration(k: int) -> None:
    solved, trials = np.array([0, 1, 3, 4]), np.array([4, 4, 4, 4])
    for i, c in enumerate(solved):
        draws = list(itertools.combinations([1] * c + [0] * (4 - c), k))
        assert pass_at_k(solved, trials, k=k)[i] == pytest.approx(np.mean([any(d) for d in draws]))
        assert pass_hat_k(solved, trials, k=k)[i] == pytest.approx(np.mean([all(d) for d in draws]))


def test_pass_at_one_is_the_difference_itself() -> None:
    of = sample([3, 2, 0, 1], [1, 2, 0, 2])
    compared = compare_pass(of, k=1, kind="pass_at_k", level=0.95)
    assert compared.difference == pytest.approx(of.difference)
    interval = interval_method("task_score").interval(of, level=0.95)
    assert (compared.interval.low, compared.interval.high) == pytest.approx((interval.low, interval.high))


def test_swapping_arms_negates_the_pass_difference() -> None:
    there = compare_pass(sample([3, 2, 0], [1, 2, 0]), k=2, kind="pass_hat_k", level=0.95)
    back = compare_pass(sample([1, 2, 0], [3, 2, 0]), k=2, kind="pass_hat_k", level=0.95)
    assert back.difference == -there.difference
    assert back.interval.low == pytest.approx(-there.interval.high)


@pytest.mark.parametrize("k", [0, 4, True])
def test_more_draws_than_trials_are_refused(k: int) -> None:
    with pytest.raises(SampleError, match="fewest trials"):
        compare_pass(sample([3], [2]), k=k, kind="pass_at_k", level=0.95)


@pytest.mark.parametrize("name", sorted(INTERVALS))
def test_every_named_interval_answers_for_the_trials_it_is_for(name: str) -> None:
    method = interval_method(name)
    single, repeated = sample([1, 1, 0, 0], [1, 0, 0, 1], trials=1), sample([3, 1, 0, 2], [2, 1, 0, 3])
    of = single if method.trials == "one" else repeated
    interval = method.interval(of, level=0.95)
    assert interval.method == name
    assert interval.low <= of.difference <= interval.high


def test_a_method_for_other_trials_is_refused_by_name() -> None:
    repeated = sample([3, 1], [2, 1])
    with pytest.raises(SampleError, match="tango is for one trial"):
        interval_method("tango").interval(repeated, level=0.95)
    unequal = success_sample([1, 1], [1, 2], control_solved=[0, 1], control_trials=[1, 1])
    with pytest.raises(SampleError, match="unequal numbers"):
        interval_method("yang_score").interval(unequal, level=0.95)
    assert unequal.trials is None
    with pytest.raises(SampleError, match="2x2 table"):
        _ = unequal.table


def test_an_unknown_method_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SampleError, match=r"interval='guess' is unknown.*tango"):
        interval_method("guess")


def test_the_default_depends_on_the_number_of_trials() -> None:
    assert default_method(sample([1], [0], trials=1)).name == DEFAULT_INTERVAL_SINGLE == "tango"
    assert default_method(sample([1], [0])).name == DEFAULT_INTERVAL_REPEATED
    for name in (DEFAULT_INTERVAL_SINGLE, DEFAULT_INTERVAL_REPEATED):
        assert INTERVALS[name].recommended
    assert not INTERVALS["wald"].recommended
