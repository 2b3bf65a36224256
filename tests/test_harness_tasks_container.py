"""A container as the place of an attempt, by what the engine is told; the engine is a script that writes it down."""

import json
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pytest

from evenhand.exits import EXIT_CODES, Exit
from evenhand.task_file import TaskFileError, parse_task
from harness.attempt import Surroundings
from harness.kinds import Harness
from harness.launch import Launch, Prompt, TurnRequest
from harness.programs.program import LaunchError
from harness.scripts import Row, script_lines
from harness.tasks.attempt import Attempt, Labels, make_attempt
from harness.tasks.sandbox import fresh_sandbox
from harness.tasks.task import FileExists, RunCommand, Task

ROWS: list[Row] = [[0, "turn_start"], [1, "delta"], [2, "turn_end"]]
# Writes its words down; what it is told to execute, it executes here.
ENGINE = """#!{python}
import json, os, sys
words = sys.argv[1:]
with open({log!r}, "a") as file:
    file.write(json.dumps([words, sorted(os.environ)]) + "\\n")
if words[0] == "run":
    sys.exit({code})
if words[0] == "exec" and words[-1] != "kill -9 -1":
    at = 1
    while words[at].startswith("-"):
        if words[at] == "-e" and "=" in words[at + 1]:
            name, _, value = words[at + 1].partition("=")
            os.environ[name] = value
        at += 1 if words[at] == "-i" else 2
    os.execv(words[at + 1], words[at + 1:])
"""


@dataclass
class Fake:
    """A pi that writes a file, and needs a credential."""

    harness: Harness = Harness.PI

    def launch(self, request: TurnRequest) -> Launch:
        said = [dict(line) for _, line in script_lines(Harness.PI, ROWS)]
        said[-1]["message"] = {"role": "assistant", "stopReason": "stop", "responseId": "r1"}
        program = (
            f"import os; open('answer', 'w').write(os.environ['KEY'])\n"
            f"for line in {[json.dumps(line) for line in said]!r}: print(line, flush=True)"
        )
        return Launch(
            argv=(sys.executable, "-I", "-S", "-c", program),
            env={"KEY": "hidden value", "HOME": str(request.home), "PATH": "/nowhere"},
            cwd=request.workdir,
            conversation=Prompt(request.prompt),
            secrets=("hidden value",),
        )


def engine(folder: Path, *, name: str = "docker", code: int = 0) -> Path:
    """Put an engine into a folder of its own and return where it writes its words."""
    log, place = folder / "log", folder / "bin"
    place.mkdir()
    script = place / name
    script.write_text(ENGINE.format(python=sys.executable, log=str(log), code=code), encoding="utf-8")
    script.chmod(0o755)
    return log


def attempt(folder: Path, task: Task) -> Attempt:
    around = Surroundings(
        wall_us=lambda: time.time_ns() // 1000,
        monotonic_ns=time.monotonic_ns,
        sleep=lambda _: None,
        jitter=lambda: 0.0,
    )
    programs = folder / "programs"
    programs.mkdir()
    environment = {"PATH": str(folder / "bin"), "EVENHAND_PROGRAMS": str(programs), "OTHER": "absent"}
    with fresh_sandbox() as sandbox:
        request = TurnRequest(prompt="", workdir=sandbox.work, home=sandbox.home, environment=environment)
        return make_attempt(Fake(), task, request, labels=Labels(arm="a", simulated=True), around=around)


def words_of(log: Path) -> list[list[str]]:
    return [json.loads(row)[0] for row in log.read_text("utf-8").splitlines()]


TASK = Task(
    task_id="t",
    turns=("Do it.",),
    criteria=(FileExists(path=PurePosixPath("answer")), RunCommand(command="test -s answer")),
    pre_run=("echo first > before",),
    post_run=("test -s before",),
    image="work:1",
)


@pytest.mark.parametrize("name", ["docker", "podman"])
def test_the_program_and_the_lines_of_the_task_run_in_the_container(tmp_path: Path, name: str) -> None:
    log = engine(tmp_path, name=name)
    assert attempt(tmp_path, TASK).record.final_status == "SUCCESS"
    said = words_of(log)
    start = said[0]
    assert start[:2] == ["run", "-d"]
    assert start[start.index("--network") + 1] == "host"
    assert start[start.index("--user") + 1] == f"{os.getuid()}:{os.getgid()}"
    assert ("--userns=keep-id" in start) is (name == "podman")
    mounts = [start[place + 1] for place, word in enumerate(start) if word == "-v"]
    assert [mount.endswith(":ro") for mount in mounts] == [False, False, True, True]
    assert f"{tmp_path}/programs:{tmp_path}/programs:ro" in mounts
    assert start[start.index("/bin/sh") + len(mounts) * 2 + 1] == "work:1"
    lines = [row[-1] for row in said if row[0] == "exec" and row[-1] != "kill -9 -1"]
    assert (lines[0], lines[2:]) == ("echo first > before", ["test -s before", "test -s answer"])
    assert said[-1][:2] == ["rm", "-f"]


def test_what_the_program_left_in_the_container_is_ended_before_anything_is_checked(tmp_path: Path) -> None:
    log = engine(tmp_path)
    attempt(tmp_path, TASK)
    said = words_of(log)
    program = next(place for place, row in enumerate(said) if "-I" in row)
    assert said[program + 1][-1] == "kill -9 -1"


def test_a_credential_is_no_argument_of_the_engine_and_no_line_of_the_task_sees_it(tmp_path: Path) -> None:
    log = engine(tmp_path)
    attempt(tmp_path, TASK)
    assert "hidden value" not in log.read_text("utf-8")
    seen = [names for words, names in map(json.loads, log.read_text("utf-8").splitlines()) if "-I" not in words]
    assert not any("KEY" in names or "OTHER" in names for names in seen)


def test_an_image_without_an_engine_is_one_error_with_exit_code_3_and_nothing_is_started(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    with pytest.raises(LaunchError, match="image='work:1' needs docker or podman; found neither on PATH"):
        attempt(tmp_path, TASK)
    assert EXIT_CODES["harness.programs.program.LaunchError"] is Exit.UNREADABLE


def test_an_image_that_does_not_start_is_said_and_is_taken_away(tmp_path: Path) -> None:
    log = engine(tmp_path, code=125)
    with pytest.raises(LaunchError, match="image='work:1' cannot be started with docker"):
        attempt(tmp_path, TASK)
    assert [row[0] for row in words_of(log)] == ["run", "rm"]


def test_a_task_file_names_an_image() -> None:
    text = "task_id: t\nprompt: Do it.\nimage: work:1\n"
    assert parse_task(text, name="t.yaml").image == "work:1"
    with pytest.raises(TaskFileError, match=r"t\.yaml:3: image: found 7"):
        parse_task(text.replace("work:1", "7"), name="t.yaml")
