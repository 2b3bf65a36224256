"""Endpoints beside the primary: what is measured, which inference it gets, and what is said when it gets none."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import pytest

from analysis.decision import Decision, EndpointResult, Verdict
from analysis.endpoint_rows import GEOMETRIC
from analysis.evidence.trial import Trial
from preregistration.plan import Endpoint, Plan, Role
from tests.building import Cells, interleaved
from tests.deciding import PLAN, PRIMARY, decided, frozen

STUDY: Cells = {f"t{i}": ([True, i % 3 > 0], [i % 2 == 0, i % 4 > 0]) for i in range(12)}


def costed(trials: Sequence[Trial], **factors: float) -> list[Trial]:
    """Give each trial a cost and times that depend on its task, times a factor of its arm."""
    changed = []
    for place, item in enumerate(trials):
        size = (1 + int(item.task.name[1:])) * factors.get(item.arm.agent, 1.0) * (1 + 0.1 * (place % 3))
        usage = replace(item.usage, cost_usd=Decimal(str(round(size, 6))), input_tokens=round(1000 * size))
        clock = replace(item.clock, wall_ms=60_000 * size, agent_ms=50_000 * size)
        changed.append(replace(item, usage=usage, clock=clock))
    return changed


def rows_of(decision: Decision) -> dict[str, EndpointResult]:
    return {row.name: row for row in decision.endpoints}


def planned(*secondary: tuple[str, str], multiplicity: str = "fixed_sequence", margin: float = 0.5) -> Plan:
    endpoints = [
        Endpoint(
            name=name,
            role=Role.SECONDARY,
            test=test,
            alpha=0.05,
            interval="auto",
            level=0.95,
            minimum_effect=0.1,
            noninferiority_margin=0.2,
        )
        for name, test in secondary
    ]
    primary = replace(PRIMARY, noninferiority_margin=margin)
    return replace(PLAN, endpoints=(primary, *endpoints), multiplicity=multiplicity, attempts=2)


def test_success_stands_first_and_repeats_the_primary_numbers() -> None:
    decision = decided(interleaved(STUDY))
    first = decision.endpoints[0]
    assert (first.name, first.difference, first.p) == ("success", decision.difference, decision.p_mid)
    assert first.interval is not None
    assert decision.interval is not None
    assert (first.interval.low, first.interval.high) == (decision.interval.low, decision.interval.high)
    assert first.treatment is not None
    assert first.control is not None
    assert first.treatment - first.control == pytest.approx(decision.difference)


def test_a_cheaper_arm_has_a_ratio_below_one_with_an_interval_and_a_p_value() -> None:
    rows = rows_of(decided(costed(interleaved(STUDY), alpha=0.5)))
    for name in ("total_cost", "input_tokens", "wall_time", "agent_time"):
        row = rows[name]
        assert row.ratio == pytest.approx(0.5, rel=0.1)
        assert row.interval is not None
        assert row.interval.scale == "ratio"
        assert row.interval.high is not None
        assert row.interval.high < 1
        assert row.p is not None
        assert row.p < 0.001
    assert rows["total_cost"].test == "ratio_of_sums"
    assert rows["wall_time"].test == "log_ratio_t"
    typical = {name for name, row in rows.items() if GEOMETRIC in row.note}
    assert typical == {name for name, row in rows.items() if row.test == "log_ratio_t" and row.ratio is not None}
    assert {"wall_time", "agent_time", "input_tokens"} <= typical


def test_cost_per_solved_is_all_that_was_spent_over_what_was_solved() -> None:
    trials = costed(interleaved(STUDY))
    spent = sum(item.usage.cost_usd or Decimal(0) for item in trials if item.arm.agent == "alpha")
    decision = decided(trials)
    row = rows_of(decision)["cost_per_solved"]
    assert row.treatment == pytest.approx(float(spent) / decision.treatment.solved)


def test_one_unknown_cost_makes_the_sum_unknown_and_is_said() -> None:
    trials = costed(interleaved(STUDY))
    trials[0] = replace(trials[0], usage=replace(trials[0].usage, cost_usd=None, cost_method=None))
    row = rows_of(decided(trials))["total_cost"]
    unknown = row.treatment if trials[0].arm.agent == "alpha" else row.control
    assert (unknown, row.ratio, row.p) == (None, None, None)
    assert "known for 23 of 24 trials" in row.note


def test_prices_of_two_methods_are_neither_added_nor_set_against_each_other() -> None:
    trials = costed(interleaved(STUDY))
    mixed = [
        replace(item, usage=replace(item.usage, cost_method="other")) if item.arm.agent == "beta" else item
        for item in trials
    ]
    row = rows_of(decided(mixed))["total_cost"]
    assert row.treatment is not None
    assert row.control is not None
    assert (row.ratio, row.p) == (None, None)
    assert "different methods" in row.note
    first = next(place for place, item in enumerate(mixed) if item.arm.agent == "alpha")
    mixed[first] = replace(mixed[first], usage=replace(mixed[first].usage, cost_method="third"))
    decision = decided(mixed)
    row = rows_of(decision)["total_cost"]
    assert row.treatment is None
    assert decision.treatment.cost_usd.value is None
    assert "alpha: priced by 2 methods, which are never combined" in row.note


def test_nothing_solved_leaves_a_one_sided_bound() -> None:
    cells: Cells = {f"t{i}": ([True], [False]) for i in range(9)}
    row = rows_of(decided(costed(interleaved(cells))))["cost_per_solved"]
    assert (row.ratio, row.control, row.p) == (None, None, None)
    assert row.interval is not None
    assert row.interval.low is None
    assert row.interval.high is not None
    assert row.interval.method.endswith("one-sided")
    assert "beta solved nothing: at least" in row.note


def test_a_time_limit_leaves_the_quantile_open_and_figures_of_solved_trials_untested() -> None:
    trials = [
        replace(item, exception_type="AgentTimeoutError") if item.task.name in {"t10", "t11"} else item
        for item in costed(interleaved(STUDY))
    ]
    rows = rows_of(decided(trials))
    late = rows["agent_time_p95"]
    assert late.treatment_at_least
    assert late.ratio is None
    assert "beyond a time limit" in late.note
    assert rows["agent_time_p50"].ratio is not None
    assert "cut at their task's time limit" in rows["agent_time"].note
    alone = rows["agent_time_solved_p50"]
    assert alone.conditional
    assert (alone.test, alone.p, alone.interval, alone.adjusted_p) == ("", None, None, None)


def test_a_mean_that_is_not_known_is_not_called_the_mean_of_uncut_trials() -> None:
    trials = costed(interleaved(STUDY))
    assert "no trial was cut off" in rows_of(decided(trials))["agent_time_restricted_mean"].note
    trials[0] = replace(trials[0], exception_type="AgentTimeoutError")
    trials[5] = replace(trials[5], clock=replace(trials[5].clock, agent_ms=None))
    row = rows_of(decided(trials))["agent_time_restricted_mean"]
    assert row.treatment is None
    assert row.note == "a trial was not measured"


def test_an_interval_of_two_known_quantiles_that_is_open_says_why() -> None:
    trials = costed(interleaved(STUDY))
    assert "redraws a" not in rows_of(decided(trials))["agent_time_p95"].note
    last = max(range(len(trials)), key=lambda i: trials[i].clock.agent_ms or 0)
    trials[last] = replace(trials[last], exception_type="AgentTimeoutError")
    row = rows_of(decided(trials))["agent_time_p95"]
    assert row.ratio is not None
    assert row.interval is not None
    assert row.interval.low == 0 or row.interval.high is None
    assert "in some redraws a quantile lies beyond a time limit" in row.note


def test_a_measured_zero_compares_totals_unless_the_plan_chose_the_test() -> None:
    trials = costed(interleaved(STUDY))
    trials[0] = replace(trials[0], usage=replace(trials[0].usage, output_tokens=0))
    trials[1] = replace(trials[1], usage=replace(trials[1].usage, output_tokens=55))
    row = rows_of(decided(trials))["output_tokens"]
    assert (row.test, row.ratio is None) == ("ratio_of_sums", False)
    assert "totals are compared" in row.note
    plan = frozen(planned(("output_tokens", "log_ratio_t")))
    row = rows_of(decided(trials, plan=plan))["output_tokens"]
    assert (row.test, row.ratio) == ("log_ratio_t", None)
    assert "a zero has no logarithm" in row.note


def test_exploratory_rows_are_adjusted_among_themselves_and_labelled() -> None:
    rows = decided(costed(interleaved(STUDY), alpha=0.7)).endpoints
    tested = [row for row in rows if row.p is not None]
    assert {row.adjustment for row in tested} == {"benjamini_hochberg"}
    assert all(row.adjusted_p is not None and row.p is not None and row.adjusted_p >= row.p for row in tested)
    assert {row.decision for row in rows} == {Verdict.NONE}
    assert {row.role for row in rows} == {"exploratory"}


def test_refusals_and_failed_requests_are_rates_over_tasks() -> None:
    trials = [
        replace(
            item,
            usage=replace(item.usage, requests=10, requests_failed=2 if item.arm.agent == "beta" else place % 2),
            exception_type="ModelRefusalError" if place % 5 == 0 else None,
        )
        for place, item in enumerate(interleaved(STUDY))
    ]
    rows = rows_of(decided(trials))
    assert rows["request_failure_rate"].control == pytest.approx(0.2)
    assert rows["refusal_rate"].difference is not None
    assert rows["requests"].ratio == pytest.approx(1)


def test_several_attempts_give_pass_at_k_and_pass_hat_k() -> None:
    rows = rows_of(decided(interleaved(STUDY)))
    assert rows["pass_at_2"].difference is not None
    assert rows["pass_hat_2"].treatment is not None
    assert rows["pass_at_2"].treatment is not None
    assert rows["pass_hat_2"].treatment < rows["pass_at_2"].treatment
    assert not {name for name in rows_of(decided(interleaved({"t1": ([True], [False])}))) if name.startswith("pass")}


def with_interval(name: str, test: str, interval: str) -> EndpointResult:
    plan = planned((name, test))
    endpoints = tuple(replace(one, interval=interval) if one.name == name else one for one in plan.endpoints)
    trials = costed(interleaved(STUDY), alpha=0.6)
    return rows_of(decided(trials, plan=frozen(replace(plan, endpoints=endpoints))))[name]


@pytest.mark.parametrize("interval", ["percentile", "bca"])
@pytest.mark.parametrize(
    ("name", "test"),
    [
        ("cost_per_solved", "ratio_of_sums"),
        ("total_cost", "log_ratio_t"),
        ("input_tokens", "ratio_of_sums"),
        ("wall_time", "log_ratio_t"),
        ("agent_time", "ratio_of_sums"),
    ],
)
def test_the_interval_that_a_plan_names_is_the_one_that_is_given(name: str, test: str, interval: str) -> None:
    row = with_interval(name, test, interval)
    assert row.interval is not None
    assert row.interval.method == f"{interval} bootstrap over tasks"
    assert row.test == test
    assert row.ratio is not None
    assert row.interval.low is not None
    assert row.interval.high is not None
    assert row.interval.low < row.ratio < row.interval.high


def test_an_interval_of_the_other_test_is_given_and_one_that_cannot_be_had_leaves_none() -> None:
    row = with_interval("total_cost", "ratio_of_sums", "log_ratio_t")
    assert row.interval is not None
    assert row.interval.method == "log mean ratio, t on task means"
    none = with_interval("cost_per_solved", "ratio_of_sums", "log_ratio_t")
    assert none.interval is None
    assert none.decision is Verdict.NONE
    assert "the plan's interval, log_ratio_t, cannot be had for this endpoint" in none.note


def test_the_cost_splits_by_outcome_and_the_parts_add_up() -> None:
    rows = rows_of(decided(costed(interleaved(STUDY))))
    for side in ("treatment", "control"):
        parts = [getattr(rows[name], side) for name in ("cost_of_solved", "cost_of_unsolved")]
        assert sum(parts) == pytest.approx(getattr(rows["total_cost"], side))
    assert rows["cost_where_both_solved"].conditional
    assert rows["cost_of_solved"].p is None
