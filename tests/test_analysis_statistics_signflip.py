"""The sign-flip test against enumeration, theory and scipy."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analysis.statistics import signflip
from analysis.statistics.sample import SampleError
from analysis.statistics.signflip import Alternative, integer_change, sign_flip, sign_flip_rational

DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
changes = st.lists(st.integers(-6, 6), min_size=1, max_size=12)


def enumerated(change: list[int]) -> tuple[float, float]:
    """All 2^n sign patterns, one by one."""
    observed = abs(sum(change))
    sums = [
        abs(sum(s * d for s, d in zip(signs, change, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(change))
    ]
    more, same = sum(s > observed for s in sums), sum(s == observed for s in sums)
    return (more + same) / len(sums), (more + same / 2) / len(sums)


@given(changes)
def test_p_values_against_enumeration(change: list[int]) -> None:
    result = sign_flip(change)
    exact, mid = enumerated(change)
    assert result.p_exact == pytest.approx(exact, rel=1e-12)
    assert result.p_mid == pytest.approx(mid if any(change) else 1.0, rel=1e-12)


@given(changes)
def test_rational_p_value_is_the_exact_one(change: list[int]) -> None:
    assert float(sign_flip_rational(change)) == pytest.approx(sign_flip(change).p_exact, rel=1e-14)


@given(changes, st.randoms(use_true_random=False))
def test_order_of_tasks_does_not_matter(change: list[int], random: object) -> None:
    assert sign_flip(sorted(change)) == sign_flip(change)


@given(changes)
def test_swapping_arms_negates_the_statistic_and_keeps_p(change: list[int]) -> None:
    there, back = sign_flip(change), sign_flip([-d for d in change])
    assert (back.p_exact, back.p_mid, back.statistic) == (there.p_exact, there.p_mid, -there.statistic)


@given(changes, st.integers(2, 60))
def test_a_common_scale_does_not_matter(change: list[int], scale: int) -> None:
    assert sign_flip([scale * d for d in change]).p_exact == sign_flip(change).p_exact


def test_darwins_maize_against_theory() -> None:
    assert sign_flip_rational(DARWIN, alternative="greater") == Fraction(863, 32768)
    assert sign_flip_rational(DARWIN) == Fraction(1726, 32768)
    assert sign_flip(DARWIN, alternative="greater").p_exact == 863 / 32768
    assert sign_flip(DARWIN, alternative="less").p_exact == pytest.approx(1 - 863 / 32768, abs=0.002)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_p_value_against_scipy(alternative: Alternative) -> None:
    change = np.array([2, -1, 3, 1, 0, 0, -2, 3, 1, 1])
    referee = stats.permutation_test(
        (change, np.zeros_like(change)), lambda x, y: np.sum(x - y), permutation_type="samples", alternative=alternative
    )
    # scipy doubles the smaller tail, which is the same for a symmetric distribution.
    assert sign_flip(change, alternative=alternative).p_exact == pytest.approx(referee.pvalue, rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 6), min_size=2, max_size=120), st.floats(0, 1))
def test_tilted_sum_agrees_with_counting_at_every_depth(sizes: list[int], depth: float) -> None:
    values = np.array(sizes)
    values //= np.gcd.reduce(values)
    total = int(values.sum())
    statistic = total - 2 * round(depth * total / 2)
    at_least, exactly = signflip._count(values.tolist(), statistic)
    tilted = signflip._tilted_tail(values, statistic)
    assert tilted[0] == pytest.approx(at_least / 2**values.size, rel=1e-9)
    # A sum that cannot occur has probability zero up to the noise of the transform.
    assert tilted[1] == pytest.approx(exactly / 2**values.size, rel=1e-9, abs=1e-12 * at_least / 2**values.size)


def test_ten_thousand_tasks_keep_the_far_tail_against_theory() -> None:
    change = np.repeat([1, -1], [5500, 4500])
    theory = math.log(2) + stats.binom.logsf(5499, 10_000, 0.5)
    assert math.log(sign_flip(change).p_exact) == pytest.approx(theory, rel=1e-9)


def test_a_p_value_below_every_float_is_given_as_the_smallest() -> None:
    assert 0 < sign_flip(np.ones(5000, dtype=np.int64)).p_exact < 1e-300


def test_zero_discordance_gives_one_degenerate() -> None:
    result = sign_flip([0, 0, 0])
    assert (result.p_exact, result.p_mid, result.statistic, result.n_nonzero) == (1.0, 1.0, 0, 0)
    assert sign_flip_rational([0, 0, 0]) == 1


def test_one_task_gives_one_degenerate() -> None:
    assert sign_flip([2]).p_exact == 1.0
    assert sign_flip([2]).p_mid == 0.5


@pytest.mark.parametrize("bad", [[], [0.5, 1.0], [True, False], ["1", "0"], [float("nan")], [[1, 2]], [2**40]])
def test_anything_but_integers_is_refused(bad: list[int]) -> None:
    with pytest.raises(SampleError, match="change"):
        sign_flip(bad)


def test_an_unknown_alternative_is_refused() -> None:
    with pytest.raises(SampleError, match="sideways"):
        sign_flip([1], alternative="sideways")  # type: ignore[arg-type]  # what a caller without a type checker does


def test_differences_on_too_fine_a_scale_are_refused() -> None:
    primes = np.array([2_147_483_629, -2_147_483_587] * 400)
    with pytest.raises(SampleError, match="coarser scale"):
        sign_flip(primes)


def test_unequal_trials_meet_on_their_common_multiple() -> None:
    change, scale = integer_change([1, 3], [2, 3], control_solved=[1, 0], control_trials=[3, 4])
    assert scale == 12
    assert change.tolist() == [2, 12]


@pytest.mark.parametrize(
    ("solved", "trials", "message"),
    [
        ([1, 2], [3], "differ in length"),
        ([4], [3], r"treatment_solved\[0\]=4 exceeds"),
        ([0], [0], r"treatment_trials\[0\]=0"),
        ([-1], [3], r"treatment_solved\[0\]=-1"),
        ([True], [1], "bool"),
    ],
)
def test_impossible_counts_are_refused_by_value(solved: list[int], trials: list[int], message: str) -> None:
    with pytest.raises(SampleError, match=message):
        integer_change(solved, trials, control_solved=[1], control_trials=[3])


def test_arms_over_different_tasks_are_refused() -> None:
    with pytest.raises(SampleError, match="differ in length"):
        integer_change([1, 1], [1, 1], control_solved=[1], control_trials=[1])


def test_a_common_multiple_beyond_integers_is_refused() -> None:
    with pytest.raises(SampleError, match="least common multiple"):
        integer_change([1, 1], [65_537, 65_539], control_solved=[1, 1], control_trials=[65_543, 1])


def test_one_sided_tails_of_a_large_sample_add_up_against_theory() -> None:
    rng = np.random.default_rng(8)
    change = rng.integers(-5, 5, 2000)
    less, greater = sign_flip(change, alternative="less"), sign_flip(change, alternative="greater")
    # Each tail holds the observed sum; its mid-p holds half of it.
    assert less.p_mid + greater.p_mid == pytest.approx(1, rel=1e-9)
    assert less.p_exact < 0.5 < greater.p_exact
