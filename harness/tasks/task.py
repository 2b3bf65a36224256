"""The only place for what a task asks of an agent and how its work is checked."""

from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from harness.limits import RunLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class FileExists:
    """A file stands in the sandbox.

    Attributes:
        path: The file.
        armed: Whether it decides an early stop.
    """

    path: PurePosixPath
    armed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FileContains:
    """A file of the sandbox holds a text.

    Attributes:
        path: The file.
        text: What it holds.
        armed: Whether it decides an early stop.
    """

    path: PurePosixPath
    text: str
    armed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCommand:
    """A command in the sandbox ends with an exit code.

    Attributes:
        command: A line for the shell.
        exit_code: The code that passes.
        timeout_s: Seconds that it may take, positive; a command that takes longer fails.
    """

    command: str
    exit_code: int = 0
    timeout_s: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonCheck:
    """A JSON file of the sandbox holds a value.

    Attributes:
        path: The file.
        at: Keys and list positions from the root; empty means the root.
        equals: The value that passes.
        armed: Whether it decides an early stop.
    """

    path: PurePosixPath
    at: tuple[str | int, ...] = ()
    equals: object = None
    armed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillTriggered:
    """The agent used a skill; whether it did is not measured where the skill was not loaded.

    Attributes:
        skill: The skill's name.
        armed: Whether it decides an early stop.
    """

    skill: str
    armed: bool = False


WorkCriterion = FileExists | FileContains | RunCommand | JsonCheck
Criterion = WorkCriterion | SkillTriggered
# A command of ours beside the agent could change what it works on, so none decides an early stop.
ArmedCriterion = FileExists | FileContains | JsonCheck | SkillTriggered
# Fields of a task that are fields of a request under the same name.
WISHES = ("system_prompt", "allowed_tools", "disallowed_tools", "permission_mode", "effort", "plugins")


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task.

    Attributes:
        task_id: Public name; may hold slashes.
        turns: The user's words, one entry per turn of the dialogue; at least one.
        criteria: What is checked after the last turn; all must pass. Empty means that it is not graded.
        limits: What bounds an attempt.
        pre_run: Shell lines run in the sandbox before the first turn; one that fails ends the attempt.
        post_run: Shell lines run in the sandbox after the last turn and before the checks; one that fails fails the
            attempt, since it prepares what is checked. An attempt that failed or was stopped early runs none.
        image: Container image that the lines, the commands of the checks and the program run in; None means none.
        system_prompt: Text appended to the program's system prompt; None means none.
        allowed_tools: Tools that the agent may use, in the program's own names; None means that the task does not say.
        disallowed_tools: Tools that the agent may not use, in the program's own names.
        permission_mode: Permission mode in the program's own words; None means "ask nobody".
        effort: Reasoning effort in the program's own words; None means its default.
        plugins: Absolute plugin roots to deliver.
    """

    task_id: str
    turns: tuple[str, ...]
    criteria: tuple[Criterion, ...] = ()
    limits: RunLimits = field(default_factory=RunLimits)
    pre_run: tuple[str, ...] = ()
    post_run: tuple[str, ...] = ()
    image: str | None = None
    system_prompt: str | None = None
    allowed_tools: tuple[str, ...] | None = None
    disallowed_tools: tuple[str, ...] = ()
    permission_mode: str | None = None
    effort: str | None = None
    plugins: tuple[Path, ...] = ()

    def wishes(self) -> dict[str, Any]:
        """Return the fields of a request that this task sets, by name; what it leaves open stays the request's."""
        found = {name: getattr(self, name) for name in WISHES}
        return {name: value for name, value in found.items() if value not in (None, ())}

    def armed(self) -> tuple[ArmedCriterion, ...]:
        """Return the checks that decide an early stop."""
        return tuple(check for check in self.criteria if not isinstance(check, RunCommand) and check.armed)
