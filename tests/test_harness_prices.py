"""Declared prices: the same tokens cost the same on every harness, and an unknown count makes the cost unknown."""

import pytest

from harness.prices import Prices
from harness.tokens import TokenBuckets

LIST = Prices(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75)


def test_a_cost_is_the_sum_of_the_buckets_by_their_prices() -> None:
    tokens = TokenBuckets(uncached_input=1_000_000, output=100_000, cache_read=2_000_000, cache_write=400_000)
    assert LIST.cost_usd(tokens) == pytest.approx(3.0 + 1.5 + 0.6 + 1.5, abs=1e-12)


def test_an_unknown_count_that_has_a_price_makes_the_cost_unknown() -> None:
    tokens = TokenBuckets(uncached_input=10, output=10, cache_read=0)
    assert LIST.cost_usd(tokens) is None
    assert LIST.cost_usd(None) is None
    assert Prices(input=1.0, output=1.0, cache_read=0.0, cache_write=0.0).cost_usd(tokens) == pytest.approx(20e-6)


@pytest.mark.parametrize("price", [-1.0, float("nan"), float("inf")])
def test_what_is_no_price_is_refused_with_its_name(price: float) -> None:
    with pytest.raises(ValueError, match=r"output=.* must be a finite number of at least 0"):
        Prices(input=1.0, output=price, cache_read=0.0, cache_write=0.0)
