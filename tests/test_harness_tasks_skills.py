"""The check `skill_triggered`: passed by use, failed only where the skill was there to be used, else not measured."""

from pathlib import Path, PurePosixPath

import pytest

from harness.clock import stamp_of_ms
from harness.events import ToolEnd
from harness.kinds import EndStatus, Harness, ToolStatus
from harness.launch import TurnRequest
from harness.record import Summary, ToolCall, TurnRecord
from harness.reducers import make_reducer
from harness.reducers.skills import bare_name, used_skills
from harness.scripts import SCRIPT_ANCHOR
from harness.tasks.criteria import passes
from harness.tasks.grading import Evidence, grade
from harness.tasks.task import Criterion, FileExists, SkillTriggered

Line = dict[str, object]
SKILL = SkillTriggered(skill="polish")
READ = "/p/skills/polish/SKILL.md"


def evidence(
    *calls: ToolCall,
    harness: Harness = Harness.PI,
    loaded: tuple[str, ...] = ("polish",),
    listed: tuple[str, ...] | None = None,
    turns: int = 1,
    workdir: Path = Path("/nowhere"),
    **asked: object,
) -> Evidence:
    request = TurnRequest(prompt="", workdir=workdir, home=workdir, environment={}, **asked)  # type: ignore[arg-type]
    turn = TurnRecord(
        harness=harness,
        iteration=1,
        anchor=SCRIPT_ANCHOR,
        status=EndStatus.COMPLETED,
        calls=calls,
        summary=Summary(skills=listed),
    )
    return Evidence(harness=harness, request=request, loaded=frozenset(loaded), turns=(turn,) * turns, environment={})


def call(status: ToolStatus = ToolStatus.OK, *, skills: tuple[str, ...] = ("polish",)) -> ToolCall:
    return ToolCall(call_id="c", name="read", sequence=0, status=status, skills=skills)


def test_a_skill_that_was_used_passes() -> None:
    assert grade([SKILL], evidence(call())).passed is True


def test_a_skill_that_was_there_and_was_not_used_fails() -> None:
    found = grade([SKILL], evidence(call(skills=("other",))))
    assert (found.passed, found.findings) == (False, ())


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        (evidence(loaded=()), "no plugin of the task holds it"),
        (evidence(harness=Harness.CLAUDE_CODE, listed=("other",)), "claude-code does not list it among its skills"),
        (evidence(turns=0), "no turn ran"),
        (evidence(call(ToolStatus.ERROR)), "it was asked for and could not be read"),
        (evidence(call(ToolStatus.UNRESOLVED)), "it was asked for and could not be read"),
        (evidence(allowed_tools=("bash",)), "the task's tool lists take away read, which pi loads skills with"),
        (evidence(disallowed_tools=("read",)), "the task's tool lists take away read, which pi loads skills with"),
    ],
)
def test_a_skill_that_was_not_loaded_is_never_a_failure(seen: Evidence, reason: str) -> None:
    found = grade([SKILL], seen)
    assert found.passed is None
    assert found.findings == (f"skill_triggered polish: not measured, {reason}",)


def test_a_skill_of_the_sandbox_itself_that_was_used_passes() -> None:
    assert grade([SKILL], evidence(call(), loaded=())).passed is True


def test_one_failed_check_fails_even_where_another_was_not_measured(tmp_path: Path) -> None:
    missing = FileExists(path=PurePosixPath("answer"))
    assert not passes(missing, tmp_path, environment={})
    checks: list[Criterion] = [SKILL, missing]
    assert grade(checks, evidence(loaded=(), workdir=tmp_path)).passed is False
    (tmp_path / "answer").touch()
    assert grade(checks, evidence(loaded=(), workdir=tmp_path)).passed is None
    assert grade(checks, evidence(call(), workdir=tmp_path)).passed is True


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("Skill", {"skill": "plug:polish"}, ("polish",)),
        ("skill", {"name": "polish"}, ("polish",)),
        ("Skill", {}, ()),
        ("bash", {"command": f"cat {READ} && sed -n 1p a/rust/SKILL.md"}, ("polish", "rust")),
        ("bash", {"command": "ls */SKILL.md; cat SKILL.md"}, ()),
        ("commandExecution", {"command": ["bash", "-lc", f"cat {READ}"]}, ("polish",)),
        ("write", {"path": READ}, ()),
        ("Edit", {"file_path": READ}, ()),
    ],
)
def test_a_skill_is_read_off_what_the_agent_asks_for(tool: str, arguments: Line, expected: tuple[str, ...]) -> None:
    assert used_skills(tool, arguments) == expected


def test_a_name_loses_the_plugin_before_it() -> None:
    assert (bare_name("plug:polish"), bare_name("/polish"), bare_name("polish")) == ("polish",) * 3


# One call of each program as it was recorded on the real one: names of fields alone.
USES: dict[Harness, tuple[Line, ...]] = {
    Harness.CLAUDE_CODE: (
        {"type": "system", "subtype": "init", "skills": ["plug:polish", "loop"]},
        {
            "type": "assistant",
            "message": {
                "id": "m",
                "content": [{"type": "tool_use", "id": "c", "name": "Skill", "input": {"skill": "plug:polish"}}],
            },
        },
        {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "c"}]}},
    ),
    Harness.CODEX: (
        {
            "method": "item/completed",
            "params": {
                "threadId": "t",
                "item": {
                    "type": "commandExecution",
                    "id": "c",
                    "command": f"/bin/bash -lc 'cat {READ}'",
                    "aggregatedOutput": "/p/skills/rust/SKILL.md",
                    "exitCode": 0,
                    "status": "completed",
                },
            },
        },
    ),
    Harness.OPENCODE: (
        {
            "type": "tool_use",
            "part": {
                "tool": "skill",
                "callID": "c",
                "state": {"status": "completed", "input": {"name": "polish"}, "output": "a/rust/SKILL.md"},
            },
        },
    ),
    Harness.PI: (
        {"type": "tool_execution_start", "toolCallId": "c", "toolName": "read", "args": {"path": READ}},
        {"type": "tool_execution_end", "toolCallId": "c", "toolName": "read", "isError": False},
    ),
    Harness.ANTIGRAVITY: (
        {
            "type": "TOOL_CALL",
            "status": "DONE",
            "tool_calls": [
                {
                    "id": "c",
                    "name": "run_command",
                    "args": {"command_line": f"cat {READ}", "combined_output": "a/rust/SKILL.md", "exit_code": 0},
                }
            ],
        },
    ),
}


@pytest.mark.parametrize("harness", Harness)
def test_each_stream_tells_the_skill_that_a_call_used_and_not_what_the_tool_printed(harness: Harness) -> None:
    reducer = make_reducer(harness, entry=stamp_of_ms(0), turn=1, anchor=SCRIPT_ANCHOR)
    ends = [
        event.call
        for place, line in enumerate(USES[harness])
        for event in reducer.feed(stamp_of_ms(100 * place), line)
        if isinstance(event, ToolEnd)
    ]
    assert [(end.skills, end.status) for end in ends] == [(("polish",), ToolStatus.OK)]
    listed = ("loop", "polish") if harness is Harness.CLAUDE_CODE else None
    assert reducer.summary().skills == listed
