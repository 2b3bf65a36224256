"""A runner that is told to stop while a line of the task runs: the line ends, and the attempt counts as interrupted."""

import os
import sys
import time
from pathlib import Path

import pytest

from harness.attempt import Surroundings
from harness.kinds import Harness
from harness.launch import Launch, Prompt, TurnRequest
from harness.scripts import Row, script_lines
from harness.tasks.attempt import Attempt, Labels, make_attempt
from harness.tasks.sandbox import fresh_sandbox
from harness.tasks.task import RunCommand, Task

ROWS: list[Row] = [[0, "turn_start"], [1, "delta"], [2, "turn_end"]]


class Fake:
    """A program that says a turn of pi."""

    harness = Harness.PI

    def launch(self, request: TurnRequest) -> Launch:
        lines = [dict(line) for _, line in script_lines(Harness.PI, ROWS)]
        lines[-1]["message"] = {"role": "assistant", "stopReason": "stop", "responseId": "r1"}
        program = f"import json\nfor line in {lines!r}: print(json.dumps(line), flush=True)"
        argv = (sys.executable, "-I", "-S", "-c", program)
        return Launch(argv=argv, env={}, cwd=request.workdir, conversation=Prompt(request.prompt))


def attempt(task: Task, begun: Path) -> Attempt:
    """Make an attempt that is told to stop as soon as a file stands."""
    around = Surroundings(
        wall_us=lambda: time.time_ns() // 1000,
        monotonic_ns=time.monotonic_ns,
        sleep=time.sleep,
        jitter=lambda: 0.0,
        stop=begun.exists,
    )
    environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin")}
    with fresh_sandbox() as sandbox:
        request = TurnRequest(prompt="", workdir=sandbox.work, home=sandbox.home, environment=environment)
        return make_attempt(Fake(), task, request, labels=Labels(arm="a"), around=around)


@pytest.mark.parametrize(("phase", "turns"), [("pre_run", 0), ("post_run", 1), ("criteria", 1)])
def test_a_stop_ends_the_line_that_runs_and_nothing_of_it_is_left(tmp_path: Path, phase: str, turns: int) -> None:
    begun = tmp_path / "begun"
    # The line's child is in a session of its own and ignores every polite request.
    line = f"trap '' TERM INT; setsid sh -c 'echo $$ > {begun}.part; mv {begun}.part {begun}; sleep 600' & wait"
    given = RunCommand(command=line, timeout_s=600) if phase == "criteria" else line
    made = attempt(Task(task_id="t", turns=("Do it.",), **{phase: (given,)}), begun)  # type: ignore[arg-type]
    assert made.interrupted
    assert (made.record.final_status, made.record.score) == ("NOT_GRADED", None)
    assert len(made.record.turns) == turns
    with pytest.raises(ProcessLookupError):
        os.kill(int(begun.read_text("utf-8")), 0)


def test_a_stop_that_nobody_asks_for_ends_no_line(tmp_path: Path) -> None:
    task = Task(task_id="t", turns=("Do it.",), pre_run=("sleep 0.3",), criteria=(RunCommand(command="sleep 0.3"),))
    made = attempt(task, tmp_path / "never")
    assert not made.interrupted
    assert made.record.final_status == "SUCCESS"
