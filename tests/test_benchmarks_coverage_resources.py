"""A fast part of the coverage study runs with the tests and fails on regression."""

import csv
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from benchmarks.coverage_cost import cost_rows
from benchmarks.coverage_frontier import frontier_rows
from benchmarks.coverage_latency import CLOCKS, latency_rows, quantile_rows
from benchmarks.coverage_looks import look_rows, sequence_rows
from benchmarks.coverage_rates import Row, Size, coverage_row, error_row
from benchmarks.coverage_resources import Measure, read_table, settings, summary, table
from benchmarks.resource_worlds import NULLS, WORLDS, simulate, true_components, true_cost_per_solved

COMMITTED = Path(__file__).resolve().parents[1] / "docs" / "coverage" / "resources.csv"
STUDIED = COMMITTED.read_text(encoding="utf-8")

FAST: list[tuple[str, Measure, Size]] = [
    *((f"cost {w.name}", partial(cost_rows, w), Size(n_tasks=24, attempts=1, replicates=3000)) for w in WORLDS),
    *((f"cost {w.name} 89", partial(cost_rows, w), Size(n_tasks=89, attempts=3, replicates=1500)) for w in WORLDS),
    *((f"latency {c.name}", partial(latency_rows, c), Size(n_tasks=24, attempts=1, replicates=3000)) for c in CLOCKS),
    *((f"quantiles {c.name}", partial(quantile_rows, c), Size(n_tasks=89, attempts=3, replicates=60)) for c in CLOCKS),
    ("frontier", partial(frontier_rows, NULLS[0]), Size(n_tasks=24, attempts=1, replicates=100)),
    ("looks", partial(look_rows, NULLS[0]), Size(n_tasks=24, attempts=3, replicates=1500)),
    ("sequences", partial(sequence_rows, NULLS[1]), Size(n_tasks=24, attempts=1, replicates=150)),
]


@pytest.mark.parametrize(("measure", "size"), [pytest.param(m, s, id=name) for name, m, s in FAST])
def test_every_goal_is_met_against_itself(measure: Measure, size: Size) -> None:
    rows = list(measure(size, rng=np.random.default_rng(20_261_130)))
    assert [row for row in rows if row.met == "NO"] == []
    assert any(row.goal for row in rows)


def test_true_values_are_those_of_a_large_simulation() -> None:
    for world in WORLDS:
        studies = simulate(world, n_tasks=400, attempts=3, studies=500, rng=np.random.default_rng(1))
        simulated = studies.cost.sum(axis=(1, 2)) / studies.solved.sum(axis=(1, 2))
        assert simulated == pytest.approx(true_cost_per_solved(world), rel=0.02)


def test_true_components_are_those_of_a_large_simulation() -> None:
    world = NULLS[2]
    solved = simulate(world, n_tasks=2000, attempts=1, studies=100, rng=np.random.default_rng(2)).solved
    between, within = true_components(world)
    assert (solved[0] - solved[1]).var() == pytest.approx(between + within, rel=0.02)


def test_the_committed_study_meets_every_goal() -> None:
    rows = read_table(STUDIED)
    judged = [row for row in rows if row.goal]
    assert len(judged) >= 100
    assert [row for row in judged if row.met != "yes"] == []
    assert min(row.replicates for row in judged) >= 5000 * 0.99
    assert {row.study for row in judged} == {"cost", "latency", "sequential", "confidence_sequence", "frontier"}


def test_the_committed_page_is_made_from_the_committed_table() -> None:
    assert COMMITTED.with_suffix(".md").read_text(encoding="utf-8") == summary(read_table(STUDIED))
    assert table(read_table(STUDIED)) == STUDIED


def test_the_committed_study_is_the_one_that_the_settings_describe() -> None:
    studied = {(row.n_tasks, row.attempts, row.study) for row in read_table(STUDIED)}
    assert {(s.n_tasks, s.attempts) for s in settings()} == {(n, k) for n, k, _ in studied}


def rows_of(rate: float) -> tuple[Row, Row]:
    size = Size(n_tasks=24, attempts=1, replicates=1000)
    happened = np.arange(1000) < 1000 * rate
    return (
        coverage_row("cost", "w", size, measure="m", held=happened),
        error_row("frontier", "w", size, measure="m", wrong=happened),
    )


@pytest.mark.parametrize(("rate", "covered", "kept"), [(0.94, "yes", "NO"), (0.92, "yes", "NO"), (0.05, "NO", "yes")])
def test_a_goal_is_judged_within_two_standard_errors(rate: float, covered: str, kept: str) -> None:
    coverage, error = rows_of(rate)
    assert (coverage.met, error.met) == (covered, kept)


def test_the_page_shows_the_worst_and_counts_what_is_missed() -> None:
    coverage, error = rows_of(0.5)
    page = summary([coverage, error, *rows_of(0.96)[:1]])
    assert "1 of 3 rates meet their goal." in page
    assert "| 0.500 ± 0.016 | w | >= 0.93 | NO |" in page
    assert "| 0.960" not in page
    assert table([coverage]).splitlines()[1] == "cost,w,24,1,m,1000,0.50000,0.01581,>= 0.93,NO"


def test_the_page_names_every_rate_that_meets_its_goal_only_within_the_simulation_error_against_arithmetic() -> None:
    page = COMMITTED.with_suffix(".md").read_text(encoding="utf-8").splitlines()
    with COMMITTED.open(encoding="utf-8", newline="") as file:
        judged = [line for line in csv.DictReader(file) if line["goal"]]
    short = 0
    for line in judged:
        side, goal = line["goal"].split()
        rate, replicates = float(line["rate"]), int(line["replicates"])
        apart = (float(goal) - rate) * (1 if side == ">=" else -1)
        error = (rate * (1 - rate) / replicates) ** 0.5
        assert apart <= 2 * error
        start = f"| {line['study']} | {line['measure']} | {line['n_tasks']} x {line['attempts']} | {line['world']} |"
        shown = [row for row in page if row.startswith(start) and row.endswith(" standard errors |")]
        assert bool(shown) == (apart > 0)
        for row in shown:
            assert row.endswith(f" {rate:.5f} | {error:.5f} | {replicates} | {apart / error:.2f} standard errors |")
        short += apart > 0
    assert f"{short} of them do so only within the simulation error; goal and rate differ by:" in page


def test_a_page_without_rates_short_of_their_goal_says_so() -> None:
    assert "Each of them does so by the rate itself." in summary(rows_of(0.96)[:1])


def test_every_setting_has_a_name_of_its_own() -> None:
    names = [(setting.name, setting.n_tasks, setting.attempts) for setting in settings()]
    assert len(set(names)) == len(names)
