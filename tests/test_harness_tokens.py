"""Token buckets: shares add up, unknown stays unknown, and every harness says what its figures mean."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.facts import USAGE_SEMANTICS
from harness.kinds import Harness
from harness.tokens import TokenBuckets, add_buckets, reconcile, share_tokens


@given(st.integers(0, 10**7), st.lists(st.integers(0, 10**6), min_size=1, max_size=8))
def test_shares_add_up_and_are_off_by_less_than_one(total: int, weights: list[int]) -> None:
    shares = share_tokens(total, weights)
    whole = sum(weights)
    assert sum(shares) == total
    for share, weight in zip(shares, weights, strict=True):
        exact = total / len(weights) if whole == 0 else total * weight / whole
        assert abs(share - exact) < 1 + 1e-6 * total


def test_no_weights_no_shares_degenerate() -> None:
    assert share_tokens(5, []) == ()


def test_a_sum_with_an_unknown_part_is_unknown() -> None:
    known, partly = TokenBuckets(output=4, cache_read=1), TokenBuckets(output=3)
    total = add_buckets([known, partly])
    assert total is not None
    assert (total.output, total.cache_read) == (7, None)
    assert add_buckets([known, None]) == TokenBuckets()
    assert add_buckets([]) is None


def test_the_input_is_known_only_when_its_three_parts_are() -> None:
    assert TokenBuckets(uncached_input=1, cache_write=2, cache_read=3).input() == 6
    assert TokenBuckets(uncached_input=1, cache_write=2).input() is None


def test_reconciliation_carries_the_rest_and_may_be_negative() -> None:
    total = TokenBuckets(uncached_input=10, output=5)
    entry = reconcile(total, [TokenBuckets(uncached_input=4, output=6), None])
    assert entry is not None
    assert entry.difference == TokenBuckets(uncached_input=6, output=-1)


@pytest.mark.parametrize("total", [None, TokenBuckets(output=6)])
def test_nothing_is_reconciled_without_a_total_or_a_difference(total: TokenBuckets | None) -> None:
    assert reconcile(total, [TokenBuckets(output=6)]) is None


def test_every_harness_says_what_its_figures_include() -> None:
    assert set(USAGE_SEMANTICS) == set(Harness)
