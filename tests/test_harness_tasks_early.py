"""An early stop: decided at the tool call by the armed checks, which stand, and which alone grade what was stopped."""

import json
import os
import sys
import time
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

import pytest

from evenhand.task_file import TaskFileError, parse_task
from harness.attempt import Surroundings
from harness.clock import Stamp
from harness.events import DeltaKind, TextChunk, ToolEnd, ToolStart
from harness.kinds import Harness, ToolStatus
from harness.launch import Launch, Prompt, TurnRequest
from harness.limits import RunLimits
from harness.record import ToolCall
from harness.run_folder import task_document
from harness.scripts import Row, script_lines
from harness.tasks.attempt import Attempt, Labels, make_attempt
from harness.tasks.early import Watcher
from harness.tasks.sandbox import fresh_sandbox
from harness.tasks.task import Criterion, FileExists, RunCommand, SkillTriggered, Task

A, B = (FileExists(path=PurePosixPath(name), armed=True) for name in "ab")
NEVER = FileExists(path=PurePosixPath("never"))
ENVIRONMENT = {"PATH": os.environ.get("PATH", "/usr/bin:/bin")}
WORD = TextChunk(at=Stamp(us=0), kind=DeltaKind.TEXT, text="x")
CALL = ToolCall(call_id="c", name="Bash", sequence=0, status=ToolStatus.UNRESOLVED)
ROWS: list[Row] = [[0, "turn_start"], [1, "delta"], [2, "tool_start", "t"], [3, "tool_end", "t"], [4, "turn_end"]]


def test_a_check_is_made_at_a_tool_call_and_at_nothing_else() -> None:
    made: list[Criterion] = []

    def check(criterion: Criterion) -> bool:
        made.append(criterion)
        return True

    watcher = Watcher((A,), check)
    assert not watcher(WORD)
    assert not watcher(ToolEnd(call=CALL))  # swept, not ended
    assert made == []
    assert watcher(ToolStart(call=CALL))


def test_a_verdict_that_has_passed_stands() -> None:
    standing = {A}
    watcher = Watcher((A, B), lambda check: check in standing)
    assert not watcher(ToolStart(call=CALL))
    standing.clear()
    standing.add(B)
    assert watcher(ToolStart(call=CALL))


def test_a_check_that_cannot_be_made_disarms_the_watcher_for_good() -> None:
    faults = [OSError("unreadable")]

    def check(_: Criterion) -> bool:
        if faults:
            raise faults.pop()
        return True

    watcher = Watcher((A,), check)
    assert not watcher(ToolStart(call=CALL))
    assert not watcher(ToolStart(call=CALL))
    decided = watcher.result(stopped=False)
    assert decided is not None
    assert (decided.disarmed, decided.passed) == (True, 0)


def test_nothing_armed_decides_nothing() -> None:
    watcher = Watcher((), lambda _: True)
    assert not watcher(ToolStart(call=CALL))
    assert watcher.result(stopped=False) is None


@dataclass
class Fake:
    """A pi that writes a file, tells of a call, and takes its time."""

    file: str = "a"
    harness: Harness = Harness.PI

    def launch(self, request: TurnRequest) -> Launch:
        said = [dict(line) for _, line in script_lines(Harness.PI, ROWS)]
        said[-1]["message"] = {"role": "assistant", "stopReason": "stop", "responseId": "r1"}
        early, last = [json.dumps(line) for line in said[:-1]], json.dumps(said[-1])
        program = (
            f"import time; open({self.file!r}, 'w').close()\n"
            f"for line in {early!r}: print(line, flush=True)\ntime.sleep(1)\nprint({last!r}, flush=True)"
        )
        argv = (sys.executable, "-I", "-S", "-c", program)
        return Launch(argv=argv, env={}, cwd=request.workdir, conversation=Prompt(request.prompt))


def attempt(
    fake: Fake, *criteria: Criterion, limits: RunLimits | None = None, post_run: tuple[str, ...] = ()
) -> Attempt:
    task = Task(
        task_id="t",
        turns=("Do it.",),
        criteria=criteria,
        limits=limits if limits is not None else RunLimits(),
        post_run=post_run,
    )
    around = Surroundings(
        wall_us=lambda: time.time_ns() // 1000,
        monotonic_ns=time.monotonic_ns,
        sleep=lambda _: None,
        jitter=lambda: 0.0,
    )
    with fresh_sandbox() as sandbox:
        request = TurnRequest(prompt="", workdir=sandbox.work, home=sandbox.home, environment=ENVIRONMENT)
        return make_attempt(fake, task, request, labels=Labels(arm="a", simulated=True), around=around)


def test_an_attempt_that_was_stopped_is_graded_by_its_armed_checks_alone() -> None:
    done = attempt(Fake(), A, NEVER, RunCommand(command="exit 1"), post_run=("exit 1",))
    assert (done.record.final_status, done.record.score, done.crash) == ("SUCCESS", 1.0, None)
    assert done.record.findings == ("stopped early: graded by 1 armed of 3 checks",)
    document = task_document(done.record)
    assert document["early_stop"] == {"armed": 1, "passed": 1, "disarmed": False, "stopped": True}


def test_an_attempt_that_no_armed_check_stops_is_graded_by_all() -> None:
    done = attempt(Fake(), A, B)
    assert done.record.final_status == "FAILURE"
    assert done.record.early_stop is not None
    assert (done.record.early_stop.passed, done.record.early_stop.stopped) == (1, False)


def test_limits_that_forbid_early_stops_leave_the_attempt_to_its_own_end() -> None:
    done = attempt(Fake(), A, limits=RunLimits(stop_early=False))
    assert done.record.final_status == "SUCCESS"
    assert done.record.early_stop is not None
    assert (done.record.early_stop.stopped, done.record.early_stop.passed) == (False, 0)


TEXT = """
task_id: t
prompt: Do it.
criteria:
  - {type: file_exists, path: a, stop_when_passed: true}
  - {type: json_check, path: a, equals: 1}
"""


def test_a_task_file_arms_a_check_that_reads_a_file() -> None:
    task = parse_task(TEXT, name="t.yaml")
    assert task.armed() == (A,)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{type: file_exists, path: a, stop_when_passed: yes please}", "t.yaml:5: criteria[0].stop_when_passed"),
        # A command of ours beside the agent could change what it works on.
        ("{type: run_command, command: test -e a, stop_when_passed: true}", "unknown key"),
    ],
)
def test_what_cannot_be_armed_is_refused(line: str, words: str) -> None:
    with pytest.raises(TaskFileError) as caught:
        parse_task(TEXT.replace("{type: file_exists, path: a, stop_when_passed: true}", line), name="t.yaml")
    assert words in str(caught.value)


def test_a_skill_that_a_call_used_and_that_ended_well_decides_at_that_call() -> None:
    watcher = Watcher((SkillTriggered(skill="s", armed=True),), lambda _: False)
    used = replace(CALL, skills=("s",))
    assert not watcher(ToolStart(call=used))
    assert not watcher(ToolEnd(call=replace(used, status=ToolStatus.ERROR)))
    assert watcher(ToolEnd(call=replace(used, status=ToolStatus.OK)))
