"""The only place that finds turns files below a folder and says which of them is which, whatever its name is today.

A file is known by its beginning: a digest over its first bytes. So a file that grew, was rotated to turns.jsonl.1, was
moved or packed with gzip is the same file, and the end of what was read before shows whether it was changed since.
"""

import gzip
import hashlib
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

PREFIX_BYTES = 64 * 1024
TAIL_BYTES = 4 * 1024
_FIRST_BYTES = 128
# A rotated file is older than the one that took its place.
NAMES = ("turns.jsonl.1.gz", "turns.jsonl.1", "turns.jsonl.gz", "turns.jsonl")
_GZIP = b"\x1f\x8b"
_STEP = 64 * 1024


class ByteStream(Protocol):
    """An open file of bytes, unpacked on the way or not."""

    def read(self, size: int, /) -> bytes:
        """Return up to so many bytes; none at the end."""

    def readline(self, size: int, /) -> bytes:
        """Return up to so many bytes, none beyond a line feed; none at the end."""

    def seek(self, offset: int, /) -> int:
        """Go to a byte."""


class _Unpacked:
    """The lines of a packed file, in the same steps for every reader: what stands before a damage is given first.

    GzipFile.read gives nothing of a request that meets the damage; read1 gives what it has and fails the next time.
    """

    def __init__(self, packed: gzip.GzipFile) -> None:
        self._packed = packed
        self._held = b""

    def read(self, size: int, /) -> bytes:
        self._fill()
        return self._take(size)

    def readline(self, size: int, /) -> bytes:
        self._fill()
        end = self._held.find(b"\n", 0, size) + 1
        return self._take(end or size)

    def seek(self, offset: int, /) -> int:
        self._packed.seek(0)
        self._held, at = b"", 0
        while at < offset and (data := self.read(offset - at)):
            at += len(data)
        return at

    def _fill(self) -> None:
        self._held = self._held or self._packed.read1(_STEP)

    def _take(self, size: int) -> bytes:
        data, self._held = self._held[:size], self._held[size:]
        return data


class TurnFileError(Exception):
    """A turns file that was asked for cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFile:
    """A turns file.

    Attributes:
        path: Where it lies on this machine.
        where: Its place inside the study.
    """

    path: Path
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """How a file begins, which is what it is known by.

    Attributes:
        size: How many bytes the digest covers, at most 64 KiB, at least 1.
        digest: SHA-256 of these bytes.
    """

    size: int
    digest: str


def find_turn_files(roots: Sequence[Path]) -> tuple[TurnFile, ...]:
    """Return every turns file below some folders, sorted, a rotated file before the one that took its place.

    No link is followed; of the dot folders only `.omk` is looked into, where the recorder writes.

    Args:
        roots: Folders; with several, a place begins with its folder's name, made unique by -2, -3.
    """
    found: dict[Path, TurnFile] = {}
    for root, label in zip(roots, _labels(roots), strict=True):
        base = root.resolve()
        for folder, names in _folders(base):
            place = "/".join(part for part in (label, *folder.relative_to(base).parts) if part)
            for name in NAMES:
                path = folder / name
                if name in names and path not in found:
                    found[path] = TurnFile(path=path, where=f"{place}/{name}" if place else name)
    return tuple(found.values())


def distinct_turn_files(files: Sequence[TurnFile]) -> tuple[TurnFile, ...]:
    """Leave out files whose content is the beginning of another file's: copies, packed or not, of another day.

    Raises:
        TurnFileError: When a file cannot be opened.
    """
    by_start: dict[str, list[TurnFile]] = {}
    for file in files:
        start = beginning(file.path, size=_FIRST_BYTES)
        if start is not None:
            by_start.setdefault(start.digest if start.size == _FIRST_BYTES else "short", []).append(file)
    copies = {copy.path for alike in by_start.values() for copy in _copies(alike)}
    return tuple(file for file in files if file.path not in copies)


def _copies(alike: Sequence[TurnFile]) -> Iterator[TurnFile]:
    """Yield the files that another one begins with; of equal ones the first stays."""
    if len(alike) < 2:
        return
    sized = sorted(((unpacked_size(file.path), -place, file) for place, file in enumerate(alike)), reverse=True)
    kept: list[TurnFile] = []
    for size, _, file in sized:
        start = beginning(file.path, size=min(size, PREFIX_BYTES))
        if start is None or any(beginning(other.path, size=start.size) == start for other in kept):
            yield file
        else:
            kept.append(file)


def unpacked_size(path: Path) -> int:
    """Return the bytes of a file's lines; of a packed file that breaks off, the bytes before the damage.

    Raises:
        TurnFileError: When it cannot be opened.
    """
    with open_turns(path) as (stream, packed):
        if not packed:
            return path.stat().st_size
        size = 0
        while data := _read_up_to(stream, PREFIX_BYTES):
            size += len(data)
        return size


def _labels(roots: Sequence[Path]) -> list[str]:
    if len(roots) == 1:
        return [""]
    labels: list[str] = []
    for root in roots:
        name = root.resolve().name or "study"
        label, number = name, 1
        while label in labels:
            number += 1
            label = f"{name}-{number}"
        labels.append(label)
    return labels


def _folders(base: Path) -> Iterator[tuple[Path, frozenset[str]]]:
    """Yield every folder, sorted, with its plain files of a turns file's name."""
    waiting = [base]
    while waiting:
        folder = waiting.pop()
        below, names = [], []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        below.append(entry.name)
                    elif entry.name in NAMES and entry.is_file(follow_symlinks=False):
                        names.append(entry.name)
        except OSError:
            continue
        if names:
            yield folder, frozenset(names)
        shown = sorted((name for name in below if not name.startswith(".") or name == ".omk"), reverse=True)
        waiting.extend(folder / name for name in shown)


@contextmanager
def open_turns(path: Path) -> Iterator[tuple[ByteStream, bool]]:
    """Open a turns file for reading; gzip is known by its first two bytes, whatever the name.

    Yields:
        The stream of lines, and whether it is unpacked on the way (so cannot be read from the middle).

    Raises:
        TurnFileError: When it cannot be opened.
    """
    try:
        file = path.open("rb")
    except OSError as fault:
        raise TurnFileError(f"{path.name} cannot be read: {type(fault).__name__}") from fault
    with file:
        packed = file.read(2) == _GZIP
        file.seek(0)
        if packed:
            with gzip.GzipFile(fileobj=file, mode="rb") as stream:
                yield _Unpacked(stream), True
        else:
            yield file, False


def beginning(path: Path, *, size: int = PREFIX_BYTES) -> Beginning | None:
    """Return how a file begins; None for an empty one, and for a packed one whose beginning is damaged.

    Args:
        path: The file.
        size: Bytes to look at; fewer when the file is shorter.

    Raises:
        TurnFileError: When it cannot be opened.
    """
    with open_turns(path) as (stream, _):
        data = _read_up_to(stream, size)
    return Beginning(size=len(data), digest=hashlib.sha256(data).hexdigest()) if data else None


def start_digests(path: Path, sizes: Iterable[int]) -> dict[int, str]:
    """Return the SHA-256 of a file's first bytes for each of several sizes that it reaches, up to 64 KiB.

    Raises:
        TurnFileError: When it cannot be opened.
    """
    with open_turns(path) as (stream, _):
        data = _read_up_to(stream, PREFIX_BYTES)
    running, at, found = hashlib.sha256(), 0, {}
    for size in sorted(set(sizes)):
        if size <= len(data):
            running.update(data[at:size])
            at, found[size] = size, running.hexdigest()
    return found


def tail_digest(path: Path, end: int) -> str | None:
    """Return the SHA-256 of the 4 KiB before a byte of the unpacked lines; None when the file is shorter than that."""
    start = max(0, end - TAIL_BYTES)
    with open_turns(path) as (stream, _):
        try:
            stream.seek(start)
        except (OSError, EOFError, zlib.error):
            return None
        data = _read_up_to(stream, end - start)
    return hashlib.sha256(data).hexdigest() if len(data) == end - start else None


def _read_up_to(stream: ByteStream, size: int) -> bytes:
    data = b""
    try:
        while len(data) < size and (more := stream.read(size - len(data))):
            data += more
    except (OSError, EOFError, zlib.error):
        pass  # what stands before the damage
    return data
