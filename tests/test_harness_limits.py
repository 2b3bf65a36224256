"""Run limits: bounds, defaults, the warning about a limit that cannot work, budgets, the background rule's bound."""

import math
from collections.abc import Callable

import pytest

from harness.limits import LimitError, RunLimits, background_wait_s, exceeded_budget, limit_warnings
from harness.statuses import Status
from harness.tokens import TokenBuckets

SPENT = TokenBuckets(uncached_input=100, cache_write=20, cache_read=300, output=50)
WRONG: dict[str, Callable[[], RunLimits]] = {
    "max_turns=0": lambda: RunLimits(max_turns=0),
    "max_turns=True": lambda: RunLimits(max_turns=True),
    "max_input_tokens=-1": lambda: RunLimits(max_input_tokens=-1),
    "max_output_tokens=0": lambda: RunLimits(max_output_tokens=0),
    "max_total_tokens=0": lambda: RunLimits(max_total_tokens=0),
    "task_timeout=29.9": lambda: RunLimits(task_timeout_s=29.9),
    "turn_timeout=9.9": lambda: RunLimits(turn_timeout_s=9.9),
    "turn_timeout=nan": lambda: RunLimits(turn_timeout_s=math.nan),
    "max_usd=0.0": lambda: RunLimits(max_usd=0.0),
    "max_usd=inf": lambda: RunLimits(max_usd=math.inf),
    "stop_early=True": lambda: RunLimits(stop_early=True),
}


def test_the_defaults_are_those_of_the_contract() -> None:
    limits = RunLimits()
    assert (limits.max_turns, limits.task_timeout_s, limits.turn_timeout_s, limits.stop_early) == (100, 600, 300, None)


@pytest.mark.parametrize("named", WRONG)
def test_a_limit_outside_its_bounds_is_refused_and_named(named: str) -> None:
    with pytest.raises(LimitError) as refused:
        WRONG[named]()
    assert str(refused.value).startswith(f"{named} must be ")


def test_every_wrong_limit_is_named_at_once() -> None:
    with pytest.raises(LimitError, match=r"max_turns=0 .*; task_timeout=1 .*; stop_early=True"):
        RunLimits(max_turns=0, task_timeout_s=1, stop_early=True)


def test_the_bounds_themselves_and_no_limit_at_all_are_allowed() -> None:
    assert RunLimits(max_turns=1, task_timeout_s=30, turn_timeout_s=10, max_usd=0.01, stop_early=False).max_turns == 1
    assert RunLimits(max_turns=None, task_timeout_s=None, turn_timeout_s=None).task_timeout_s is None


def test_a_task_limit_above_the_turn_limit_of_a_single_turn_is_warned_of_l16() -> None:
    (warning,) = limit_warnings(RunLimits(task_timeout_s=600, turn_timeout_s=300), dialogue_turns=1)
    assert "task_timeout=600" in warning
    assert "turn_timeout=300" in warning


@pytest.mark.parametrize(
    ("task_s", "turn_s", "turns"), [(600, 300, 2), (300, 300, 1), (30, 300, 1), (None, 300, 1), (600, None, 1)]
)
def test_limits_that_can_work_are_not_warned_of(task_s: float | None, turn_s: float | None, turns: int) -> None:
    assert limit_warnings(RunLimits(task_timeout_s=task_s, turn_timeout_s=turn_s), dialogue_turns=turns) == ()


@pytest.mark.parametrize(
    ("limits", "status"),
    [
        (RunLimits(), None),
        (RunLimits(max_input_tokens=420), None),
        (RunLimits(max_input_tokens=419), Status.TOKEN_BUDGET_EXCEEDED),
        (RunLimits(max_input_tokens=120, count_cached_input=False), None),
        (
            RunLimits(max_input_tokens=99, count_cached_input=False, count_cache_creation=False),
            Status.TOKEN_BUDGET_EXCEEDED,
        ),
        (RunLimits(max_output_tokens=49), Status.TOKEN_BUDGET_EXCEEDED),
        (RunLimits(max_total_tokens=470), None),
        (RunLimits(max_total_tokens=469), Status.TOKEN_BUDGET_EXCEEDED),
        (RunLimits(max_usd=0.5), None),
        (RunLimits(max_usd=0.49), Status.COST_BUDGET_EXCEEDED),
        (RunLimits(max_total_tokens=1, max_usd=0.1), Status.TOKEN_BUDGET_EXCEEDED),
    ],
)
def test_a_budget_is_exceeded_above_its_limit_and_not_at_it(limits: RunLimits, status: Status | None) -> None:
    assert exceeded_budget(limits, SPENT, 0.5) == status


def test_spending_that_nobody_measured_exceeds_nothing() -> None:
    limits = RunLimits(max_input_tokens=1, max_output_tokens=1, max_total_tokens=1, max_usd=0.01)
    assert exceeded_budget(limits, None, None) is None
    part = TokenBuckets(uncached_input=100)
    assert exceeded_budget(limits, part, None) is None
    assert exceeded_budget(RunLimits(max_input_tokens=1), part, None) is None


def test_a_background_command_is_waited_for_to_four_fifths_of_the_turn_or_120_polls_of_5_s() -> None:
    assert background_wait_s(300) == pytest.approx(240)
    assert background_wait_s(None) == 600
