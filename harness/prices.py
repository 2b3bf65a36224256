"""The only place that turns tokens into a cost by prices that the caller declares, the same way for every harness.

A program's own figure is its list price, a price from its configuration, or nothing at all; figures of two programs for
the same tokens differ. A declared price list makes them comparable. It is an equivalent, not a bill.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields

from harness.tokens import TokenBuckets

_PER = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """USD per million tokens, each at least 0.

    Attributes:
        input: Prompt tokens neither read from nor written to a cache.
        output: Generated tokens, reasoning included.
        cache_read: Prompt tokens read from a cache.
        cache_write: Prompt tokens written to a cache.
    """

    input: float
    output: float
    cache_read: float
    cache_write: float

    def __post_init__(self) -> None:
        """Refuse what is no price.

        Raises:
            ValueError: When a price is negative or not finite.
        """
        for item in fields(self):
            value = getattr(self, item.name)
            if not 0 <= value < float("inf"):
                raise ValueError(f"{item.name}={value!r} must be a finite number of at least 0")

    def cost_usd(self, tokens: TokenBuckets | None) -> float | None:
        """Return what tokens cost; None when a bucket that has a price is unknown."""
        if tokens is None:
            return None
        return _sum_of(
            (
                (tokens.uncached_input, self.input),
                (tokens.output, self.output),
                (tokens.cache_read, self.cache_read),
                (tokens.cache_write, self.cache_write),
            )
        )


def _sum_of(parts: Iterable[tuple[int | None, float]]) -> float | None:
    total = 0.0
    for count, price in parts:
        if count is None and price > 0:
            return None
        total += (count or 0) * price
    return total / _PER
