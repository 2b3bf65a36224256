"""A value that cannot be used is refused by its own name."""

import numpy as np
import pytest

from analysis.statistics.sample import SampleError, whole_numbers


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_the_value_that_is_not_finite_is_the_one_that_is_named_degenerate(bad: float) -> None:
    with pytest.raises(SampleError, match=rf"change\[1\]={bad} must be finite"):
        whole_numbers(np.array([1.0, bad, 2.0]).tolist(), name="change")
