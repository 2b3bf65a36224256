"""A fast subset of the coverage study that fails on a regression; the whole is `python -m benchmarks.coverage`."""

import csv
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from analysis.statistics.interval_methods import DEFAULT_INTERVAL_REPEATED, DEFAULT_INTERVAL_SINGLE
from benchmarks import coverage_agreeing, coverage_repeated, coverage_single
from benchmarks.coverage_repeated import FAST_METHODS, Setting, Studies, simulate
from benchmarks.coverage_report import Study, picture, read, summary, write
from benchmarks.coverage_single import Cell

COMMITTED = Path(__file__).resolve().parents[1] / "docs" / "coverage"
REPLICATES = 3000


@cache
def primary(n: int) -> tuple[Cell, ...]:
    return coverage_single.coverage(DEFAULT_INTERVAL_SINGLE, n=n)


@pytest.mark.parametrize("n", coverage_single.TASKS)
def test_the_primary_interval_of_one_trial_covers_everywhere_against_enumeration(n: int) -> None:
    coverage = [cell.coverage for cell in primary(n)]
    assert min(coverage) >= 0.94
    assert 0.945 <= float(np.mean(coverage)) <= 0.975


@pytest.mark.parametrize("n", coverage_single.TASKS)
def test_wrong_verdicts_at_the_minimum_effect_and_margin_are_rare_against_enumeration(n: int) -> None:
    wrong = [cell.above for cell in primary(n)]
    assert float(np.mean(wrong)) <= 0.025
    assert max(wrong) <= 0.04


@pytest.mark.parametrize("n", coverage_single.TASKS)
def test_type_one_error_of_the_sign_flip_test_of_one_trial_against_enumeration(n: int) -> None:
    assert max(cell.type_one for cell in coverage_single.type_one("exact", n=n)) <= 0.05
    assert max(cell.type_one for cell in coverage_single.type_one("mid_p", n=n)) <= 0.055


def test_the_unconditional_test_keeps_its_level_against_enumeration() -> None:
    assert max(cell.type_one for cell in coverage_single.type_one("exact_unconditional", n=24)) <= 0.05


@pytest.mark.parametrize("trials", [3, 5])
@pytest.mark.parametrize("n", coverage_single.TASKS)
def test_the_default_for_repeated_trials_that_always_agree_meets_every_goal_against_enumeration(
    n: int, trials: int
) -> None:
    cells = coverage_single.coverage(DEFAULT_INTERVAL_REPEATED, n=n, trials=trials)
    assert min(cell.coverage for cell in cells) >= 0.94
    assert max(max(cell.above, cell.below) for cell in cells) <= 0.04
    assert float(np.mean([side for cell in cells for side in (cell.above, cell.below)])) <= 0.025


@pytest.mark.parametrize("place", range(0, len(coverage_agreeing.settings()), 23))
def test_the_default_for_trials_that_nearly_agree_covers_in_simulated_studies(place: int) -> None:
    setting = coverage_agreeing.settings()[place]
    rows = coverage_agreeing.rows(setting, replicates=REPLICATES, rng=np.random.default_rng([2, place]))
    row = next(row for row in rows if row.method == DEFAULT_INTERVAL_REPEATED)
    # Three standard errors of the simulation.
    assert row.coverage >= 0.94 - 3 * np.sqrt(0.94 * 0.06 / REPLICATES)
    assert max(row.above, row.below) <= 0.04 + 3 * np.sqrt(0.04 * 0.96 / REPLICATES)


@pytest.mark.parametrize("n", coverage_single.TASKS)
def test_equal_arms_are_rarely_called_superior_against_enumeration(n: int) -> None:
    wrong = [
        coverage_single.wrongly_superior(DEFAULT_INTERVAL_SINGLE, n=n, minimum_effect=effect)
        for effect in (0.005, 0.02, 0.05)
    ]
    assert max(wrong) <= 0.025
    assert wrong == sorted(wrong, reverse=True)


def test_chances_of_all_tables_add_up_against_theory() -> None:
    chance = coverage_single.chances(n=24, discordance=0.3, difference=0.1)
    gains, losses = np.indices(chance.shape)
    assert float(chance.sum()) == pytest.approx(1)
    assert float((chance * (gains - losses)).sum()) / 24 == pytest.approx(0.1)
    assert float((chance * (gains + losses)).sum()) / 24 == pytest.approx(0.3)


@cache
def simulated(place: int) -> tuple[Setting, Studies]:
    setting = coverage_repeated.settings()[place]
    return setting, simulate(setting, replicates=REPLICATES, rng=np.random.default_rng([1, place]))


SETTINGS = range(0, len(coverage_repeated.settings()), 3)


@pytest.mark.parametrize("place", SETTINGS)
def test_the_default_interval_of_several_trials_covers_in_simulated_studies(place: int) -> None:
    setting, studies = simulated(place)
    low, high = FAST_METHODS[DEFAULT_INTERVAL_REPEATED](studies)
    covered = (low <= setting.scenario.difference) & (setting.scenario.difference <= high)
    # Three standard errors of the simulation.
    assert float(covered.mean()) >= 0.94 - 3 * np.sqrt(0.94 * 0.06 / REPLICATES)


@pytest.mark.parametrize("place", SETTINGS)
def test_many_studies_at_once_agree_with_one_at_a_time(place: int) -> None:
    _, studies = simulated(place)
    low, high = FAST_METHODS[DEFAULT_INTERVAL_REPEATED](studies)
    ones = coverage_repeated._one_by_one(studies, DEFAULT_INTERVAL_REPEATED, replicates=5)
    assert np.allclose(np.maximum(-1, low[:5]), ones[0], atol=1e-12)
    assert np.allclose(np.minimum(1, high[:5]), ones[1], atol=1e-12)


@pytest.mark.parametrize("place", SETTINGS)
def test_the_true_difference_of_a_scenario_is_that_of_its_suites_against_simulation(place: int) -> None:
    setting, studies = simulated(place)
    error = studies.suite_difference.std() / np.sqrt(REPLICATES)
    assert studies.suite_difference.mean() == pytest.approx(setting.scenario.difference, abs=4 * error + 1e-12)


def test_the_sign_flip_test_keeps_its_level_in_a_null_scenario() -> None:
    null = next(s for s in coverage_repeated.settings() if s.scenario.name == "null, task-by-arm SD 2" and s.n == 24)
    row = coverage_repeated.type_one(simulate(null, replicates=2000, rng=np.random.default_rng(3)), null)
    error = np.sqrt(0.05 * 0.95 / 2000)
    assert row.exact <= 0.05 + 3 * error
    assert row.mid_p <= 0.06 + 3 * error


def test_the_study_writes_the_same_bytes_twice(tmp_path: Path) -> None:
    cells = coverage_single.coverage("tango", n=24)
    agreeing = tuple(
        cell for method in ("pseudo_task_t", "mj_floor") for cell in coverage_single.coverage(method, n=24, trials=3)
    )
    setting = next(s for s in coverage_repeated.settings() if s.scenario.name.startswith("A/A") and s.n == 24)
    studies = simulate(setting, replicates=50, rng=np.random.default_rng(1))
    nearly = next(s for s in coverage_agreeing.settings() if s.n == 24)
    study = Study(
        enumerated=cells + agreeing,
        enumerated_null=coverage_single.type_one("exact", n=24),
        simulated=tuple(coverage_repeated.rows(studies, setting, slow_replicates=5)),
        simulated_null=(coverage_repeated.type_one(studies, setting),),
        agreeing=tuple(coverage_agreeing.rows(nearly, replicates=50, rng=np.random.default_rng(2))),
    )
    for name in ("one", "two"):
        write(study, into=tmp_path / name)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def committed(name: str) -> list[dict[str, str]]:
    with (COMMITTED / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_committed_enumeration_is_what_the_code_gives() -> None:
    rows = [row for row in committed("enumerated") if row["method"] == "tango" and row["n"] == "24"]
    ours = {(cell.discordance, cell.difference): cell.coverage for cell in primary(24)}
    assert len(rows) == len(ours)
    for row in rows:
        key = (float(row["discordance"]), float(row["difference"]))
        assert float(row["coverage"]) == pytest.approx(ours[key], abs=6e-6)


def test_the_committed_simulation_meets_the_goals() -> None:
    rows = [row for row in committed("simulated") if row["method"] == DEFAULT_INTERVAL_REPEATED]
    assert len(rows) == len(coverage_repeated.settings())
    assert min(int(row["replicates"]) for row in rows) >= 20_000
    assert min(float(row["coverage"]) for row in rows) >= 0.94
    assert max(float(row["above_zero"]) for row in rows if row["scenario"].startswith("A/A")) <= 0.025
    null = committed("simulated_null")
    # Within three standard errors of 20,000 replicates.
    assert max(float(row["exact"]) for row in null) <= 0.05 + 0.0046
    assert max(float(row["mid_p"]) for row in null) <= 0.06


def test_the_committed_summary_and_picture_follow_from_the_committed_tables() -> None:
    study = read(COMMITTED)
    assert (COMMITTED / "README.md").read_text(encoding="utf-8") == summary(study)
    assert (COMMITTED / "coverage.svg").read_text(encoding="utf-8") == picture(study)


@pytest.mark.parametrize("table", ["enumerated", "simulated", "agreeing"])
def test_the_default_meets_every_goal_in_every_committed_cell(table: str) -> None:
    rows = [row for row in committed(table) if row["method"] == DEFAULT_INTERVAL_REPEATED]
    sides = [float(row[side]) for row in rows for side in ("above", "below")]
    assert (
        len(rows)
        == {
            "enumerated": 3 * len(coverage_single.coverage(DEFAULT_INTERVAL_SINGLE, n=24)) * len(coverage_single.TASKS),
            "simulated": len(coverage_repeated.settings()),
            "agreeing": len(coverage_agreeing.settings()),
        }[table]
    )
    assert min(float(row["coverage"]) for row in rows) >= 0.94
    assert max(sides) <= 0.04
    assert float(np.mean(sides)) <= 0.025


def test_the_committed_picture_is_a_whole_image_without_a_date() -> None:
    text = (COMMITTED / "coverage.svg").read_text(encoding="utf-8")
    assert text.rstrip().endswith("</svg>")
    assert "dc:date" not in text


@pytest.mark.parametrize("method", ["task_score", "pseudo_task_t", "mj_floor"])
def test_the_summary_counts_what_each_candidate_gets_wrong_in_each_part(method: str) -> None:
    said = []
    for table in ("simulated", "enumerated", "agreeing"):
        cells = [one for one in committed(table) if one["method"] == method and one["trials"] != "1"]
        worst = [max(float(one["above"]), float(one["below"])) for one in cells]
        over, under = sum(most > 0.04 for most in worst), sum(float(one["coverage"]) < 0.94 for one in cells)
        said.append(f"{over} of {len(cells)} | {under} | {max(worst):.4f}")
    assert f"| {method} | {' | '.join(said)} |" in (COMMITTED / "README.md").read_text(encoding="utf-8")
