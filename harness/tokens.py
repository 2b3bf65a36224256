"""The only place for token counts: the four buckets, how a total is shared out, and what each harness's figures mean.

The same answer of 80 tokens with 30 of reasoning reads 80, 50 or 80 + 30 depending on the harness, so every reducer
writes the buckets below in one meaning, and `USAGE_SEMANTICS` says what the stream itself meant.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBuckets:
    """Tokens of one message or one turn; None means that the stream did not say.

    Attributes:
        uncached_input: Prompt tokens neither read from nor written to a cache.
        cache_write: Prompt tokens written to a cache.
        cache_read: Prompt tokens read from a cache.
        output: Generated tokens, reasoning included.
        reasoning: The part of output that was reasoning.
    """

    uncached_input: int | None = None
    cache_write: int | None = None
    cache_read: int | None = None
    output: int | None = None
    reasoning: int | None = None

    def input(self) -> int | None:
        """Return the whole prompt, or None when any of its three parts is unknown."""
        parts = (self.uncached_input, self.cache_write, self.cache_read)
        known = [part for part in parts if part is not None]
        return sum(known) if len(known) == len(parts) else None


BUCKETS = ("uncached_input", "cache_write", "cache_read", "output", "reasoning")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciliation:
    """What a turn was billed beyond the sum of its messages.

    Attributes:
        difference: Turn total minus the messages' sum per bucket; negative where the messages say more. A bucket that
            the turn total does not have is None.
    """

    difference: TokenBuckets


def reconcile(total: TokenBuckets | None, parts: Iterable[TokenBuckets | None]) -> Reconciliation | None:
    """Return the entry that makes the messages add up to the turn's total, or None when they already do."""
    if total is None:
        return None
    counted = [part for part in parts if part is not None]
    rest = {name: _difference(total, counted, name) for name in BUCKETS}
    if not any(rest.values()):
        return None
    return Reconciliation(difference=TokenBuckets(**rest))


def _difference(total: TokenBuckets, parts: Sequence[TokenBuckets], name: str) -> int | None:
    whole: int | None = getattr(total, name)
    if whole is None:
        return None
    # A message without the figure booked nothing; the entry exists to carry exactly that rest.
    booked: list[int] = [value for part in parts if (value := getattr(part, name)) is not None]
    return whole - sum(booked)


def add_buckets(parts: Iterable[TokenBuckets | None]) -> TokenBuckets | None:
    """Return the sum per bucket; a bucket with an unknown part is unknown, and no parts at all are None."""
    known = tuple(parts)
    if not known:
        return None
    return TokenBuckets(**{name: _sum(known, name) for name in BUCKETS})


def _sum(parts: Sequence[TokenBuckets | None], name: str) -> int | None:
    total = 0
    for part in parts:
        value: int | None = None if part is None else getattr(part, name)
        if value is None:
            return None
        total += value
    return total


def share_tokens(total: int, weights: Sequence[int]) -> tuple[int, ...]:
    """Share a whole number over weights by largest remainder; ties go to the earlier one, no weight means equal ones.

    Args:
        total: Tokens to share, at least 0.
        weights: One per share, each at least 0, shape (n,).

    Returns:
        Shares that add up to the total, shape (n,).
    """
    if not weights:
        return ()
    even = weights if sum(weights) > 0 else [1] * len(weights)
    whole = sum(even)
    shares = [total * weight // whole for weight in even]
    order = sorted(range(len(even)), key=lambda index: (-(total * even[index] % whole), index))
    for index in order[: total - sum(shares)]:
        shares[index] += 1
    return tuple(shares)


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageSemantics:
    """What a harness's own figures include, as measured on the pinned versions.

    Attributes:
        cache_in_input: The stream's input figure includes tokens read from a cache.
        reasoning_in_output: The stream's output figure includes reasoning.
        aborted_counted: A generation that was cut and repeated is counted in the turn's total; None when not measured.
        hidden_calls: Model calls outside the stream that no figure includes.
    """

    cache_in_input: bool
    reasoning_in_output: bool
    aborted_counted: bool | None
    hidden_calls: str = ""
