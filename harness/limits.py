"""The only place for a task's run limits: bounds and defaults, what an author is warned of, when a budget is spent.

A limit is checked before anything is spawned, and every finding is reported at once. A budget whose spending nobody
measured is not exceeded: unknown is not over, and it is not zero either.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from harness.statuses import Status
from harness.tokens import TokenBuckets

LEAST_TASK_TIMEOUT_S = 30.0
LEAST_TURN_TIMEOUT_S = 10.0
BACKGROUND_SHARE = 0.8
BACKGROUND_POLL_S = 5.0
BACKGROUND_CYCLES = 120


class LimitError(ValueError):
    """Run limits hold a value that must be refused; the message names every such field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """What bounds one attempt at a task.

    Attributes:
        max_turns: Turn cap, positive; what it counts is the harness's cap policy. None means uncapped.
        task_timeout_s: Seconds for the whole attempt, at least 30; None means no limit.
        turn_timeout_s: Seconds for each turn and each retry, at least 10; None means no limit.
        max_input_tokens: Prompt tokens of the attempt, positive; None means no budget.
        max_output_tokens: Generated tokens of the attempt, positive; None means no budget.
        max_total_tokens: Both together, positive; None means no budget.
        max_usd: Cost of the attempt in US dollars, positive; None means no budget.
        count_cached_input: Whether prompt tokens read from a cache count.
        count_cache_creation: Whether prompt tokens written to a cache count.
        stop_early: False forbids early stops; None lets the armed criteria decide. There is no third value.
    """

    max_turns: int | None = 100
    task_timeout_s: float | None = 600.0
    turn_timeout_s: float | None = 300.0
    max_input_tokens: int | None = None
    max_output_tokens: int | None = None
    max_total_tokens: int | None = None
    max_usd: float | None = None
    count_cached_input: bool = True
    count_cache_creation: bool = True
    stop_early: bool | None = None

    def __post_init__(self) -> None:
        """Refuse what lies outside the bounds.

        Raises:
            LimitError: When a limit cannot be kept as it stands.
        """
        found = tuple(_refusals(self))
        if found:
            raise LimitError("; ".join(found))


def limit_warnings(limits: RunLimits, *, dialogue_turns: int) -> tuple[str, ...]:
    """Return what the author of a task should know about its limits; `dialogue_turns` is at least 1."""
    task_s, turn_s = limits.task_timeout_s, limits.turn_timeout_s
    if dialogue_turns == 1 and task_s is not None and turn_s is not None and task_s > turn_s:
        found = f"task_timeout={task_s:g} is longer than turn_timeout={turn_s:g}, and the task has a single turn"
        return (f"{found}: the turn ends at its own limit; raise turn_timeout to give it more time",)
    return ()


def exceeded_budget(limits: RunLimits, usage: TokenBuckets | None, cost_usd: float | None) -> Status | None:
    """Return the status of the budget that is overspent, tokens before cost; None when none is known to be.

    Args:
        limits: The attempt's limits.
        usage: Tokens of the attempt so far; None means not measured.
        cost_usd: Cost of the attempt so far; None means not measured.
    """
    prompt = None if usage is None else _counted_prompt(limits, usage)
    output = None if usage is None else usage.output
    total = None if prompt is None or output is None else prompt + output
    bounds = ((prompt, limits.max_input_tokens), (output, limits.max_output_tokens), (total, limits.max_total_tokens))
    if any(_over(spent, bound) for spent, bound in bounds):
        return Status.TOKEN_BUDGET_EXCEEDED
    return Status.COST_BUDGET_EXCEEDED if _over(cost_usd, limits.max_usd) else None


def background_wait_s(turn_timeout_s: float | None) -> float:
    """Return how long an unresolved background command of antigravity is waited for, in seconds.

    With a turn limit it is counted from the turn's start and ends before that limit, so the turn is graded instead of
    timed out; without one (None) it is counted from the model's last word.
    """
    return BACKGROUND_POLL_S * BACKGROUND_CYCLES if turn_timeout_s is None else BACKGROUND_SHARE * turn_timeout_s


def _counted_prompt(limits: RunLimits, usage: TokenBuckets) -> int | None:
    parts = [usage.uncached_input]
    parts += [usage.cache_read] if limits.count_cached_input else []
    parts += [usage.cache_write] if limits.count_cache_creation else []
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _over(spent: float | None, bound: float | None) -> bool:
    return spent is not None and bound is not None and spent > bound


def _refusals(limits: RunLimits) -> Iterator[str]:
    for name in ("max_turns", "max_input_tokens", "max_output_tokens", "max_total_tokens"):
        count: object = getattr(limits, name)
        if count is not None and (not isinstance(count, int) or isinstance(count, bool) or count < 1):
            yield f"{name}={count!r} must be a whole number of at least 1"
    yield from _short("task_timeout", limits.task_timeout_s, least=LEAST_TASK_TIMEOUT_S)
    yield from _short("turn_timeout", limits.turn_timeout_s, least=LEAST_TURN_TIMEOUT_S)
    if limits.max_usd is not None and not (math.isfinite(limits.max_usd) and limits.max_usd > 0):
        yield f"max_usd={limits.max_usd!r} must be a positive number of dollars"
    if limits.stop_early not in {None, False}:
        yield f"stop_early={limits.stop_early!r} must be false or absent: the armed criteria alone start an early stop"


def _short(name: str, seconds: float | None, *, least: float) -> Iterator[str]:
    if seconds is not None and not (math.isfinite(seconds) and seconds >= least):
        yield f"{name}={seconds!r} must be at least {least:g} seconds"
