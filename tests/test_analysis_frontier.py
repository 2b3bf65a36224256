"""Where arms stand over declared axes, and what is refused."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from analysis.decision import FrontierResult
from analysis.evidence.trial import Trial
from analysis.floors import NOT_RECORDED
from analysis.frontier import Bound, FrontierError, Wanted, axis_names, place
from analysis.measures import read_trials
from analysis.secondary import DEFAULT_SEED, Wishes
from analysis.statistics.placement import NOTE
from analysis.warehouse import open_in_memory
from preregistration.plan import Floor
from reports.page_secondary import standing_value
from tests.building import Cells, audited, interleaved
from tests.deciding import PLAN, decided, frozen
from tests.test_analysis_endpoints import costed, planned

STUDY: Cells = {f"t{i:02d}": ([True, i % 3 > 0], [i % 2 == 0, False]) for i in range(20)}


def placed(trials: Sequence[Trial], wanted: Wanted) -> FrontierResult | None:
    warehouse = open_in_memory(audited(trials), study="built", policy={})
    measures = read_trials(warehouse, ["alpha", "beta"]).measures(["alpha", "beta"], tasks=sorted(STUDY))
    return place(measures, wanted, rng=np.random.default_rng(5))


def found(trials: Sequence[Trial], wanted: Wanted) -> FrontierResult:
    result = placed(trials, wanted)
    assert result is not None
    return result


def test_an_arm_that_is_better_and_cheaper_leaves_the_other_off_the_frontier() -> None:
    result = found(costed(interleaved(STUDY), alpha=0.5), Wanted(seed=1))
    assert [axis.name for axis in result.axes] == ["success", "cost_usd", "wall_time"]
    assert [arm.state for arm in result.arms] == ["on", "off"]
    assert result.arms[1].reason == "dominated by alpha"
    assert result.arms[0].p_non_dominated == 1.0
    assert dict(result.arms[1].p_dominated_by)["alpha"] > 0.99
    assert result.note.startswith(NOTE)


def test_a_value_lies_between_its_limits_and_the_same_seed_gives_the_same_digits() -> None:
    wanted = Wanted(axes=("success", "cost_per_solved", "agent_time_p95", "output_tokens"), seed=1)
    one, other = found(costed(interleaved(STUDY)), wanted), found(costed(interleaved(STUDY)), wanted)
    assert one == other
    for arm in one.arms:
        for axis, value, low, high in zip(one.axes, arm.values, arm.low, arm.high, strict=True):
            assert value is not None
            # Every trial of this study wrote as many tokens.
            assert (low is None) == (high is None) == (axis.name == "output_tokens")
            assert low is None or high is None or low <= value <= high


def test_an_axis_that_no_resample_moves_has_no_limits_and_nothing_solved_is_no_cost_per_solved() -> None:
    never: Cells = {f"t{i:02d}": ([False], [i % 2 == 0]) for i in range(20)}
    result = found(costed(interleaved(never)), Wanted(axes=("success", "cost_per_solved"), seed=1))
    alpha, beta = result.arms
    assert (alpha.values[0], alpha.low[0], alpha.high[0]) == (0.0, None, None)
    assert (alpha.values[1], alpha.low[1], alpha.high[1]) == (None, None, None)
    assert alpha.p_axis_rank
    assert None not in (beta.low[0], beta.high[0], beta.low[1], beta.high[1])
    assert [standing_value(arm, result.axes[1], 1) for arm in (alpha, replace(alpha, p_axis_rank=()))] == [
        "undefined",
        "not measured",
    ]


def test_an_epsilon_forgives_a_difference_that_does_not_matter() -> None:
    trials = costed(interleaved(STUDY), alpha=1.3)
    axes = ("success", "cost_usd")
    strict = found(trials, Wanted(axes=axes, seed=1))
    lenient = found(trials, Wanted(axes=axes, epsilons=(("cost_usd", 0.5),), seed=1))
    assert [arm.state for arm in strict.arms] == ["on", "on"]
    assert [arm.state for arm in lenient.arms] == ["on", "off"]


def test_a_floor_is_a_constraint_with_its_own_share() -> None:
    trials = costed(interleaved(STUDY))
    result = found(trials, Wanted(axes=("success", "cost_usd"), floors=(Bound(axis="success", at_least=0.6),), seed=1))
    assert result.arms[0].p_floor == (1.0, None)
    share = result.arms[1].p_floor[0]
    assert share is not None
    assert share < 0.01
    assert (result.arms[1].state, result.arms[1].reason) == ("off", "misses a floor")


def test_an_arm_that_is_unknown_on_an_axis_is_undetermined_and_too_few_axes_give_none() -> None:
    trials = interleaved(STUDY)
    bare = [replace(item, usage=replace(item.usage, cost_usd=None, cost_method=None)) for item in trials]
    result = found(bare, Wanted(seed=1))
    assert [axis.name for axis in result.axes] == ["success", "wall_time"]
    assert "no two arms are known on cost_usd" in result.note
    assert placed(bare, Wanted(axes=("success", "cost_usd"), seed=1)) is None


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (Wanted(axes=("speed",), seed=1), "axis 'speed' does not exist"),
        (Wanted(floors=(Bound(axis="success", at_most=0.5),), seed=1), "written success>=VALUE"),
        (Wanted(floors=(Bound(axis="cost_usd", at_least=0.5),), seed=1), "written cost_usd<=VALUE"),
        (Wanted(floors=(Bound(axis="success", at_least=0.5),) * 2, seed=1), "has 2 floors"),
        (Wanted(epsilons=(("success", -1.0),), seed=1), "success=-1.0 must be a number from 0 to 1"),
        (Wanted(epsilons=(("success", float("nan")),), seed=1), "success=nan must be a number from 0 to 1"),
        (Wanted(epsilons=(("success", 5.0),), seed=1), "success=5.0 must be a number from 0 to 1"),
        (Wanted(epsilons=(("wall_time", -0.1),), seed=1), "wall_time=-0.1 must be a number of at least 0"),
        (Wanted(floors=(Bound(axis="success", at_least=2.0),), seed=1), "floor success=2.0 must be a number from 0"),
        (Wanted(floors=(Bound(axis="cost_usd", at_most=-1.0),), seed=1), "floor cost_usd=-1.0 must be a number of"),
        (Wanted(floors=(Bound(axis="cost_usd", at_most=math.inf),), seed=1), "floor cost_usd=inf must be a number"),
    ],
)
def test_what_does_not_fit_its_axis_is_refused(wanted: Wanted, words: str) -> None:
    with pytest.raises(FrontierError, match=words):
        placed(interleaved(STUDY), wanted)


def test_every_axis_can_be_placed() -> None:
    trials = [
        replace(item, usage=replace(item.usage, cache_tokens=50, requests=9, tool_calls=4))
        for item in costed(interleaved(STUDY))
    ]
    result = found(trials, Wanted(axes=axis_names(), seed=1))
    assert tuple(axis.name for axis in result.axes) == axis_names()


def test_a_decision_places_its_arms_with_the_plans_seed_floors_and_effects() -> None:
    plan = replace(
        planned(("total_cost", "ratio_of_sums"), ("wall_time", "log_ratio_t")),
        seed=99,
        floors=(
            Floor(kind="regression", metric="success", at_least=0.1),
            Floor(kind="safety", metric="leaks", at_most=0),
        ),
    )
    decision = decided(costed(interleaved(STUDY)), plan=frozen(plan))
    frontier = decision.frontier
    assert frontier is not None
    assert (decision.seed, frontier.seed) == (99, 99)
    assert [(axis.name, axis.epsilon, axis.floor) for axis in frontier.axes] == [
        ("success", 0.05, 0.1),
        ("cost_usd", 0.1, None),
        ("wall_time", 0.1, None),
    ]
    assert [(one.metric, one.note) for one in decision.floors if one.met is None] == [("leaks", NOT_RECORDED)]


def test_without_a_plan_the_seed_is_the_stated_one_or_the_one_asked_for() -> None:
    assert decided(interleaved(STUDY)).seed == DEFAULT_SEED
    assert decided(interleaved(STUDY), wishes=Wishes(seed=12)).seed == 12
    assert decided(interleaved(STUDY), plan=frozen(replace(PLAN, attempts=2)), wishes=Wishes(seed=12)).seed == PLAN.seed
