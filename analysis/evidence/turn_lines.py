"""The only place that cuts a turns file into lines: in order, in bounded memory, from any byte range of it.

A line ends at a line feed. One that is longer than a record may be is not held: OVERLONG stands for it, which is no
JSON and refused by its length, so that a 100 MiB line costs no more than any other.
"""

import zlib
from collections.abc import Callable, Iterable, Iterator
from gzip import BadGzipFile
from io import BytesIO
from typing import Protocol

from harness.turn_rules import MAX_FILE_BYTES

MAX_LINE_BYTES = MAX_FILE_BYTES
OVERLONG = bytes(MAX_LINE_BYTES + 1)
BATCH_BYTES = 64 * 1024


class Source(Protocol):
    """A file opened for reading bytes."""

    def read(self, size: int, /) -> bytes:
        """Return up to so many bytes; none at the end."""

    def readline(self, size: int, /) -> bytes:
        """Return up to so many bytes, none beyond a line feed; none at the end."""


class LineReader:
    """Yields the lines of a source, batch by batch, range by range.

    Attributes:
        whole_bytes: Bytes of the last range up to and with its last line feed, once every batch of it was taken.
        open_bytes: Bytes behind that: a last line that does not end in a line feed; 0 when there is none.
        damaged: The source could not be read to its end (a cut or broken gzip stream); what came before it counts.
        ended: There is nothing more in the source.
    """

    def __init__(self, source: Source) -> None:
        """Make a reader of a source that stands at the beginning of a line."""
        self._source = source
        self.whole_bytes = 0
        self.open_bytes = 0
        self.damaged = False
        self.ended = False

    def batches(self, length: int | None = None) -> Iterator[Iterable[bytes]]:
        """Yield runs of lines with their line feeds: those that begin within the next so many bytes, or all."""
        line, taken = _OpenLine(), 0
        self.whole_bytes = 0
        while chunk := self._chunk(None if length is None else length - taken, inside=line.size > 0):
            taken += len(chunk)
            end = chunk.rfind(b"\n") + 1
            if end and line.size:
                first = chunk.index(b"\n") + 1
                line.add(chunk[:first])
                yield [line.take()]
                yield BytesIO(chunk[first:end])
            elif end:
                # Handing out line after line costs half of what cutting all of them at once does.
                yield BytesIO(chunk[:end])
            line.add(chunk[end:])
            self.whole_bytes = taken - line.size
        self.open_bytes = line.size
        if line.size:
            yield [line.take()]

    def skip(self, size: int) -> None:
        """Pass over so many bytes."""
        while size > 0 and (data := self._guarded(self._source.read, min(BATCH_BYTES, size))):
            size -= len(data)

    def _chunk(self, left: int | None, *, inside: bool) -> bytes:
        """Return the next bytes: none at the end, or when every line that began within the length has ended."""
        if left is None:
            data = self._guarded(self._source.read, BATCH_BYTES)
        elif left > 0:
            data = self._guarded(self._source.read, min(BATCH_BYTES, left))
        elif inside:
            data = self._guarded(self._source.readline, BATCH_BYTES)
        else:
            return b""
        self.ended = self.ended or not data
        return data

    def _guarded(self, read: Callable[[int], bytes], size: int) -> bytes:
        try:
            return read(size)
        except (EOFError, BadGzipFile, zlib.error):
            self.damaged = True
            return b""


class _OpenLine:
    """A line whose end was not read yet.

    Attributes:
        size: Its bytes so far; those beyond the longest line are counted and not held.
    """

    def __init__(self) -> None:
        self.size = 0
        self._pieces: list[bytes] = []

    def add(self, piece: bytes) -> None:
        """Add its next bytes."""
        self.size += len(piece)
        if self._is_overlong(piece):
            self._pieces.clear()
        elif piece:
            self._pieces.append(piece)

    def take(self) -> bytes:
        """Return the line and begin the next one."""
        line = b"".join(self._pieces) if self._pieces else OVERLONG
        self.size, self._pieces = 0, []
        return line

    def _is_overlong(self, piece: bytes) -> bool:
        return self.size - piece.endswith(b"\n") > MAX_LINE_BYTES


def skip_to_line(source: Source, limit: int) -> int | None:
    """Read up to and with the next line feed; return how many bytes that took, or None when there is none in reach."""
    taken = 0
    while taken < limit and (piece := source.readline(min(BATCH_BYTES, limit - taken))):
        taken += len(piece)
        if piece.endswith(b"\n"):
            return taken
    return None
