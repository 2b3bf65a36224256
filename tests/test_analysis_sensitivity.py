"""The sensitivity table: every promised row is there, says what was done, and what was not promised says so."""

import re
import sys
from dataclasses import replace
from importlib.util import find_spec
from math import comb

import numpy as np
import pytest

from analysis.decision import Decision, SensitivityRow, Verdict
from analysis.evidence.trial import Format, Outcome, Trial
from analysis.model_row import NOT_INSTALLED, fit_gee
from analysis.secondary import Wishes
from analysis.statistics.paired_table import PairedTable
from analysis.statistics.score_intervals import tango
from preregistration.plan import Exclusion, FrozenPlan
from tests.building import Cells, interleaved, trial
from tests.deciding import PLAN, decided, frozen

# 3 tasks only alpha solves, 1 only beta, 4 both, 2 none.
STUDY: Cells = {
    **{f"a{i}": ([True], [False]) for i in range(3)},
    "b0": ([False], [True]),
    **{f"c{i}": ([True], [True]) for i in range(4)},
    **{f"d{i}": ([False], [False]) for i in range(2)},
}


def table(decision: Decision) -> dict[str, SensitivityRow]:
    return {row.name: row for row in decision.sensitivity}


def test_the_primary_row_repeats_the_decision_and_raw_leaves_nothing_out() -> None:
    decision = decided(interleaved(STUDY))
    rows = table(decision)
    assert rows["primary"].difference == decision.difference == rows["raw"].difference
    assert rows["primary"].interval == decision.interval
    assert rows["primary"].p_exact == decision.p_exact


def test_an_exclusion_is_undone_in_a_row_of_its_own() -> None:
    plan = replace(PLAN, exclusions=(Exclusion(task="a0", reason="broken"), Exclusion(task="b0", reason="broken")))
    rows = table(decided(interleaved(STUDY), plan=frozen(plan)))
    assert (rows["primary"].n_tasks, rows["raw"].n_tasks) == (8, 10)
    assert (rows["each_exclusion:a0"].n_tasks, rows["each_exclusion:a0"].difference) == (9, 3 / 9)
    assert (rows["each_exclusion:b0"].n_tasks, rows["each_exclusion:b0"].difference) == (9, 1 / 9)


def test_leaving_one_task_out_gives_both_extremes_against_enumeration() -> None:
    rows = table(decided(interleaved(STUDY)))
    smallest, largest = rows["leave_one_task_out:smallest"], rows["leave_one_task_out:largest"]
    assert (smallest.difference, largest.difference) == (1 / 9, 3 / 9)
    assert (smallest.note, largest.note) == ("without a0", "without b0")
    assert smallest.p_exact == 1.0
    assert largest.p_exact == 0.25


def test_one_task_leaves_none_out() -> None:
    rows = table(decided(interleaved({"t": ([True], [False])})))
    assert rows["leave_one_task_out"].difference is None
    assert "one task leaves none" in rows["leave_one_task_out"].note


def test_missing_trials_are_bounded_on_both_sides_and_the_tipping_point_is_said() -> None:
    cells: Cells = {**STUDY, "m0": ([None], [True]), "m1": ([None], [True]), "m2": ([True], [None])}
    rows = table(decided(interleaved(cells)))
    worst, best = rows["missing_bounds:worst"], rows["missing_bounds:best"]
    assert rows["primary"].difference == pytest.approx((4 - 3) / 13)
    assert worst.difference == pytest.approx((3 - 3) / 13)
    assert best.difference == pytest.approx((4 - 1) / 13)
    expected = tango(PairedTable(n11=5, n10=3, n01=3, n00=2), level=0.95)
    assert worst.interval is not None
    assert (worst.interval.low, worst.interval.high) == pytest.approx((expected.low, expected.high))
    assert "2 trials of the treatment and 1 of the control" in best.note
    assert "this holds whatever the treatment's missing trials were" in rows["missing_bounds:tipping_point"].note


def test_a_conclusion_that_missing_trials_could_turn_says_where() -> None:
    cells: Cells = {**{f"a{i}": ([True], [False]) for i in range(12)}, **{f"m{i}": ([None], [True]) for i in range(5)}}
    note = table(decided(interleaved(cells)))["missing_bounds:tipping_point"].note
    assert note.startswith("the score interval of the tasks does not exclude zero: ")
    assert "this no longer holds where more than" in note


@pytest.mark.parametrize("plan", [None, frozen(PLAN)])
@pytest.mark.parametrize("ahead", [2, 20])
@pytest.mark.parametrize("behind", [0, 20])
@pytest.mark.parametrize("ties", [0, 80])
def test_a_tipping_point_is_told_without_a_word_of_a_verdict(
    plan: FrozenPlan | None, ahead: int, behind: int, ties: int
) -> None:
    cells: Cells = {
        "m0": ([None], [True]),
        **{f"a{i}": ([True], [False]) for i in range(ahead)},
        **{f"b{i}": ([False], [True]) for i in range(behind)},
        **{f"c{i}": ([True], [True]) for i in range(ties)},
    }
    note = table(decided(interleaved(cells), plan=plan))["missing_bounds:tipping_point"].note
    said = {word for verdict in Verdict for word in verdict.value.split("_")} | {"conclusion", "non-inferior"}
    assert not said & set(re.findall(r"[a-z-]+", note))
    assert "zero" in note or "lies" in note


def test_a_study_without_gaps_says_that_nothing_is_missing() -> None:
    assert "every trial has a grade" in table(decided(interleaved(STUDY)))["missing_bounds"].note


def test_harbors_two_rules_drop_and_count_trials_without_a_valid_reward() -> None:
    cells: Cells = {"a": ([True, None], [True, False]), "b": ([True, True], [False, False])}
    trials = interleaved(cells)
    # A reward beside a provider's failure counts up to 0.25 and is dropped from 0.26 on.
    last = max(place for place, item in enumerate(trials) if item.arm.agent == "beta" and item.task.name == "b")
    trials[last] = replace(trials[last], exception_type="ApiRateLimitError", reward=1.0, outcome=Outcome.SOLVED)
    rows = table(decided(trials))
    assert rows["harbor_grading:up_to_0.25"].difference == pytest.approx(3 / 4 - 2 / 4)
    assert rows["harbor_grading:from_0.26"].difference == pytest.approx(3 / 3 - 1 / 3)


def test_the_same_twelve_trials_have_the_two_means_that_were_measured() -> None:
    rewards = [1.0] * 6 + [0.5, 0.0, 0.0] + [None] * 3
    trials: list[Trial] = []
    for place, reward in enumerate(rewards):
        solved = None if reward is None else reward == 1.0
        trials.append(replace(trial(f"t{place:02d}", "alpha", solved=solved, minute=4 * place), reward=reward))
        trials.append(trial(f"t{place:02d}", "beta", solved=False, minute=4 * place + 2))
    rows = table(decided(trials))
    assert rows["harbor_grading:up_to_0.25"].difference == pytest.approx(0.5417, abs=5e-5)
    assert rows["harbor_grading:from_0.26"].difference == pytest.approx(0.7222, abs=5e-5)


def test_a_reward_beyond_one_and_another_format_have_no_harbor_row_to_compute() -> None:
    trials = interleaved(STUDY)
    odd = [replace(trials[0], reward=7.0), *trials[1:]]
    assert table(decided(odd))["harbor_grading"].difference is None
    other = [replace(item, format=Format.TERMINAL_BENCH) for item in trials]
    assert not [name for name in table(decided(other)) if name.startswith("harbor")]


def test_per_protocol_drops_failures_of_the_provider_and_settings_that_stray() -> None:
    trials = interleaved({f"t{i}": ([True], [i % 2 == 0]) for i in range(6)})
    trials[0] = replace(trials[0], exception_type="ApiRateLimitError")
    stray = next(place for place, item in enumerate(trials) if item.task.name == "t3")
    shown = tuple((factor, "other" if factor == "region" else value) for factor, value in trials[stray].conditions)
    trials[stray] = replace(trials[stray], conditions=shown)
    row = table(decided(trials))["per_protocol"]
    assert row.n_tasks == 4
    assert row.note.startswith("2 trials left out")


def test_the_fixed_suite_needs_two_trials_and_says_so() -> None:
    row = table(decided(interleaved(STUDY)))["fixed_suite"]
    assert row.interval is None
    assert "at least 2 are needed" in row.note
    twice = table(decided(interleaved({task: ([*a, *a], [*b, *b]) for task, (a, b) in STUDY.items()})))
    assert twice["fixed_suite"].interval is not None


def test_rows_that_the_plan_did_not_promise_are_exploratory_and_late_ones_post_hoc() -> None:
    plan = frozen(replace(PLAN, sensitivity=("raw", "missing_bounds")))
    rows = table(decided(interleaved(STUDY), plan=plan))
    assert rows["raw"].label == rows["missing_bounds"].label == rows["primary"].label == "confirmatory"
    assert rows["fixed_suite"].label == rows["leave_one_task_out:smallest"].label == "exploratory"
    late = replace(plan, frozen_at=plan.frozen_at.replace(year=2027))
    assert table(decided(interleaved(STUDY), plan=late))["raw"].label == "post hoc"
    assert {row.label for row in decided(interleaved(STUDY)).sensitivity} == {"exploratory"}


def test_the_model_row_is_computed_on_request_only_and_says_what_it_lacks() -> None:
    assert "model" not in table(decided(interleaved(STUDY)))
    row = table(decided(interleaved(STUDY), wishes=Wishes(sensitivity=("model",))))["model"]
    if find_spec("statsmodels") is None:
        assert (row.difference, row.note) == (None, NOT_INSTALLED)
        return
    assert row.difference == pytest.approx(0.2, abs=1e-6)
    assert "Wald p = " in row.note


def test_the_model_recovers_the_marginal_difference_against_theory() -> None:
    if find_spec("statsmodels") is None:
        assert "statsmodels" not in sys.modules
        return
    rng = np.random.default_rng(3)
    task = np.tile(np.arange(200), 4)
    treated = np.repeat([True, True, False, False], 200)
    solved = rng.random(800) < np.where(treated, 0.7, 0.4)
    fit = fit_gee(solved, treated, task.astype(np.int64))
    share = 1 / (1 + np.exp(-np.cumsum(fit.coefficients)))
    assert share == pytest.approx([solved[~treated].mean(), solved[treated].mean()], abs=1e-3)


def test_few_discordant_tasks_are_warned_of_with_the_smallest_p_they_can_give() -> None:
    decision = decided(interleaved(STUDY))
    (note,) = [note for note in decision.notes if note.startswith("low discordance")]
    assert "differ on 4 of 10 tasks" in note
    assert f"below {2 / 2**4:.3g}" in note
    many: Cells = {f"t{i}": ([i % 2 == 0], [i % 2 == 1]) for i in range(12)}
    assert not [note for note in decided(interleaved(many)).notes if note.startswith("low discordance")]


def test_test_and_interval_that_disagree_are_both_said_against_the_published_table() -> None:
    # The airway study: 1, 1, 7, 12; exact p .0703, mid-p .0391, Tango excludes zero.
    cells: Cells = {
        "a": ([True], [True]),
        "b": ([True], [False]),
        **{f"c{i}": ([False], [True]) for i in range(7)},
        **{f"d{i:02d}": ([False], [False]) for i in range(12)},
    }
    decision = decided(interleaved(cells))
    assert decision.p_exact == pytest.approx(2 * sum(comb(8, k) for k in range(2)) / 2**8)
    assert decision.p_mid == pytest.approx(0.0391, abs=5e-5)
    assert decision.interval is not None
    assert decision.interval.high < 0
    (note,) = [note for note in decision.notes if "disagree" in note]
    assert note.startswith("the exact p and the interval disagree: the interval excludes zero")
    assert decision.verdict is Verdict.NONE
