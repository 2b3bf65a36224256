"""The only place for what a task asks of an agent and how its work is checked."""

from dataclasses import dataclass, field
from pathlib import PurePosixPath

from harness.limits import RunLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class FileExists:
    """A file stands in the sandbox."""

    path: PurePosixPath


@dataclass(frozen=True, slots=True, kw_only=True)
class FileContains:
    """A file of the sandbox holds a text."""

    path: PurePosixPath
    text: str


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
    """

    path: PurePosixPath
    at: tuple[str | int, ...] = ()
    equals: object = None


Criterion = FileExists | FileContains | RunCommand | JsonCheck


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task.

    Attributes:
        task_id: Public name; may hold slashes.
        turns: The user's words, one entry per turn of the dialogue; at least one.
        criteria: What is checked after the last turn; all must pass. Empty means that it is not graded.
        limits: What bounds an attempt.
        pre_run: Shell lines run in the sandbox before the first turn; one that fails ends the attempt.
        post_run: Shell lines run in the sandbox after the last turn and before the checks.
    """

    task_id: str
    turns: tuple[str, ...]
    criteria: tuple[Criterion, ...] = ()
    limits: RunLimits = field(default_factory=RunLimits)
    pre_run: tuple[str, ...] = ()
    post_run: tuple[str, ...] = ()
