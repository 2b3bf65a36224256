"""Tasks: what is checked in a sandbox, what an attempt records, how it ends."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from harness.attempt import Surroundings
from harness.journal import Event, JournalError, verify
from harness.kinds import Harness
from harness.launch import Launch, Prompt, TurnRequest
from harness.limits import RunLimits
from harness.programs.plugins import PluginError
from harness.run_folder import RunFolderError, task_document, write_task
from harness.scripts import Row, script_lines
from harness.tasks.attempt import Attempt, Labels, make_attempt
from harness.tasks.criteria import passes
from harness.tasks.run_log import JOURNAL, RunLog, Written
from harness.tasks.sandbox import fresh_sandbox
from harness.tasks.task import FileContains, FileExists, JsonCheck, RunCommand, SkillTriggered, Task, WorkCriterion

ENVIRONMENT = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "FAKE_CREDENTIAL": "absent"}
ROWS: list[Row] = [[0, "turn_start"], [1, "delta"], [2, "turn_end"]]
ANSWER = FileExists(path=PurePosixPath("answer"))


def lines(session: str = "s1") -> list[str]:
    """Return the lines of a turn of pi that stops by itself."""
    found = [dict(line) for _, line in script_lines(Harness.PI, ROWS)]
    found[-1]["message"] = {"role": "assistant", "stopReason": "stop", "responseId": "r1"}
    return [json.dumps({"type": "session", "id": session}), *(json.dumps(line) for line in found)]


@dataclass
class Fake:
    """A program of one's own that prints a turn of pi, or ends without one for the first few starts."""

    work: str = "pass"
    crashes: int = 0
    session: str = "s1"
    secrets: tuple[str, ...] = ()
    asked: list[TurnRequest] = field(default_factory=list)
    harness: Harness = Harness.PI
    notes: tuple[str, ...] = ()

    def launch(self, request: TurnRequest) -> Launch:
        self.asked.append(request)
        said = lines(self.session)[:2] if len(self.asked) <= self.crashes else lines(self.session)
        program = f"{self.work}\nfor line in {said!r}: print(line, flush=True)"
        return Launch(
            argv=(sys.executable, "-I", "-S", "-c", program),
            env={},
            cwd=request.workdir,
            conversation=Prompt(request.prompt),
            ignored=("system_prompt",),
            notes=self.notes,
            secrets=self.secrets,
        )


def never() -> bool:
    return False


def attempt(
    fake: Fake, *, waits: list[float] | None = None, stop: Callable[[], bool] = never, **wanted: object
) -> Attempt:
    """Make an attempt with a fake program."""
    task = Task(**{"task_id": "t", "turns": ("Do it.",), "criteria": (ANSWER,), **wanted})  # type: ignore[arg-type]
    waited: list[float] = [] if waits is None else waits
    around = Surroundings(
        wall_us=lambda: time.time_ns() // 1000,
        monotonic_ns=time.monotonic_ns,
        sleep=waited.append,
        jitter=lambda: 0.0,
        stop=stop,
    )
    with fresh_sandbox() as sandbox:
        request = TurnRequest(prompt="", workdir=sandbox.work, home=sandbox.home, environment=ENVIRONMENT)
        return make_attempt(fake, task, request, labels=Labels(arm="a", simulated=True), around=around)


def test_an_attempt_whose_checks_pass_has_succeeded() -> None:
    done = attempt(Fake(work="open('answer', 'w').close()"))
    assert (done.record.final_status, done.record.score) == ("SUCCESS", 1.0)
    assert done.record.simulated
    assert done.record.ignored == ("system_prompt",)
    assert done.record.setup_us is not None
    assert done.record.grading_us is not None


def test_an_attempt_whose_checks_do_not_pass_has_failed() -> None:
    assert attempt(Fake()).record.final_status == "FAILURE"


def test_an_attempt_without_checks_is_not_graded() -> None:
    done = attempt(Fake(), criteria=())
    assert (done.record.final_status, done.record.score) == ("NOT_GRADED", None)


def test_a_crash_is_repeated_after_its_waits_and_every_turn_is_kept() -> None:
    waits: list[float] = []
    done = attempt(Fake(work="open('answer', 'w').close()", crashes=2), waits=waits)
    assert waits == [5.0, 10.0]
    assert len(done.record.turns) == 3
    assert done.record.final_status == "SUCCESS"


def test_a_crash_beyond_its_repetitions_is_an_error_and_is_not_graded() -> None:
    done = attempt(Fake(crashes=9))
    assert (done.record.final_status, done.record.score, len(done.record.turns)) == ("ERROR", None, 3)
    assert done.crash == "the stream ended without its terminal event"


def test_a_later_turn_goes_on_with_the_session_of_the_one_before() -> None:
    fake = Fake()
    attempt(fake, turns=("One.", "Two."))
    assert [(asked.prompt, asked.session) for asked in fake.asked] == [("One.", None), ("Two.", "s1")]


def test_a_turn_that_lasts_beyond_the_task_is_a_timeout_and_its_part_is_kept() -> None:
    limits = RunLimits(task_timeout_s=30.0)
    object.__setattr__(limits, "task_timeout_s", 0.5)  # task files cannot ask for less than 30 s
    done = attempt(Fake(work="import time; time.sleep(60)"), limits=limits)
    assert done.record.final_status == "TIMEOUT"
    assert len(done.record.turns) == 1


class Looked:
    """A stop that comes when a file is there."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __call__(self) -> bool:
        return self._file.exists()


@pytest.mark.parametrize("kind", ["pre_run", "post_run", "criterion"])
def test_a_stop_ends_a_line_of_the_task_and_leaves_no_result(kind: str, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    line = f"touch {mark}; sleep 86399"
    wanted: dict[str, Any] = (
        {"criteria": (RunCommand(command=line, timeout_s=200.0),)} if kind == "criterion" else {kind: (line,)}
    )
    fake = Fake(work="open('answer', 'w').close()")
    done = attempt(fake, stop=Looked(mark), **wanted)
    assert (done.interrupted, done.undecided, done.record.score) == (True, True, None)
    assert len(fake.asked) == (0 if kind == "pre_run" else 1)
    assert "sleep 86399" not in "".join(path.read_text("latin-1").replace("\0", " ") for path in commands())


def commands() -> Iterator[Path]:
    """Yield the command line of every process that can be looked at."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            path.read_bytes()
            yield path


def test_lines_before_and_after_the_turns_run_in_the_sandbox() -> None:
    done = attempt(Fake(), pre_run=("echo a > first",), post_run=("mv first answer",))
    assert done.record.final_status == "SUCCESS"


def test_a_line_after_the_turns_that_fails_fails_the_attempt_and_nothing_is_checked() -> None:
    done = attempt(Fake(work="open('answer', 'w').close()"), post_run=("true", "exit 3"))
    assert (done.record.final_status, done.record.score) == ("FAILURE", 0.0)
    assert done.record.findings == ("post_run[1] did not end with 0; nothing was checked",)


def test_a_line_after_the_turns_is_run_without_checks_too_and_not_after_a_failure(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    assert attempt(Fake(crashes=9), post_run=(f"touch {mark}",)).record.final_status == "ERROR"
    assert not mark.exists()
    assert attempt(Fake(), criteria=(), post_run=(f"touch {mark}",)).record.final_status == "NOT_GRADED"
    assert mark.exists()


@pytest.mark.parametrize("where", ["pre_run", "post_run", "criteria"])
def test_l10_a_child_that_a_line_of_the_task_moved_to_its_own_session_does_not_survive(
    tmp_path: Path, where: str
) -> None:
    pid = tmp_path / "pid"
    line = f"setsid sh -c 'echo $$ > {pid}; exec sleep 600' & until test -s {pid}; do sleep 0.05; done"
    wanted: dict[str, Any] = {where: (RunCommand(command=line),) if where == "criteria" else (line,)}
    assert attempt(Fake(work="open('answer', 'w').close()"), **wanted).record.final_status == "SUCCESS"
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text("utf-8")), 0)


def test_l10_a_line_that_ignores_the_polite_request_does_not_outlive_its_limit(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    line = f"trap '' TERM HUP INT; echo $$ > {pid}; while :; do sleep 1; done"
    check = RunCommand(command=line, timeout_s=0.5)
    assert attempt(Fake(), criteria=(check,)).record.final_status == "FAILURE"
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text("utf-8")), 0)


def test_a_budget_that_nobody_measured_is_said() -> None:
    done = attempt(Fake(), limits=RunLimits(max_usd=0.01, max_total_tokens=10))
    assert done.record.findings[-1] == "max_usd was not checked: a turn's cost is not known"


def test_how_a_turns_process_ended_is_in_the_document() -> None:
    done = attempt(Fake(work="print('no object', flush=True)"))
    document: dict[str, Any] = task_document(done.record)
    (turn,) = document["iterations"]
    shown = {key: turn[key] for key in ("exit_code", "timeout_overshoot_ms", "swept_processes", "skipped_lines")}
    assert shown == {"exit_code": 0, "timeout_overshoot_ms": None, "swept_processes": 0, "skipped_lines": 1}
    assert turn["stderr_bytes"] == 0


def test_a_line_before_the_turns_that_fails_starts_no_program() -> None:
    fake = Fake()
    assert attempt(fake, pre_run=("exit 3",)).record.final_status == "BUILD_FAILED"
    assert fake.asked == []


def test_the_lines_of_a_task_do_not_see_the_callers_credentials() -> None:
    done = attempt(Fake(), criteria=(RunCommand(command='test -z "$FAKE_CREDENTIAL"'),))
    assert done.record.final_status == "SUCCESS"


@pytest.mark.parametrize(
    ("criterion", "passed"),
    [
        (FileExists(path=PurePosixPath("a.json")), True),
        (FileExists(path=PurePosixPath("b.json")), False),
        (FileExists(path=PurePosixPath("away/passwd")), False),
        (FileContains(path=PurePosixPath("a.json"), text='"n"'), True),
        (FileContains(path=PurePosixPath("a.json"), text="other"), False),
        (RunCommand(command="exit 4", exit_code=4), True),
        (RunCommand(command="exit 4"), False),
        (RunCommand(command="sleep 30", timeout_s=0.2), False),
        (JsonCheck(path=PurePosixPath("a.json"), at=("n", 1), equals=2), True),
        (JsonCheck(path=PurePosixPath("a.json"), at=("yes",), equals=1), False),
        (JsonCheck(path=PurePosixPath("a.json"), at=("none",), equals=None), False),
        (JsonCheck(path=PurePosixPath("bad.json"), equals=None), False),
    ],
)
def test_a_check_passes_only_on_what_stands_in_the_sandbox(criterion: WorkCriterion, *, passed: bool) -> None:
    with fresh_sandbox() as sandbox:
        (sandbox.work / "a.json").write_text('{"n": [1, 2], "yes": true}', encoding="utf-8")
        (sandbox.work / "bad.json").write_text("{", encoding="utf-8")
        (sandbox.work / "away").symlink_to("/etc")
        assert passes(criterion, sandbox.work, environment=ENVIRONMENT) is passed


def test_the_folders_of_a_sandbox_are_apart_private_and_empty() -> None:
    with fresh_sandbox() as sandbox:
        folders = (sandbox.work, sandbox.home, sandbox.temporary)
        assert len({folder.parent for folder in folders}) == 1
        assert len(set(folders)) == 3
        assert [list(folder.iterdir()) for folder in folders] == [[], [], []]
        assert {folder.stat().st_mode & 0o777 for folder in folders} == {0o700}


def test_nothing_of_a_sandbox_is_left() -> None:
    with fresh_sandbox() as sandbox:
        (sandbox.work / "file").write_text("x", encoding="utf-8")
    assert not sandbox.work.parent.exists()


def test_a_task_document_appears_whole_or_not_at_all_and_only_once(tmp_path: Path) -> None:
    done = attempt(Fake(work="open('answer', 'w').close()"))
    path = write_task(tmp_path, done.record)
    before = path.read_bytes()
    with pytest.raises(RunFolderError, match="attempt 0 of 't' was written before"):
        write_task(tmp_path, done.record)
    assert path.read_bytes() == before
    assert [found.name for found in path.parent.iterdir()] == ["task.json"]


def test_a_task_document_says_what_was_ignored_and_which_output_limit_was_asked_for(tmp_path: Path) -> None:
    done = attempt(Fake())
    document = json.loads(write_task(tmp_path, done.record).read_text("utf-8"))
    assert document["ignored_fields"] == ["system_prompt"]
    assert (document["max_output_tokens"], document["output_limit_standing"]) == (
        None,
        "provider default, not verified",
    )
    assert document["error_category"] is None
    assert document["iterations"][0]["session_id"] == "s1"


def test_what_must_be_known_of_a_start_and_of_a_check_is_found_in_the_record() -> None:
    done = attempt(Fake(notes=("plugin p: hooks dropped",)), criteria=(SkillTriggered(skill="polish"),))
    assert done.record.findings == (
        "plugin p: hooks dropped",
        "skill_triggered polish: not measured, no plugin of the task holds it",
    )
    assert (done.record.final_status, done.record.score, done.record.grading_us) == ("NOT_GRADED", None, None)


def test_a_task_that_asks_for_something_of_the_program_is_heard() -> None:
    fake = Fake()
    attempt(fake, system_prompt="Be brief.", disallowed_tools=("read",), effort="low")
    (asked,) = fake.asked
    assert (asked.system_prompt, asked.disallowed_tools, asked.effort) == ("Be brief.", ("read",), "low")
    assert asked.allowed_tools is None


def test_a_plugin_that_cannot_be_delivered_is_refused_before_any_line_runs(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="found no folder"):
        attempt(Fake(), plugins=(tmp_path / "none",), pre_run=(f"touch {tmp_path}/ran",))
    assert not (tmp_path / "ran").exists()


def logged(folder: Path, done: Attempt, *, environment: dict[str, str] | None = None) -> Written:
    """Begin and finish an attempt in a run log."""
    log = RunLog(folder, environment or {}, wall_us=lambda: 1_796_000_000_000_000)
    log.begin("t", Labels(arm="a"), harness="pi")
    return log.finish(done)


def test_a_run_leaves_a_document_turn_metrics_and_a_whole_journal(tmp_path: Path) -> None:
    written = logged(tmp_path, attempt(Fake()))
    assert (written.turns, written.without_usage, written.dropped) == (1, 1, 0)
    (line,) = (written.document.parent / "turns.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line)["sessionId"] == "s1"
    journal = verify(tmp_path / JOURNAL)
    assert [entry.event for entry in journal.entries] == [Event.STARTED, Event.FINISHED]
    assert journal.answer("a/t/00").finished


def test_turn_metrics_may_be_disabled(tmp_path: Path) -> None:
    written = logged(tmp_path, attempt(Fake()), environment={"OMK_TURN_METRICS": "0"})
    assert written.turns is None
    assert not (written.document.parent / "turns.jsonl").exists()


def test_an_attempt_that_is_taken_up_again_is_so_in_the_journal_although_its_last_line_was_torn(tmp_path: Path) -> None:
    log = RunLog(tmp_path, {}, wall_us=lambda: 1_796_000_000_000_000)
    log.begin("t", Labels(arm="a"), harness="pi")
    with (tmp_path / JOURNAL).open("ab") as file:
        file.write(b'{"half')
    log.begin("t", Labels(arm="a"), harness="pi", again=True)
    assert verify(tmp_path / JOURNAL).answer("a/t/00").recoveries == 1


def test_an_end_behind_a_torn_line_is_written_all_the_same(tmp_path: Path) -> None:
    log = RunLog(tmp_path, {}, wall_us=lambda: 1_796_000_000_000_000)
    log.begin("t", Labels(arm="a"), harness="pi")
    with (tmp_path / JOURNAL).open("ab") as file:
        file.write(b'{"half')
    log.confirm("t", Labels(arm="a"))
    assert verify(tmp_path / JOURNAL).answer("a/t/00").finished


def test_a_try_that_does_not_count_is_written_under_a_name_that_no_reader_takes_for_an_attempt(tmp_path: Path) -> None:
    log = RunLog(tmp_path, {}, wall_us=lambda: 1_796_000_000_000_000)
    log.begin("t", Labels(arm="a"), harness="pi")
    path = log.abandon(attempt(Fake()), number=1)
    assert path == tmp_path / "a" / "t" / "00" / "interrupted-01.json"
    assert json.loads(path.read_text("utf-8"))["task_id"] == "t"
    assert verify(tmp_path / JOURNAL).answer("a/t/00").abandoned


def test_a_journal_that_was_altered_stops_the_run(tmp_path: Path) -> None:
    logged(tmp_path, attempt(Fake()))
    path = tmp_path / JOURNAL
    path.write_bytes(path.read_bytes().replace(b"run_finished", b"run_finishes"))
    with pytest.raises(JournalError):
        logged(tmp_path, attempt(Fake()))


def test_no_credential_that_a_program_repeats_is_written(tmp_path: Path) -> None:
    key = "".join(["fake", "-", "credential-9"])
    done = attempt(Fake(session=key, secrets=(key,)))
    assert done.record.turns[0].summary.session_id == key
    written = logged(tmp_path, done)
    assert written.turns == 1
    for path in written.document.parent.iterdir():
        assert key not in path.read_text("utf-8")
