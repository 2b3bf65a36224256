"""The only place that makes the folder an attempt works in and runs shell lines there."""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.clock import Stamp
from harness.launch import Launch, Prompt
from harness.process import Child, Exit, StartError, start

SHELL = "/bin/sh"
# How long a stop may go unnoticed while a line runs, in seconds.
LOOK_S = 0.2
# The line's words are an argument and no part of the script, so its output is dropped whatever it holds.
_QUIET = 'exec /bin/sh -c "$1" >/dev/null 2>&1 </dev/null'


class CommandError(Exception):
    """A shell line of a task could not be run."""


class LineTimeoutError(Exception):
    """A shell line of a task took longer than it may; nothing of it is left."""


class LineStoppedError(Exception):
    """The runner was told to stop while a shell line of a task ran; nothing of it is left."""


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """The folders of one attempt; nothing of another attempt is in them.

    Attributes:
        work: Where the agent works.
        home: Where its program keeps configuration and sessions.
        temporary: Where both keep what is temporary.
    """

    work: Path
    home: Path
    temporary: Path


@contextmanager
def fresh_sandbox() -> Iterator[Sandbox]:
    """Give empty private folders, and take them away at the end."""
    with tempfile.TemporaryDirectory(prefix="evenhand-", ignore_cleanup_errors=True) as root:
        top = Path(root).resolve()
        made = Sandbox(work=top / "work", home=top / "home", temporary=top / "tmp")
        for folder in (made.work, made.home, made.temporary):
            folder.mkdir(mode=0o700)
        yield made


def run_line(
    line: str, folder: Path, *, environment: Mapping[str, str], timeout_s: float, stop: Callable[[], bool] = _never
) -> int:
    """Run a shell line in a folder and return its exit code; its output is not kept, and nothing of it goes on.

    What the line started ends with it, in whatever session it is: a line is kept like a program is.

    Raises:
        CommandError: When the shell cannot be started.
        LineStoppedError: When `stop` became true while it ran.
        LineTimeoutError: When it takes longer.
    """
    argv = (SHELL, "-c", _QUIET, SHELL, line)
    return run_command(argv, folder, environment=environment, timeout_s=timeout_s, stop=stop)


def run_command(
    argv: tuple[str, ...],
    folder: Path,
    *,
    environment: Mapping[str, str],
    timeout_s: float,
    stop: Callable[[], bool] = _never,
) -> int:
    """Run an absolute program as `run_line` runs a line, with its output dropped.

    Raises:
        CommandError: When it cannot be started.
        LineStoppedError: When `stop` became true while it ran.
        LineTimeoutError: When it takes longer.
    """
    launch = Launch(argv=argv, env=dict(environment), cwd=folder, conversation=Prompt(""))
    try:
        # No clock is asked: what a line prints is not timed.
        child = start(launch, now=lambda: Stamp(us=0))
    except StartError as fault:
        raise CommandError(f"{Path(argv[0]).name} cannot be started") from fault
    try:
        found = _ended(child, timeout_s=timeout_s, stop=stop)
    finally:
        child.sweep()
    if found is None:
        raise LineTimeoutError(f"a line took longer than {timeout_s:g} s")
    return found.code


def _ended(child: Child, *, timeout_s: float, stop: Callable[[], bool]) -> Exit | None:
    """Wait for the end, and look again and again whether to stop; None when it took too long."""
    left = timeout_s
    while (found := child.wait(min(left, LOOK_S))) is None and left > LOOK_S:
        if stop():
            raise LineStoppedError("told to stop while a line ran")
        left -= LOOK_S
    return found
