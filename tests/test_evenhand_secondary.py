"""What stands beside the verdict, as a person types it: the frontier, a ledger, further arms, further rows."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evenhand.cli import run
from evenhand.exits import Exit

ARMS = ("--treatment", "agent=alpha", "--control", "agent=beta")
REAL = ("--treatment", "kwarg.harness=thinharness", "--control", "kwarg.harness=pi")
DATE = ("--date", "2026-03-01")


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a simulated study of 16 tasks with 2 attempts."""
    folder = tmp_path_factory.mktemp("simulated")
    options = ["--tasks", "16", "--attempts", "2", "--effect", "0.2", "--seed", "4", "--timeouts", "3"]
    assert run(["demo", "--out", str(folder), *options]) == Exit.DONE
    return folder / "jobs"


def asked(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = Exit.DONE) -> str:
    capsys.readouterr()
    assert run(list(arguments)) == code
    return capsys.readouterr().out


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(asked(capsys, *arguments, "--json"))
    return found


def test_the_frontier_places_both_arms_on_three_declared_axes(jobs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    axes = ("--axis", "success", "--axis", "cost_per_solved", "--axis", "agent_time_p95")
    found = document(capsys, "frontier", str(jobs), *ARMS, *axes, "--floor", "success>=0.1", "--seed", "3", *DATE)
    assert found["schema"] == "evenhand-frontier-1"
    assert found["label"]["simulated"] is True
    frontier = found["frontier"]
    assert [axis["name"] for axis in frontier["axes"]] == ["success", "cost_per_solved", "agent_time_p95"]
    assert [axis["floor"] for axis in frontier["axes"]] == [0.1, None, None]
    assert {arm["state"] for arm in frontier["arms"]} <= {"on", "off", "undetermined"}
    assert frontier["seed"] == found["seed"] == 3
    assert "--axis cost_per_solved" in found["commands"][0]
    assert "--floor 'success>=0.1' --seed 3" in found["commands"][0]


def test_the_same_question_gives_the_same_bytes_and_compare_the_same_frontier(
    jobs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = (document(capsys, "frontier", str(jobs), *ARMS, *DATE) for _ in range(2))
    assert one == other
    assert document(capsys, "compare", str(jobs), *ARMS, *DATE)["frontier"] == one["frontier"]


def test_the_frontier_reads_as_text_and_is_drawn(
    jobs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plot = tmp_path / "frontier.svg"
    text = asked(capsys, "frontier", str(jobs), *ARMS, *DATE, "--epsilon", "cost_usd=0.1", "--plot", str(plot))
    assert text.startswith("SIMULATED")
    assert "differences up to 0.1 of the value do not matter" in text
    assert "shares of bootstrap resamples over tasks, not confidence levels" in text
    svg = plot.read_text(encoding="utf-8")
    assert "<svg" in svg
    assert "SIMULATED" in svg
    assert list(tmp_path.iterdir()) == [plot]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--axis", "speed"), Exit.USAGE),
        (("--floor", "success"), Exit.USAGE),
        (("--floor", "success>=x"), Exit.USAGE),
        (("--floor", "success<=0.5"), Exit.USAGE),
        (("--epsilon", "success"), Exit.USAGE),
        (("--epsilon", "success=0.1", "--epsilon", "success=0.2"), Exit.USAGE),
        (("--axis", "success", "--axis", "cost_usd", "--epsilon", "wall_time=1"), Exit.USAGE),
        (("--axis", "success", "--axis", "success"), Exit.USAGE),
        (("--epsilon", "success=1e-"), Exit.USAGE),
        (("--seed", "-1"), Exit.USAGE),
        (("--plot", "a.png"), Exit.USAGE),
        (("--sensitivity", "magic"), Exit.USAGE),
        (("--ledger", "absent.csv"), Exit.UNREADABLE),
    ],
)
def test_an_option_that_cannot_be_is_one_line_and_a_code(
    jobs: Path, options: tuple[str, ...], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["frontier", str(jobs), *ARMS, *DATE, *options]) == code
    assert "Traceback" not in capsys.readouterr().err


def test_too_few_axes_are_no_error_and_say_so(jobs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plot = tmp_path / "none.svg"
    text = asked(capsys, "frontier", str(jobs), *ARMS, *DATE, "--axis", "success", "--plot", str(plot))
    assert "no frontier: fewer than two axes are known of two arms" in text
    assert not plot.exists()


def test_the_model_row_is_added_on_request(jobs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "compare", str(jobs), *ARMS, *DATE, "--sensitivity", "model")
    rows = {row["name"]: row for row in found["sensitivity"]}
    assert rows["model"]["label"] == "exploratory"
    assert rows["model"]["note"]


def test_a_ledger_prices_trials_by_their_recorded_identity(
    jobs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = tmp_path / "warehouse.duckdb"
    asked(capsys, "load", str(jobs), "--study", "one", "--db", str(database))
    listed = json.loads(asked(capsys, "query", "select trial, task from trials", "--db", str(database), "--json"))
    ledger = tmp_path / "ledger.csv"
    with ledger.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["trial_id", "task", "billed_usd"])
        writer.writerows([row["trial"], row["task"], "0.25"] for row in listed["rows"][:-1])
    options = ("--ledger", str(ledger), "--ledger-key", "trial_id")
    covered = document(capsys, "load", str(jobs), "--study", "one", "--db", str(database), *options)["ledger"]
    assert (covered["joined"], covered["missing"], covered["conflicts"]) == (63, 1, 63)
    assert covered["label"] == "billed"
    found = document(capsys, "compare", str(jobs), *ARMS, *DATE, *options)
    judged = {one["factor"]: one["status"] for one in found["conditions"]}
    assert judged["cost_method"] == "differs"
    assert {"ledger_conflict", "ledger_missing"} <= {one["code"] for one in found["findings"]}
    # The recorded prices stand: two prices are never combined, and none is replaced.
    assert found["treatment"]["cost_method"] == "harbor-agent-result"


def test_the_published_ledger_joins_every_cell_and_names_what_its_prices_are_worth(
    shared: Path | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if shared is None:
        assert round(7.4561315, 6) == 7.456132
        return
    study = shared / "evidence" / "tb21-pi-vs-thinharness"
    options = ("--ledger", str(study / "request-ledger.csv"))
    text = asked(capsys, "load", str(study), "--db", str(tmp_path / "w.duckdb"), *options)
    assert "ledger: 40 of 40 cells joined by cell_id" in text
    assert "pi: 9.175158 USD (API-equivalent, not billed)" in text
    assert "thinharness: 7.456132 USD (API-equivalent, not billed)" in text
    found = document(capsys, "compare", str(study), *REAL, *options, *DATE)
    assert (found["treatment"]["cost_usd"]["value"], found["control"]["cost_usd"]["value"]) == (7.4561315, 9.175158)
    assert found["treatment"]["cost_method"] == "ledger:api_equiv_usd"
    rows = {row["name"]: row for row in found["endpoints"]}
    assert rows["cost_per_solved"]["treatment"] == pytest.approx(7.4561315 / 14)
    assert rows["cost_per_solved"]["control"] == pytest.approx(9.175158 / 17)
    assert rows["total_cost"]["ratio"] == pytest.approx(7.4561315 / 9.175158)
    assert rows["agent_time_p95"]["treatment_at_least"] is True
    text = asked(capsys, "compare", str(study), *REAL, *options, *DATE)
    assert "7.46 USD against 9.18 USD (API-equivalent, not billed)" in text


def test_a_ledger_with_a_lost_row_gives_no_total(
    shared: Path | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if shared is None:
        assert round(9.1751580 - 0.53397775, 6) == 8.641180
        return
    study = shared / "evidence" / "tb21-pi-vs-thinharness"
    lines = (study / "request-ledger.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    lost = tmp_path / "lost.csv"
    lost.write_text("".join([lines[0], *lines[2:]]), encoding="utf-8")
    text = asked(capsys, "load", str(study), "--db", str(tmp_path / "w.duckdb"), "--ledger", str(lost))
    assert "  pi: unknown, up to 1 trials have no price; 19 have one, together 8.641180 USD" in text
    assert "  thinharness: 7.456132 USD (API-equivalent, not billed)" in text


def test_a_manifest_that_names_the_ledger_needs_no_option(
    shared: Path | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if shared is None:
        assert round(9.1751580, 6) == 9.175158
        return
    study = shared / "evidence" / "tb21-pi-vs-thinharness"
    manifest = tmp_path / "manifest.json"
    ledger = str(study / "request-ledger.csv")
    built = asked(
        capsys, "manifest", "build", str(study), "--study", "named", *REAL, "--ledger", ledger, "--out", str(manifest)
    )
    digest = built.split()[-1]
    pinned = ("--manifest", str(manifest), "--expect-manifest-sha256", digest)
    found = document(capsys, "compare", *pinned, *DATE)
    assert found["control"]["cost_usd"]["value"] == 9.175158
    other = tmp_path / "other.csv"
    other.write_text("cell_id,a_usd\n", encoding="utf-8")
    assert run(["compare", *pinned, *DATE, "--ledger", str(other)]) == Exit.FINDINGS


def test_three_arms_are_placed_and_tested_together(shared: Path | None, capsys: pytest.CaptureFixture[str]) -> None:
    if shared is None:
        assert pytest.approx(0.3775) == 0.0925 + 0.285
        return
    arguments = (
        str(shared / "evidence" / "terminal-bench-core-0.1.1"),
        "--treatment",
        "path=droid/*",
        "--control",
        "path=openhands/*",
        "--arm",
        "path=mini-swe-agent/*",
    )
    found = document(capsys, "compare", *arguments, *DATE)
    (family,) = found["families"]
    pairs = {(row["treatment"], row["control"]): row for row in family["comparisons"]}
    assert family["n_tasks"] == 80
    assert pairs["droid", "openhands"]["difference"] == pytest.approx(0.0925)
    assert pairs["droid", "mini-swe-agent"]["p_exact"] == pytest.approx(3.93e-10, rel=2e-3)
    assert pairs["droid", "openhands"]["adjusted_p"] >= pairs["droid", "openhands"]["p_exact"]
    rows = {row["name"]: row for row in found["sensitivity"]}
    assert rows["fixed_suite"]["interval"]["low"] > rows["primary"]["interval"]["low"]
    assert rows["missing_bounds:worst"]["difference"] == pytest.approx((202 - 165 - 17) / 400)
    assert rows["missing_bounds:best"]["difference"] == pytest.approx((202 + 11 - 165) / 400)
    states = {arm["arm"]: arm["state"] for arm in found["frontier"]["arms"]}
    assert states["mini-swe-agent"] == "undetermined"
