"""Two arms' wall clocks in a decision are those of `evenhand timing`, read off the same trials."""

from pathlib import Path

from analysis.arm_clocks import ArmClocks
from analysis.audit import Arm, AuditedTrials, audit
from analysis.evidence import read_evidence
from analysis.evidence.coder_eval import read_timed_runs
from analysis.measure_arm_clocks import clock_findings, measure_arm_clocks
from analysis.timing import arm_timings
from harness.kinds import EndStatus, Harness
from manifests.manifest import ArmRole
from manifests.selectors import parse_selector
from tests.timed_folders import turn, write_ours

SIDES = {"treatment": "pi", "control": "opencode"}


def study(folder: Path, *, arms: dict[str, str] | None = None) -> AuditedTrials:
    named = arms or {"pi": "agent=pi", "opencode": "agent=opencode"}
    roles: list[ArmRole] = ["treatment", "control"]
    chosen = [
        Arm(name=name, role=role, selector=parse_selector(selector))
        for role, (name, selector) in zip(roles, named.items(), strict=False)
    ]
    return audit(read_evidence([folder]), chosen)


def measured(audited: AuditedTrials) -> ArmClocks:
    found = measure_arm_clocks(audited, **SIDES)
    assert found is not None
    return found


def write_arm(folder: Path, harness: Harness, *, capped: int = 0, of: int = 20, **fields: object) -> None:
    for number in range(of):
        status = EndStatus.MAX_TURNS_EXHAUSTED if number < capped else EndStatus.COMPLETED
        turns = [turn(harness, end_ms=6000.0 + 10 * number, status=status)]
        write_ours(folder, harness, task_id=f"task-{number:02d}", turns=turns, **fields)


def test_the_numbers_are_those_of_the_timing_verb(tmp_path: Path) -> None:
    for harness in (Harness.PI, Harness.OPENCODE):
        write_arm(tmp_path / "run", harness, of=3)
    clocks = measured(study(tmp_path))
    timings = {timing.harness: timing for timing in arm_timings(read_timed_runs([tmp_path]))}
    assert [(clock.side, clock.harness) for clock in clocks.arms] == [("treatment", "pi"), ("control", "opencode")]
    for clock in clocks.arms:
        timing = timings[clock.harness]
        assert clock.buckets == timing.buckets
        assert clock.to_first_delta_first == timing.to_first_delta_first
        assert (clock.attempts, clock.turns, clock.gated, clock.beyond) == (3, 3, 3, 0)
        assert (clock.cap_limits, clock.simulated) == ((40,), 3)
    assert not clocks.one_harness


def test_an_arm_of_which_more_than_five_percent_ended_at_the_cap_is_a_finding(tmp_path: Path) -> None:
    write_arm(tmp_path / "run", Harness.PI, capped=2)
    write_arm(tmp_path / "run", Harness.OPENCODE, capped=1)
    (finding,) = clock_findings(measured(study(tmp_path)))
    assert (finding.code, finding.arm) == ("turn_cap_reached", "pi")
    assert finding.detail == "2 of 20 attempts ended at the turn cap (40, counted in steps)"
    assert list(clock_findings(None)) == []


def test_an_arm_that_no_runner_timed_is_said_and_makes_no_single_harness(tmp_path: Path) -> None:
    write_arm(tmp_path / "run", Harness.PI, of=2)
    clocks = measured(study(tmp_path, arms={"pi": "agent=pi"}))
    assert [clock.side for clock in clocks.arms] == ["treatment"]
    assert not clocks.one_harness
    assert "opencode: no runner timed its turns" in clocks.notes


def test_without_timed_trials_there_are_no_clocks() -> None:
    nobody = audit(read_evidence([]), [])
    assert measure_arm_clocks(nobody, **SIDES) is None


def test_two_variants_of_one_harness_compare_bucket_by_bucket(tmp_path: Path) -> None:
    for arm in ("new", "old"):
        write_arm(tmp_path / "run", Harness.PI, of=2, arm=arm)
    audited = study(tmp_path, arms={"new": "kwarg.variant=new", "old": "kwarg.variant=old"})
    clocks = measure_arm_clocks(audited, treatment="new", control="old")
    assert clocks is not None
    assert clocks.one_harness
    assert [clock.recorded_as for clock in clocks.arms] == ["new", "old"]


def test_an_arm_that_was_recorded_under_two_names_has_a_clock_for_each(tmp_path: Path) -> None:
    write_arm(tmp_path / "run", Harness.PI, of=2, arm="first")
    write_arm(tmp_path / "again", Harness.PI, of=1, arm="second")
    write_arm(tmp_path / "run", Harness.OPENCODE, of=2)
    clocks = measured(study(tmp_path))
    found: list[tuple[str, str, int]] = [(one.side, one.recorded_as, one.attempts) for one in clocks.arms]
    assert found == [("treatment", "first", 2), ("treatment", "second", 1), ("control", "opencode-arm", 2)]


def test_the_most_attempts_at_once_is_not_known_where_none_is_noted(tmp_path: Path) -> None:
    write_arm(tmp_path / "run", Harness.PI, of=2)
    (clock,) = measured(study(tmp_path, arms={"pi": "agent=pi"})).arms
    assert (clock.jobs, clock.at_once) == ((), None)
