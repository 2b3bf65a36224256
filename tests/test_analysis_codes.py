"""One fixture for each finding code: the smallest evidence in which it is found, and no code without one."""

import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import pytest

from analysis.audit import Arm, audit
from analysis.beside import open_beside
from analysis.codes import CODES, ENDING_CODES, code_table
from analysis.evidence import read_evidence
from analysis.evidence.coder_eval import read_timed_runs
from analysis.evidence.ledger import read_ledger
from analysis.evidence.locate import list_folder
from analysis.evidence.reading import Reading
from analysis.evidence.trial import Evidence, Outcome, TaskIdentity, Trial, Usage
from analysis.gravity import STRICT, gravity_of
from analysis.ledger import join_ledger
from analysis.measure_arm_clocks import clock_findings, measure_arm_clocks
from analysis.methods import selection_findings
from analysis.order import order_findings, run_order
from analysis.promise import Promise
from analysis.promised import look_findings
from harness.kinds import EndStatus, Harness
from manifests.finding import Finding
from manifests.manifest import ManifestFile, PinnedManifest
from manifests.selectors import parse_selector
from preregistration.schedule import Start, compare_with_schedule
from tests.builders_context import PROMISE
from tests.building import ARMS, START, Cells, a_manifest, audited, evidence, interleaved, trial, with_clock
from tests.deciding import decided
from tests.recording import (
    at,
    harbor_lock,
    harbor_result,
    job_result,
    locked,
    swe_report,
    swe_verdict,
    tb_metadata,
    tb_trial,
    write,
    write_job,
    write_run,
)
from tests.test_analysis_methods import ROWS as METHOD_ROWS
from tests.test_preregistration_schedule import schedule, started
from tests.timed_folders import turn, write_ours

ROOT = Path(__file__).resolve().parents[1]
Row = Callable[[Path], Iterable["Coded"]]
PLAIN = {"a": ([True], [False]), "b": ([False], [True])}
LARGEST = 8 * 1024 * 1024
TIMEOUT = {"exception_type": "AgentTimeoutError"}


class Coded(Protocol):
    """A finding, or a count of findings in a decision."""

    @property
    def code(self) -> str:
        """Its code."""


def one(**changes: object) -> Row:
    """A Harbor job of one trial that differs from a plain one."""
    return lambda folder: read_evidence([write_job(folder / "job", harbor_result(**changes))]).findings


def job(*results: dict[str, object], **changes: object) -> Row:
    """A Harbor job whose own result differs from a plain one."""
    own = job_result(**{"n_total_trials": len(results), **changes})
    return lambda folder: read_evidence([write_job(folder / "job", *results, result=own)]).findings


def raw(data: bytes) -> Row:
    """A Harbor job beside a trial whose result is these bytes."""

    def row(folder: Path) -> Iterable[Finding]:
        write_job(folder / "job", harbor_result())
        write(folder / "job" / "task-2__abc1234" / "result.json", data)
        return read_evidence([folder / "job"]).findings

    return row


def oversized(folder: Path) -> Iterable[Finding]:
    write_job(folder / "job", harbor_result())
    os.truncate(write(folder / "job" / "task-2__abc1234" / "result.json", "{}"), LARGEST + 1)
    return read_evidence([folder / "job"]).findings


def unfinished(*, looks: int) -> Promise:
    """What was promised, with half of the trials there."""
    return replace(PROMISE, stop=replace(PROMISE.stop, looks=looks, found_trials=72))


def piped(folder: Path) -> Iterable[Finding]:
    write_job(folder / "job", harbor_result())
    os.mkfifo(write(folder / "job" / "task-2__abc1234" / "config.json", "{}").with_name("result.json"))
    return read_evidence([folder / "job"]).findings


def linked(folder: Path) -> Iterable[Finding]:
    write_job(folder / "job", harbor_result())
    (folder / "job" / "task-2__abc1234").symlink_to(folder / "job" / "task-1__abc1234")
    return read_evidence([folder / "job"]).findings


def vanished_file(folder: Path) -> Iterable[Finding]:
    """A file that was listed and is gone when it is opened; permissions do not stop every user."""
    reading = Reading()
    assert reading.read(f"{folder}/gone", "gone") is None
    return reading.findings


def vanished_folder(folder: Path) -> Iterable[Finding]:
    reading = Reading()
    assert not list_folder(f"{folder}/gone", "gone", reading).files
    return reading.findings


def without_result(folder: Path) -> Iterable[Finding]:
    write(write_job(folder / "job") / "task-1__abc1234" / "config.json", {"task": {"name": "some-org/task-1"}})
    return read_evidence([folder / "job"]).findings


def resumed(folder: Path) -> Iterable[Finding]:
    """Two trials with half an hour between them, in a job that lost none and repeated none."""
    late = harbor_result("task-2__abc1234", started_at=at(1900), finished_at=at(1990))
    lock = harbor_lock(created_at=at(0))
    write_job(folder / "job", harbor_result(), late, lock=lock, result=job_result(n_total_trials=2))
    return read_evidence([folder / "job"]).findings


def broken_verifier(folder: Path) -> Iterable[Finding]:
    write_job(folder / "job", harbor_result(verifier_result={"rewards": {"reward": 0}}))
    output = folder / "job" / "task-1__abc1234" / "verifier" / "test-stdout.txt"
    write(output, "collecting ...\nrun.sh: line 3: 81 Illegal instruction (core dumped) pytest\n")
    return read_evidence([folder / "job"]).findings


def renamed(folder: Path) -> Iterable[Finding]:
    write(write_job(folder / "job") / "another-name" / "result.json", harbor_result())
    return read_evidence([folder / "job"]).findings


def twice(change: dict[str, object]) -> Row:
    """One trial in two jobs, the second time with a change."""

    def row(folder: Path) -> Iterable[Finding]:
        first = write_job(folder / "job-1", harbor_result())
        return read_evidence([first, write_job(folder / "job-2", harbor_result(**change))]).findings

    return row


def locked_twice(folder: Path) -> Iterable[Finding]:
    lock = harbor_lock(locked("task-1", "a" * 64), locked("task-1", "c" * 64))
    return read_evidence([write_job(folder / "job", harbor_result(), lock=lock)]).findings


def tb(**metadata: object) -> Row:
    return lambda folder: (
        read_evidence([write_run(folder / "run", [tb_trial()], metadata=tb_metadata(**metadata))]).findings
    )


def tb_cut_off(folder: Path) -> Iterable[Finding]:
    (write_run(folder / "run", []) / "results.json").unlink()
    return read_evidence([folder / "run"]).findings


def swe(**endings: list[str]) -> Row:
    def row(folder: Path) -> Iterable[Finding]:
        write(folder / "study" / "some-model.run-1.json", swe_report(**endings))
        return read_evidence([folder / "study"]).findings

    return row


def swe_disagreeing(folder: Path) -> Iterable[Finding]:
    write(folder / "study" / "some-model.run-1.json", swe_report(resolved=["x-1"]))
    place = folder / "study" / "logs" / "run_evaluation" / "run-1" / "some-model" / "x-1" / "report.json"
    write(place, swe_verdict("x-1", resolved=False))
    return read_evidence([folder / "study"]).findings


def timed(*more: str, status: str = "SUCCESS") -> Row:
    """A timed run of our own, and further places below it that are read as well."""

    def row(folder: Path) -> Iterable[Finding]:
        write_ours(folder, Harness.PI, final_status=status)
        write(folder / "broken" / "task.json", "{")
        return read_timed_runs([folder / "pi-arm", *(folder / name for name in more)]).findings

    return row


def at_the_cap(folder: Path) -> Iterable[Finding]:
    """One arm whose only attempt ended at its turn cap."""
    write_ours(folder, Harness.PI, turns=[turn(Harness.PI, status=EndStatus.MAX_TURNS_EXHAUSTED)])
    arm = Arm(name="pi", role="treatment", selector=parse_selector("agent=pi"))
    return clock_findings(measure_arm_clocks(audit(read_evidence([folder]), [arm]), treatment="pi", control="nobody"))


def changed(change: Callable[[Trial], Trial]) -> Row:
    """A plain study in which the first trial is changed."""
    first, *rest = interleaved(PLAIN)
    return lambda _: audited([change(first), *rest]).findings


def study(trials: list[Trial]) -> Row:
    return lambda _: audited(trials).findings


def in_order(minutes: Callable[[int, int], int]) -> Row:
    """Twelve tasks, each arm's trial at the minute that (task, arm) gives."""
    trials = [trial(f"t{n:02d}", arm.name, minute=minutes(n, side)) for n in range(12) for side, arm in enumerate(ARMS)]
    return lambda _: tuple(order_findings(run_order(audited(trials), treatment="alpha", control="beta"), **SIDES))


def compared(trials: Sequence[Trial]) -> Row:
    """A study that is walked to its decision."""
    return lambda _: decided(trials).findings


def cells(*outcomes: tuple[list[bool], list[bool]]) -> Cells:
    return {f"task-{at:02}": arms for at, arms in enumerate(outcomes)}


def who_goes_first_wins() -> list[Trial]:
    """Twelve tasks, each once in either order of the arms; one pair is a tie."""
    trials = []
    for number in range(24):
        for place, agent in enumerate(("alpha", "beta") if number % 2 else ("beta", "alpha")):
            won, minute = place == 0 or number == 0, 4 * number + 2 * place
            trials.append(trial(f"task-{number // 2:02}", agent, solved=won, attempt=number % 2 + 1, minute=minute))
    return trials


def relabelled() -> list[Trial]:
    """The second half of a study ran on another version of Harbor."""
    trials = interleaved(cells(*[([True], [False])] * 4))
    return [
        replace(item, conditions=(*item.conditions, ("harbor_version", str(at // 4)))) for at, item in enumerate(trials)
    ]


def scheduled(change: Callable[[list[Start]], list[Start]]) -> Row:
    """Five tasks that were started as scheduled, but for a change."""
    found = schedule(5)
    return lambda _: compare_with_schedule(found, change(started(found)))


def swapped(starts: list[Start]) -> list[Start]:
    *kept, one, other = starts
    return [*kept, replace(one, started_at=other.started_at), replace(other, started_at=one.started_at)]


SIDES = {"treatment": "alpha", "control": "beta"}


def pinned(trials: list[Trial] | None = None, /, **changes: object) -> Row:
    """A study held against a manifest that lies in the test's folder."""

    def row(folder: Path) -> Iterable[Finding]:
        manifest = a_manifest(**changes)
        held = PinnedManifest(manifest=manifest, sha256="0" * 64, path=folder / "manifest.json")
        found = audit(
            evidence(trials or interleaved(PLAIN)),
            ARMS,
            manifest=manifest,
            beside=open_beside(held),
            gravity=gravity_of(manifest, None),
        )
        return found.findings

    return row


def beside(name: str, text: str, **changes: object) -> Row:
    """The same, with a file beside the manifest."""

    def row(folder: Path) -> Iterable[Coded]:
        write(folder / name, text)
        return pinned(None, **changes)(folder)

    return row


def signal(**name: object) -> str:
    return json.dumps({**name, "signal": "canary", "reviewed_by": "maintainer", "reason": "it recites the string"})


def ledger(*lines: str, price: Usage | None = None, cells: tuple[str, ...] = ("c1", "c2")) -> Row:
    """Two trials that declare a cell each, and a ledger with these lines."""

    def row(folder: Path) -> Iterable[Finding]:
        columns = "cell_id,task,ordinary_in,output,api_equiv_usd"
        path = write(folder / "ledger.csv", "\n".join((columns, *lines)) + "\n")
        trials = [
            replace(
                trial("a", agent, job=f"job-{agent}"),
                arm=replace(trial("a", agent).arm, kwargs=(("cell_id", cell),)),
                usage=price or Usage(),
            )
            for agent, cell in zip(("alpha", "beta"), cells, strict=True)
        ]
        joined: Evidence = join_ledger(evidence(trials), read_ledger(path), takes_part=lambda _: True).evidence
        return joined.findings

    return row


CELLS = ("c1,a,10,7,0.5", "c2,a,10,7,0.5")
ROWS: dict[str, Row] = {
    "unreadable_file": vanished_file,
    "unreadable_folder": vanished_folder,
    "empty_file": raw(b""),
    "file_too_large": oversized,
    "invalid_result_file": piped,
    "invalid_result_json": raw(b'{"id": "1", "task'),
    "invalid_result": raw(b'{"task_id": 7, "trial_name": "x"}'),
    "symlink": linked,
    "trial_without_result": without_result,
    "unfinished_job": job(harbor_result(), finished_at=None),
    "resumed_job": resumed,
    "cancelled_trial": one(exception_info={"exception_type": "CancelledError"}, verifier_result=None),
    "unfinished_trial": one(finished_at=None),
    "retried_attempts": job(harbor_result(), stats={"n_retries": 2}),
    "verifier_crash_graded_zero": broken_verifier,
    "run_without_end_time": tb(end_time=None),
    "run_without_results": tb_cut_off,
    "duplicate_trial": twice({}),
    "duplicate_trial_id": twice({"finished_at": at(101)}),
    "invalid_trial_id": one(id="no identity"),
    "trial_name_mismatch": renamed,
    "invalid_task_name": one(task_name="some-org/what is this"),
    "invalid_trial_time": one(started_at="yesterday"),
    "naive_time": one(started_at="2026-02-01T09:00:00"),
    "invalid_exception": one(exception_info={"exception_type": "it said: no"}),
    "invalid_reward": one(verifier_result={"rewards": {"reward": "high"}}),
    "null_reward": one(verifier_result={"rewards": {"reward": None}}),
    "missing_reward_key": one(verifier_result={"rewards": {"reward": ..., "score": 1}}),
    "several_reward_keys": one(verifier_result={"rewards": {"reward": 1, "style": 0}}),
    "fractional_reward": one(verifier_result={"rewards": {"reward": 0.5}}),
    "coerced_reward": one(verifier_result={"rewards": {"reward": True}}),
    "invalid_cost": one(agent_result={"cost_usd": -1}),
    "invalid_tokens": one(agent_result={"n_input_tokens": -1}),
    "model_label_differs": one(agent_info={"model_info": {"name": "another"}}),
    "lock_ambiguous": locked_twice,
    "unknown_schema_version": one(schema_version=9),
    "multi_step_trial": one(step_results=[{"step_name": "one"}]),
    "regraded_trial": one(config={"source_trial": {"path": "somewhere"}}),
    "contradictory_instance": swe(resolved=["x-1"], unresolved=["x-1"]),
    "incomplete_instances": swe(resolved=["x-1"], incomplete=["x-2"]),
    "instance_report_disagrees": swe_disagreeing,
    "timing_unreadable": timed("broken/task.json"),
    "timing_duplicate": timed("pi-arm"),
    "timing_status_unknown": timed(status="PARKED"),
    "turn_cap_reached": at_the_cap,
    "ungraded_trial": changed(lambda t: replace(t, outcome=Outcome.UNGRADED, exception_type="ApiError")),
    "missing_reward": changed(lambda t: replace(t, outcome=Outcome.UNGRADED, reward=None)),
    "errored_trial": changed(lambda t: replace(t, exception_type="AgentTimeoutError")),
    "solved_with_exception": changed(lambda t: replace(t, outcome=Outcome.SOLVED, exception_type="AgentTimeoutError")),
    "missing_cost": changed(lambda t: replace(t, usage=replace(t.usage, cost_usd=None, cost_method=None))),
    "tokens_not_counted": changed(lambda t: replace(t, usage=Usage())),
    "missing_time": changed(lambda t: with_clock(t, started_at=None)),
    "mostly_ungraded_job": study(interleaved({"a": ([None], [True]), "b": ([None], [True])})),
    "model_label_changes": changed(lambda t: replace(t, arm=replace(t.arm, model="another"))),
    "agent_version_changes": changed(lambda t: replace(t, agent_version="2.0")),
    "task_digest_mismatch": changed(lambda t: replace(t, task=replace(t.task, lock_digest="0" * 64))),
    "mixed_task_identity": changed(lambda t: replace(t, task=TaskIdentity(name=t.task.name, checksum="1" * 64))),
    "task_without_digest": study([replace(t, task=TaskIdentity(name=t.task.name)) for t in interleaved(PLAIN)]),
    "order_unbalanced": in_order(lambda task, side: 2 * task + side),
    "block_order": in_order(lambda task, side: task + 60 * side),
    "schedule_missing_trial": scheduled(lambda starts: starts[:-1]),
    "schedule_unexpected_trial": scheduled(lambda starts: [*starts, replace(starts[0], started_at=START)]),
    "schedule_unknown_start": scheduled(lambda starts: [replace(starts[0], started_at=None), *starts[1:]]),
    "schedule_arms_turned": scheduled(swapped),
    "schedule_order_changed": scheduled(swapped),
    **{code: study(list(trials)) for code, (trials, _, _) in METHOD_ROWS.items()},
    "suite_version_differs": lambda _: selection_findings((1, 2)),
    "order_effect": compared(who_goes_first_wins()),
    "results_drift": compared(interleaved(cells(*[([at < 6], [at >= 6]) for at in range(12)]))),
    "rounds_differ": compared(interleaved(cells(*[([True, False], [False, True])] * 10))),
    "label_changes_mid_study": compared(relabelled()),
    "unplanned_look": lambda _: look_findings(unfinished(looks=0)),
    "interim_look": lambda _: look_findings(unfinished(looks=1)),
    "unequal_attempts": study([*interleaved(PLAIN), trial("a", "alpha", attempt=2, minute=90)]),
    "not_selected": study([*interleaved(PLAIN), trial("a", "gamma")]),
    "unexpected_task": pinned(tasks=a_manifest().tasks[:1]),
    "manifest_task_missing": pinned(tasks=(*a_manifest().tasks, replace(a_manifest().tasks[0], name="c"))),
    "manifest_digest_differs": pinned(tasks=tuple(replace(t, digest="0" * 64) for t in a_manifest().tasks)),
    "manifest_attempts_differ": pinned(attempts=2),
    "file_missing": pinned(files=(ManifestFile(role="harness", path="harness.lock", sha256="0" * 64),)),
    "file_digest_differs": beside(
        "harness.lock", "x", files=(ManifestFile(role="harness", path="harness.lock", sha256="0" * 64),)
    ),
    "dataset_task_differs": beside(
        "tasks/a/task.toml",
        "x",
        files=(ManifestFile(role="dataset", path="tasks", task_checksum=(("a", "0" * 64),)),),
    ),
    "contaminated_trial": beside(
        "reviewed.jsonl", signal(task="a", arm="alpha", attempt=1), contamination="reviewed.jsonl"
    ),
    "contamination_unmatched": beside("reviewed.jsonl", signal(trial_id="gone"), contamination="reviewed.jsonl"),
    "gravity_overridden": pinned(
        [replace(t, exception_type="ApiError") for t in interleaved(PLAIN)], policy=(("errored_trial", "error"),)
    ),
    "ledger_unattributed": ledger(*CELLS, "c3,a,10,7,0.5"),
    "ledger_duplicated": ledger(*CELLS, CELLS[0]),
    "ledger_ambiguous": ledger(*CELLS, cells=("c1", "c1")),
    "ledger_missing": ledger(CELLS[0]),
    "ledger_invalid": ledger(*CELLS, "c3,a"),
    "ledger_conflict": ledger(*CELLS, price=trial().usage),
    "ledger_tokens_differ": ledger(*CELLS, price=replace(trial().usage, cost_usd=None, cost_method=None)),
}  # fmt: skip


@pytest.mark.parametrize("code", sorted(ROWS))
def test_a_code_is_found_in_its_fixture(code: str, tmp_path: Path) -> None:
    assert code in {finding.code for finding in ROWS[code](tmp_path)}


def test_no_code_lacks_a_row_and_no_row_lacks_a_code() -> None:
    assert ROWS.keys() == CODES.keys()


def test_a_plain_study_of_each_kind_has_no_finding(tmp_path: Path) -> None:
    assert not list(one()(tmp_path / "harbor"))
    assert not list(tb()(tmp_path / "tb"))
    assert not list(swe(resolved=["x-1"])(tmp_path / "swe"))
    assert not list(timed()(tmp_path / "timed"))
    assert not list(study(interleaved(PLAIN))(tmp_path))
    assert not list(pinned()(tmp_path))
    assert not list(ledger(*CELLS)(tmp_path))


def test_every_code_says_in_sentences_what_it_means_and_what_to_do() -> None:
    for code in CODES.values():
        assert code.meaning.endswith("."), code.name
        assert code.remedy.endswith("."), code.name
        assert "|" not in code.meaning + code.remedy, code.name


def test_the_references_hold_the_codes_that_the_audit_yields() -> None:
    text = (ROOT / "docs" / "audit.md").read_text("utf-8")
    assert f"<!-- generated:audit-endings -->\n{code_table(ENDING_CODES)}\n<!-- end:audit-endings -->" in text
    assert {code for codes in STRICT.values() for code in codes} <= CODES.keys()
    assert code_table(sorted(CODES)) in (ROOT / "docs" / "findings.md").read_text("utf-8")
