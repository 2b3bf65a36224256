"""The only place for reading turns files: block by block and in order, on one process or several.

Every line gets a stated result: it is a turn, it is blank, or it is malformed with a reason; nothing is fatal and no
file is rewritten. A file is cut into ranges of bytes, and the cut does not depend on the number of processes, so the
blocks are the same on every machine.
"""

import multiprocessing
import os
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

from analysis.evidence.turn_block import TurnBlock, read_block
from analysis.evidence.turn_files import ByteStream, open_turns
from analysis.evidence.turn_lines import LineReader, skip_to_line
from analysis.evidence.turn_reader import TurnReader
from analysis.evidence.turn_shape import Turn

RANGE_BYTES = 16 * 1024 * 1024
# Below this size another process costs more than it saves.
_WORTH_A_PROCESS = 2 * RANGE_BYTES


def read_turns(path: Path) -> Iterator[Turn]:
    """Yield every turn of a file, in order and in bounded memory; malformed lines are passed over.

    Raises:
        TurnFileError: When the file cannot be opened.
    """
    with open_turns(path) as (stream, _):
        yield from TurnReader().turns(LineReader(stream).batches())


class Part(Protocol):
    """What is made of one range."""

    @property
    def ended(self) -> bool:
        """There is nothing behind it."""


_Part = TypeVar("_Part", bound=Part)
Work = Callable[[LineReader, int | None], _Part]


def read_blocks(path: Path, executor: Executor | None, *, start: int = 0) -> Iterator[TurnBlock]:
    """Yield the turns of a file block by block, as `read_ranges` does."""
    return read_ranges(path, executor, read_block, start=start)


def read_ranges(
    path: Path, executor: Executor | None, work: Work[_Part], *, start: int = 0, ahead: int = 3
) -> Iterator[_Part]:
    """Yield what a function makes of each range of a file, in order.

    Args:
        path: The file.
        executor: Reads ranges elsewhere; None reads here. A packed file is always read here.
        work: Takes a reader and the length of the range within which its lines begin; a function of a module.
        start: Byte of the (unpacked) lines to begin at, the first of a line.
        ahead: Ranges that may be in work at once, besides the one that is yielded.

    Raises:
        TurnFileError: When the file cannot be opened.
    """
    with open_turns(path) as (stream, packed):
        if packed:
            yield from _stream(stream, work, start)
            return
    begins = range(start, max(start + 1, path.stat().st_size), RANGE_BYTES)
    if executor is None:
        yield from (_range(path, work, begin=begin, start=start) for begin in begins)
        return
    waiting: deque[Future[_Part]] = deque()
    for begin in begins:
        waiting.append(executor.submit(_range, path, work, begin=begin, start=start))
        if len(waiting) > ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _range(path: Path, work: Work[_Part], *, begin: int, start: int) -> _Part:
    """Work on the lines that begin within one range of bytes, each to its end.

    A range may begin inside a line; that line belongs to the range before.
    """
    with open_turns(path) as (stream, _):
        at = begin
        if begin > start:
            stream.seek(begin - 1)
            skipped = skip_to_line(stream, RANGE_BYTES)
            at = begin + RANGE_BYTES if skipped is None else begin - 1 + skipped
        stream.seek(at)
        return work(LineReader(stream), begin + RANGE_BYTES - at)


def _stream(stream: ByteStream, work: Work[_Part], start: int) -> Iterator[_Part]:
    reader = LineReader(stream)
    reader.skip(start)
    while not reader.ended:
        yield work(reader, RANGE_BYTES)


def available_cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def range_executor(paths: Sequence[Path], *, workers: int) -> Iterator[Executor | None]:
    """Give processes that read ranges, or None where the files are too small or the workers too few to be worth it."""
    size = sum(path.stat().st_size for path in paths if path.exists())
    if workers < 2 or size < _WORTH_A_PROCESS:
        yield None
        return
    # A process that has one thread may be copied at once; with more, a copy could hold their locks for ever.
    alone = sys.platform == "linux" and sum(1 for _ in Path("/proc/self/task").iterdir()) == 1
    method = "fork" if alone else "spawn"
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context(method)) as executor:
        # Processes start with the first task: now, before the caller's libraries make threads.
        executor.submit(available_cores).result()
        yield executor
