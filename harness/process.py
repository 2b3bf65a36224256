"""The only place that starts a program, reads what it says and ends it with everything it started.

A thread per pipe reads as fast as the program writes and stamps each line when its last byte is read, so a slow reader
neither blocks the program nor moves a time. The keeper process (harness.keeper) sees the exit although a grandchild
holds the pipes open, and outlives this process just long enough to sweep, should it be killed.
"""

import contextlib
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from harness.clock import NS_PER_US, Stamp
from harness.launch import Launch, Say

GRACE_S = 1.0
_CHUNK = 1 << 20
_STDERR_KEPT = 64 * 1024
_KEEPER = Path(__file__).with_name("keeper.py")
_KEEPER_ENDS_S = 10.0


class StartError(Exception):
    """A program cannot be started; the message says which and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of the program.

    Attributes:
        at: When its last byte was read, on the turn's clock.
        data: The line without its line feed; what follows the last line feed of all is a line too.
    """

    at: Stamp
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """How the program itself ended, whatever it left behind.

    Attributes:
        code: Its exit code; negative is the signal that ended it.
        at_monotonic_ns: When it was seen, on the system's monotonic clock.
    """

    code: int
    at_monotonic_ns: int


class Child:
    """A running program: its lines, its exit, and the ways to end it."""

    def __init__(self, keeper: "subprocess.Popen[bytes]", *, control: int, now: Callable[[], Stamp]) -> None:
        self._keeper = keeper
        self._control = control
        self._now = now
        self._lines: queue.SimpleQueue[Line | None] = queue.SimpleQueue()
        self._says: queue.SimpleQueue[Say | None] = queue.SimpleQueue()
        self._exited = threading.Event()
        self._exit: Exit | None = None
        self._exit_heard: Stamp | None = None
        self._swept: int | None = None
        self._threads: list[threading.Thread] = []
        self.stderr_bytes = 0
        self.stderr_tail = b""
        self.ended = False

    def attend(self, stdin: IO[bytes], stdout: IO[bytes], stderr: IO[bytes], *, status: IO[bytes]) -> None:
        """Begin to read and to write, a thread for each pipe; called once, by `start`."""
        work = (
            (self._write, stdin),
            (self._read_lines, stdout),
            (self._read_errors, stderr),
            (self._read_status, status),
        )
        self._threads = [threading.Thread(target=target, args=(pipe,), daemon=True) for target, pipe in work]
        for thread in self._threads:
            thread.start()

    @property
    def exit(self) -> Exit | None:
        """How the program ended; None while it runs."""
        return self._exit

    @property
    def exit_heard(self) -> Stamp | None:
        """When this process heard of the end; on a busy machine that is later than the end. None while it runs."""
        return self._exit_heard

    def wait(self, timeout_s: float) -> Exit | None:
        """Wait for the program's own end; None when it still runs."""
        self._exited.wait(max(timeout_s, 0))
        return self._exit

    def next_line(self, timeout_s: float) -> Line | None:
        """Return the next line; None when none came in time, or none will come (`ended` tells)."""
        if self.ended:
            return None
        try:
            line = self._lines.get(timeout=max(timeout_s, 0))
        except queue.Empty:
            return None
        self.ended = line is None
        return line

    def say(self, what: Say) -> None:
        """Write to the program's stdin without waiting for it to read; what it never reads is lost."""
        if what.data or what.close:
            self._says.put(what)

    def stop(self, grace_s: float = GRACE_S) -> Exit | None:
        """End the program, politely and after the grace by force; what it started stays until `sweep`."""
        self._order(b"t")
        if self.wait(grace_s) is None:
            self._order(b"k")
        return self.wait(grace_s)

    def sweep(self) -> int | None:
        """Kill whatever is left of it and let the keeper go; return how many processes that were, beside the program.

        May be called again: the first answer stands. None means that the keeper itself was lost.
        """
        if self._control >= 0:
            self._order(b"s")
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._keeper.wait(_KEEPER_ENDS_S)
            with contextlib.suppress(OSError):
                os.close(self._control)
            self._control = -1
            self._says.put(None)
            for thread in self._threads:
                thread.join(_KEEPER_ENDS_S)
        return self._swept

    def _order(self, letter: bytes) -> None:
        with contextlib.suppress(OSError):
            os.write(self._control, letter)

    def _read_lines(self, pipe: IO[bytes]) -> None:
        parts: list[bytes] = []
        while data := _read(pipe):
            at = self._now()
            head, found, rest = data.partition(b"\n")
            parts.append(head)
            while found:
                self._lines.put(Line(at=at, data=b"".join(parts)))
                head, found, rest = rest.partition(b"\n")
                parts = [head]
        if any(parts):
            self._lines.put(Line(at=self._now(), data=b"".join(parts)))
        self._lines.put(None)
        pipe.close()

    def _read_errors(self, pipe: IO[bytes]) -> None:
        while data := _read(pipe):
            self.stderr_bytes += len(data)
            self.stderr_tail = (self.stderr_tail + data)[-_STDERR_KEPT:]
        pipe.close()

    def _read_status(self, pipe: IO[bytes]) -> None:
        for line in pipe:
            word, *numbers = line.split()
            if word == b"exit":
                self._exit_heard = self._now()
                self._exit = Exit(code=int(numbers[0]), at_monotonic_ns=int(numbers[1]))
                self._exited.set()
            elif word == b"swept":
                self._swept = int(numbers[0])
        pipe.close()
        self._exited.set()

    def _write(self, pipe: IO[bytes]) -> None:
        with contextlib.suppress(OSError):
            while (what := self._says.get()) is not None:
                pipe.write(what.data)
                pipe.flush()
                if what.close:
                    break
        with contextlib.suppress(OSError):
            pipe.close()


def start(launch: Launch, *, now: Callable[[], Stamp]) -> Child:
    """Write the launch's files, start its program and say its opening.

    Args:
        launch: What to start.
        now: The turn's clock; read by the reading threads.

    Raises:
        StartError: When the program, or a file or a link of the launch cannot be had.
    """
    program = Path(launch.argv[0])
    if not program.is_absolute() or not os.access(program, os.X_OK):
        raise StartError(f"{program}: no program that can be started; an absolute path of one was expected")
    if not launch.cwd.is_dir():
        raise StartError(f"{launch.cwd.name}: the folder to work in is not there")
    _write_files(launch)
    control_read, control_write = os.pipe()
    status_read, status_write = os.pipe()
    keeper = subprocess.Popen(  # noqa: S603  # starting programs is what this module is for
        [sys.executable, "-I", "-S", str(_KEEPER), str(control_read), str(status_write), *launch.argv],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(launch.env),
        cwd=launch.cwd,
        pass_fds=(control_read, status_write),
    )
    os.close(control_read)
    os.close(status_write)
    child = Child(keeper, control=control_write, now=now)
    assert keeper.stdin is not None
    assert keeper.stdout is not None
    assert keeper.stderr is not None
    child.attend(keeper.stdin, keeper.stdout, keeper.stderr, status=os.fdopen(status_read, "rb"))
    child.say(launch.conversation.opening())
    return child


def exit_stamp(found: Exit, *, zero_ns: int) -> Stamp:
    """Return an exit's instant on a turn's clock that was zero at a monotonic reading."""
    return Stamp(us=(found.at_monotonic_ns - zero_ns) // NS_PER_US)


def _read(pipe: IO[bytes]) -> bytes:
    try:
        return os.read(pipe.fileno(), _CHUNK)
    except (OSError, ValueError):
        return b""


def _write_files(launch: Launch) -> None:
    for path, text in launch.files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        except OSError as fault:
            raise StartError(f"{path.name} cannot be written: {type(fault).__name__}") from fault
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
    for link, target in launch.links.items():
        try:
            link.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # A later turn of a dialogue finds the links of the first.
            if not (link.is_symlink() and link.readlink() == target):
                link.symlink_to(target, target_is_directory=True)
        except OSError as fault:
            raise StartError(f"{link.name} cannot be linked: {type(fault).__name__}") from fault
