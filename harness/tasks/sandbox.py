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
Stop = Callable[[], bool]
_TICK_S = 0.1
# The line's words are an argument and no part of the script, so its output is dropped whatever it holds.
_QUIET = 'exec /bin/sh -c "$1" >/dev/null 2>&1 </dev/null'


def never() -> bool:
    """Say that nobody wants a stop."""
    return False


class CommandError(Exception):
    """A shell line of a task could not be run."""


class StoppedError(Exception):
    """The runner was told to stop while a shell line of a task ran; nothing of it is left."""


class LineTimeoutError(Exception):
    """A shell line of a task took longer than it may; nothing of it is left."""


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


def run_line(line: str, folder: Path, *, environment: Mapping[str, str], timeout_s: float, stop: Stop = never) -> int:
    """Run a shell line in a folder and return its exit code; its output is not kept, and nothing of it goes on.

    What the line started ends with it, in whatever session it is: a line is kept like a program is.

    Raises:
        CommandError: When the shell cannot be started.
        LineTimeoutError: When it takes longer.
        StoppedError: When `stop`, asked again and again, says so.
    """
    argv = (SHELL, "-c", _QUIET, SHELL, line)
    return run_command(argv, folder, environment=environment, timeout_s=timeout_s, stop=stop)


def run_command(
    argv: tuple[str, ...], folder: Path, *, environment: Mapping[str, str], timeout_s: float, stop: Stop = never
) -> int:
    """Run an absolute program as `run_line` runs a line, with its output dropped.

    Raises:
        CommandError: When it cannot be started.
        LineTimeoutError: When it takes longer.
        StoppedError: When `stop`, asked again and again, says so.
    """
    launch = Launch(argv=argv, env=dict(environment), cwd=folder, conversation=Prompt(""))
    try:
        # No clock is asked: what a line prints is not timed.
        child = start(launch, now=lambda: Stamp(us=0))
    except StartError as fault:
        raise CommandError(f"{Path(argv[0]).name} cannot be started") from fault
    try:
        found = _waited(child, timeout_s, stop)
    except KeyboardInterrupt as fault:
        raise StoppedError("a line was interrupted") from fault
    finally:
        child.sweep()
    if found is None:
        raise LineTimeoutError(f"a line took longer than {timeout_s:g} s")
    return found.code


def _waited(child: Child, timeout_s: float, stop: Stop) -> Exit | None:
    """Wait for a line's end; None when it takes longer."""
    left_s = timeout_s
    while (found := child.wait(min(_TICK_S, left_s))) is None and left_s > _TICK_S:
        if stop():
            raise StoppedError("the runner was told to stop while a line ran")
        left_s -= _TICK_S
    return found
