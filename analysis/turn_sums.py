"""The only place that adds turns up as they are read: one range of a file at a time, group by group.

Plain Python without numpy, because it runs where the lines are read, in a process of its own. What is needed whole for
a percentile (durations) is kept as bytes; everything else is a sum. Numbers go into arrays at once: kept as objects
they would lie between those of the next lines and slow down the reading.
"""

import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path
from typing import Literal

from msgspec import UNSET, UnsetType

from analysis.evidence.turn_lines import LineReader
from analysis.evidence.turn_reader import TurnReader, refused_lines
from analysis.evidence.turn_shape import NO_CONTEXT_CACHE, NO_USAGE, Call, CallV1, Provenance, Turn
from analysis.evidence.turns import read_ranges

Cell = Literal["all", "model", "session", "day"]
By = Literal["model", "session", "day", "arm"]
Model = tuple[str | None, str | None]
Key = str | int | Model | None
_DAY_MS = 86_400_000.0
_BEYOND = 3_000_000  # days: past the year 9999, where no calendar helps


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSums:
    """Sums over some turns of one range.

    Attributes:
        sessions: Their sessions.
        models: Their (provider, model); None where not recorded.
        counts: Tokens and counters; `compacted`, `failing_over`, `planned` and `traced` say how many turns carried
            the field at all.
        durations: Durations of the turns, milliseconds, 8 bytes each.
        first_chunks: Times to the first chunk where recorded, milliseconds, 8 bytes each.
        costs: Numbers whose exact sum is that of the recorded US dollars; none where no turn carried a usage.
        calls: By tool the durations of its calls, milliseconds, 8 bytes each.
        failures: Failed calls by tool.
    """

    sessions: frozenset[str]
    models: frozenset[Model]
    counts: Counter[str]
    durations: bytes
    first_chunks: bytes
    costs: tuple[float, ...]
    calls: dict[str, bytes]
    failures: Counter[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeSums:
    """The sums of one range of a file.

    Attributes:
        cells: By what was asked for; `all` has the one key None.
        refused: Malformed lines by reason.
        ended: There is nothing behind this range.
    """

    cells: dict[Key, TurnSums]
    refused: Counter[str]
    ended: bool


def sum_files(paths: Iterable[Path], executor: Executor | None, by: By | None) -> Iterator[RangeSums]:
    """Yield the sums of the ranges of some files, in order.

    Raises:
        TurnFileError: When a file cannot be opened.
    """
    for path in paths:
        yield from read_ranges(path, executor, _READERS[_CELLS[by]])


def begun(sums: Iterator[RangeSums]) -> Iterator[RangeSums]:
    """Wait for the first sums: the processes that read go on while the caller loads what it needs for the report."""
    first = next(sums, None)
    return sums if first is None else chain((first,), sums)


def exact_parts(values: Sequence[float]) -> tuple[float, ...]:
    """Return few numbers whose exact sum is that of the values; infinity stands for a sum beyond the largest double.

    Args:
        values: Finite, 0 or more.
    """
    parts = [0.0] if values else []
    try:
        rest = math.fsum(values)
        while rest:
            parts.append(rest)
            rest = math.fsum([*values, *(-part for part in parts)])
    except OverflowError:
        return (math.inf,)
    return tuple(parts)


class _Calls(dict[str, Callable[[float], None]]):
    """Takes the duration of a call, by the tool's name.

    Attributes:
        durations: Durations by tool.
    """

    def __init__(self) -> None:
        """Know no tool yet."""
        super().__init__()
        self.durations: dict[str, array[float]] = {}

    def __missing__(self, name: str) -> Callable[[float], None]:
        """Make room for a new tool."""
        own = self.durations[name] = array("d")
        add = self[name] = own.append
        return add


class _Cell:
    """What belongs together, while it is being read."""

    def __init__(self) -> None:
        self.calls = _Calls()
        self.failures: Counter[str] = Counter()
        self.sessions: set[str] = set()
        self.models: set[Model] = set()
        self.counts: Counter[str] = Counter()
        self.durations, self.first_chunks, self.costs = array("d"), array("d"), array("d")

    def add(self, turns: Iterable[Turn]) -> None:
        """Add turns; this runs once per turn, so sums are local."""
        add_duration, add_first_chunk, add_cost = self.durations.append, self.first_chunks.append, self.costs.append
        calls = self.calls
        session = ""
        provider: str | UnsetType = UNSET
        model: str | UnsetType = UNSET
        inputs = outputs = cache_reads = cache_writes = 0
        compacted = compactions = failing_over = failovers = planned = plan_hits = 0
        for turn in turns:
            for call in turn.tool_calls:
                calls[call.name](call.duration_ms)
            if turn.tool_failure_count:
                self._add_failures(turn.tool_calls)
            add_duration(turn.duration_ms)
            if turn.session_id != session or turn.model != model or turn.provider != provider:
                session, provider, model = turn.session_id, turn.provider, turn.model
                self.sessions.add(session)
                self.models.add((_recorded(provider), _recorded(model)))
            usage = turn.usage
            if usage is not NO_USAGE:
                inputs += usage.input
                outputs += usage.output
                cache_reads += usage.cache_read
                cache_writes += usage.cache_write
                add_cost(usage.cost_usd)
            if turn.time_to_first_chunk_ms >= 0:
                add_first_chunk(turn.time_to_first_chunk_ms)
            compacted += turn.compacted is not UNSET
            compactions += turn.compacted is True
            if turn.failovers >= 0:
                failing_over += 1
                failovers += turn.failovers
            planned += turn.context_cache is not NO_CONTEXT_CACHE
            plan_hits += turn.context_cache.plan_hit
            if turn.runtime_provenance is not UNSET:
                self._trace(turn.runtime_provenance)
        self.counts.update(
            input=inputs,
            output=outputs,
            cache_read=cache_reads,
            cache_write=cache_writes,
            compacted=compacted,
            compactions=compactions,
            failing_over=failing_over,
            failovers=failovers,
            planned=planned,
            plan_hits=plan_hits,
        )

    def sums(self) -> TurnSums:
        """Return the sums."""
        return TurnSums(
            sessions=frozenset(self.sessions),
            models=frozenset(self.models),
            counts=self.counts,
            durations=self.durations.tobytes(),
            first_chunks=self.first_chunks.tobytes(),
            costs=exact_parts(self.costs),
            calls={name: own.tobytes() for name, own in self.calls.durations.items()},
            failures=self.failures,
        )

    def _add_failures(self, calls: Iterable[Call | CallV1]) -> None:
        self.failures.update([call.name for call in calls if not call.ok])

    def _trace(self, seen: Provenance | UnsetType) -> None:
        """Count a turn whose answering model is known, and one that is not the selected model."""
        assert isinstance(seen, Provenance)  # the caller looked
        if seen.response_model is not None:
            self.counts["traced"] += 1
            self.counts["mismatches"] += seen.response_model != seen.selected_model


def _sum_cells(key: Callable[[Turn], Key], reader: LineReader, length: int | None) -> RangeSums:
    turns = TurnReader()
    cells: dict[Key, _Cell] = {}
    for found, run in groupby(turns.turns(reader.batches(length)), key):
        cells.setdefault(found, _Cell()).add(run)
    return _range(reader, turns, {found: cell.sums() for found, cell in cells.items()})


def _by_model(turn: Turn) -> Key:
    return _recorded(turn.provider), _recorded(turn.model)


def _by_session(turn: Turn) -> Key:
    return turn.session_id


def _by_day(turn: Turn) -> Key:
    return int(min(turn.started_at_epoch_ms / _DAY_MS, _BEYOND))


def _range_whole(reader: LineReader, length: int | None) -> RangeSums:
    turns = TurnReader()
    whole = _Cell()
    whole.add(turns.turns(reader.batches(length)))
    return _range(reader, turns, {None: whole.sums()})


def _range_by_model(reader: LineReader, length: int | None) -> RangeSums:
    return _sum_cells(_by_model, reader, length)


def _range_by_session(reader: LineReader, length: int | None) -> RangeSums:
    return _sum_cells(_by_session, reader, length)


def _range_by_day(reader: LineReader, length: int | None) -> RangeSums:
    return _sum_cells(_by_day, reader, length)


_CELLS: dict[By | None, Cell] = {
    None: "all",
    "model": "model",
    "session": "session",
    "arm": "session",
    "day": "day",
}
# Named functions, so that another process can be told which one to run.
_READERS: dict[Cell, Callable[[LineReader, int | None], RangeSums]] = {
    "all": _range_whole,
    "model": _range_by_model,
    "session": _range_by_session,
    "day": _range_by_day,
}


def _recorded(name: str | UnsetType) -> str | None:
    return name if isinstance(name, str) else None


def _range(reader: LineReader, turns: TurnReader, cells: dict[Key, TurnSums]) -> RangeSums:
    refused = Counter(reason for _, reason in refused_lines(turns, reader))
    return RangeSums(cells=cells, refused=refused, ended=reader.ended)
