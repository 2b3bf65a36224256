"""A value that cannot be used is refused by its own name."""

import numpy as np
import pytest

from analysis.statistics.sample import SampleError, whole_numbers


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_the_value_that_is_not_finite_is_the_one_that_is_named_degenerate(bad: float) -> None:
    with pytest.raises(SampleError, match=rf"change\[1\]={bad} must be finite"):
        whole_numbers(np.array([1.0, bad, 2.0]).tolist(), name="change")


@pytest.mark.parametrize("bad", [-(2**63), 2**63 - 1, 2**31])
def test_a_whole_number_too_large_to_multiply_is_refused_degenerate(bad: int) -> None:
    # The smallest 64-bit integer is its own absolute value.
    with pytest.raises(SampleError, match=rf"change\[1\]={bad} must lie in"):
        whole_numbers(np.array([1, bad]), name="change")


def test_an_unsigned_number_too_large_is_refused_degenerate() -> None:
    with pytest.raises(SampleError, match=r"change\[0\]=18446744073709551615 must lie in"):
        whole_numbers(np.array([2**64 - 1], dtype=np.uint64).tolist(), name="change")
