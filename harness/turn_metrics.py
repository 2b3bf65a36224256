"""The only place that writes turns.jsonl: one line per turn, appended whole, rotated once, never in the turn's way.

Several processes may write to one folder. Each line is appended by one write on a descriptor opened for appending,
under a lock on the folder itself (no lock file is left behind), and the file is rotated under the same lock. The
recorder is advisory: what cannot be recorded is counted by reason and dropped, and nothing is raised into the turn.
"""

import json
import os
import stat
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import MappingProxyType

from harness.locking import LockedError, locked
from harness.turn_projection import TurnInputError, turn_record
from harness.turn_rules import MAX_FILE_BYTES

FILE_NAME = "turns.jsonl"
ROTATED_NAME = "turns.jsonl.1"
SWITCH = "OMK_TURN_METRICS"
FOLDER = "OMK_TURN_METRICS_DIR"
FILE_MODE = 0o600
FOLDER_MODE = 0o700
_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


class Dropped(Enum):
    """Why a turn was not recorded."""

    INVALID = "invalid"  # what was given is not what the format demands
    OVERSIZED = "oversized"  # the line alone is larger than the file may be
    BUSY = "busy"  # another writer held the folder's lock for too long
    UNWRITABLE = "unwritable"  # the folder or the file cannot be written, or the disk is full


@dataclass(frozen=True, slots=True, kw_only=True)
class RecorderCounts:
    """What a recorder did so far.

    Attributes:
        written: Lines that reached the file.
        dropped: Turns that were not recorded, by reason; a reason that never occurred is 0.
        rotations: How often this recorder renamed the file.
        replaced: How often that replaced an older rotated file, whose lines are gone from the folder.
    """

    written: int
    dropped: Mapping[Dropped, int]
    rotations: int
    replaced: int

    @property
    def total_dropped(self) -> int:
        """Turns that were not recorded, whatever the reason."""
        return sum(self.dropped.values())


def metrics_folder(cwd: Path, environment: Mapping[str, str]) -> Path:
    """Return where a project's turn metrics lie: `<cwd>/.omk/metrics`, or where the environment moves them."""
    moved = environment.get(FOLDER, "")
    return cwd / moved if moved else cwd / ".omk" / "metrics"


class TurnRecorder:
    """Appends the turns of one project to its turns.jsonl."""

    def __init__(
        self,
        cwd: Path,
        environment: Mapping[str, str],
        *,
        max_bytes: int = MAX_FILE_BYTES,
        fsync: bool = False,
        lock_timeout_s: float = 2.0,
    ) -> None:
        """Make a recorder; nothing is read or written yet.

        Args:
            cwd: The project.
            environment: The caller's environment, read here and never again: `OMK_TURN_METRICS=0` disables,
                `OMK_TURN_METRICS_DIR` moves the file.
            max_bytes: Bound on the file and on a single line, at least 1.
            fsync: Wait for the disk after every line.
            lock_timeout_s: Seconds to wait for other writers before the turn is dropped as busy.
        """
        self.folder = metrics_folder(cwd, environment)
        self.enabled = environment.get(SWITCH) != "0"
        self._max_bytes = max(1, max_bytes)
        self._fsync = fsync
        self._lock_timeout_s = lock_timeout_s
        self._written = 0
        self._rotations = 0
        self._replaced = 0
        self._dropped: Counter[Dropped] = Counter()

    @property
    def path(self) -> Path:
        """The file that is appended to."""
        return self.folder / FILE_NAME

    @property
    def counts(self) -> RecorderCounts:
        """What was written and what was dropped so far, by this recorder."""
        dropped = {reason: self._dropped[reason] for reason in Dropped}
        return RecorderCounts(
            written=self._written,
            dropped=MappingProxyType(dropped),
            rotations=self._rotations,
            replaced=self._replaced,
        )

    def record(self, turn: object) -> bool:
        """Record one turn and say whether its line reached the file.

        Args:
            turn: What `harness.turn_projection.turn_record` takes.
        """
        if not self.enabled:
            return False
        try:
            line = encode_line(turn_record(turn))
        except TurnInputError:
            return self._drop(Dropped.INVALID)
        if len(line) > self._max_bytes:
            return self._drop(Dropped.OVERSIZED)
        try:
            self._append(line)
        except LockedError:
            return self._drop(Dropped.BUSY)
        except (OSError, ValueError):  # a path with a NUL in it is a ValueError
            return self._drop(Dropped.UNWRITABLE)
        self._written += 1
        return True

    def _drop(self, reason: Dropped) -> bool:
        self._dropped[reason] += 1
        return False

    def _append(self, line: bytes) -> None:
        make_folder(self.folder)
        with locked(self.folder, timeout_s=self._lock_timeout_s, pause=time.sleep) as folder:
            with _opened(self.path) as file:
                size = _regular_size(file)
                if size == 0 or size + len(line) <= self._max_bytes:
                    append_line(file, line, size=size, fsync=self._fsync)
                    return
            older = (self.folder / ROTATED_NAME).exists()
            self.path.replace(self.folder / ROTATED_NAME)
            self._rotations += 1
            self._replaced += older
            with _opened(self.path) as file:
                append_line(file, line, size=_regular_size(file), fsync=self._fsync)
            if self._fsync and folder is not None:
                os.fsync(folder)


def encode_line(record: Mapping[str, object]) -> bytes:
    """Return a record as one line of ASCII JSON."""
    return json.dumps(record, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"


def make_folder(folder: Path) -> None:
    """Make a folder and what is missing above it, each readable by its owner alone; one that is there stays as it is.

    Raises:
        OSError: When it cannot be made.
    """
    if folder.is_dir():
        return
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    for place in reversed(missing):
        place.mkdir(mode=FOLDER_MODE, exist_ok=True)


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    file = os.open(path, _APPEND, FILE_MODE)
    try:
        yield file
    finally:
        os.close(file)


def _regular_size(file: int) -> int:
    facts = os.fstat(file)
    if not stat.S_ISREG(facts.st_mode):
        raise OSError("turn metrics are written to regular files only")
    if stat.S_IMODE(facts.st_mode) != FILE_MODE:
        os.fchmod(file, FILE_MODE)
    return facts.st_size


def append_line(file: int, line: bytes, *, size: int, fsync: bool) -> None:
    """Append one whole line by one write, or leave the file as it was; the folder's lock must be held.

    What a killed writer left unfinished is closed by a line break, so that it spoils no line but its own.

    Args:
        file: Descriptor opened for appending and reading.
        line: The line with its line break.
        size: The file's size.
        fsync: Wait for the disk.

    Raises:
        OSError: When it cannot be written whole, for instance on a full disk.
    """
    torn = size > 0 and os.pread(file, 1, size - 1) != b"\n"
    data = b"\n" + line if torn else line
    try:
        _write_whole(file, data)
        if fsync:
            os.fsync(file)
    except OSError:
        os.ftruncate(file, size)
        raise


def _write_whole(file: int, data: bytes) -> None:
    written = os.write(file, data)
    if written < len(data):
        raise OSError(f"wrote {written} of {len(data)} bytes")
