"""The only place that makes the folder an attempt works in and runs shell lines there."""

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path


class CommandError(Exception):
    """A shell line of a task could not be run, or did not end as it must."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """The folders of one attempt; nothing of another attempt is in them.

    Attributes:
        work: Where the agent works.
        home: Where its program keeps configuration and sessions.
    """

    work: Path
    home: Path


@contextmanager
def fresh_sandbox() -> Iterator[Sandbox]:
    """Give two empty private folders, and take them away at the end."""
    with tempfile.TemporaryDirectory(prefix="evenhand-", ignore_cleanup_errors=True) as root:
        made = Sandbox(work=Path(root).resolve() / "work", home=Path(root).resolve() / "home")
        made.work.mkdir(mode=0o700)
        made.home.mkdir(mode=0o700)
        yield made


def run_line(line: str, folder: Path, *, environment: Mapping[str, str], timeout_s: float) -> int:
    """Run a shell line in a folder and return its exit code; its output is not kept.

    Raises:
        CommandError: When the shell cannot be started.
        subprocess.TimeoutExpired: When it takes longer; its process group is killed.
    """
    try:
        # The lines are the task author's own, run in the folder of their attempt.
        child = subprocess.Popen(  # noqa: S603
            ["/bin/sh", "-c", line],
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as fault:
        raise CommandError(f"the shell cannot be started: {type(fault).__name__}") from fault
    try:
        return child.wait(timeout_s)
    finally:
        _kill_group(child)


def _kill_group(child: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
