"""The only place that loads turn metrics into the warehouse: only what is new, file by file, block by block.

A file is known by its beginning, so renaming, rotating, moving or packing it changes nothing, and what was read before
is left alone. The connection is that of the warehouse's private copy: a load that dies leaves the old file as it was.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from analysis.evidence.sessions import DeclaredSession
from analysis.evidence.turn_block import TurnBlock
from analysis.evidence.turn_files import (
    Beginning,
    TurnFile,
    TurnFileError,
    beginning,
    start_digests,
    tail_digest,
    unpacked_size,
)
from analysis.evidence.turns import range_executor, read_blocks
from analysis.relations import sql
from analysis.turn_columns import TurnColumns, columns_of
from analysis.warehouse import fetch

if TYPE_CHECKING:
    from concurrent.futures import Executor

    import duckdb

MEMORY_LIMIT = "160MB"
_LABELS = ("requested_model", "selected_model", "response_model", "requested_thinking", "effective_thinking")
_MOST_NAMES = 5_000
_Table = dict[str, NDArray[np.generic]]
_Tables = tuple[_Table, _Table, _Table, _Table]
_OF_FILE = {
    "tool_calls": "turn in (select turn from turns where study = $study and file = $file and line > $line)",
    "turns": "file = $file and line > $line",
    "turn_rejects": "file = $file and line > $line",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSource:
    """What a load of turns starts from.

    Attributes:
        study: Name of the study.
        files: The turns files found.
        sessions: What the study's trials declare.
        workers: Processes to read with.
        public: Returns those of some names that may stand in a public view.
    """

    study: str
    files: Sequence[TurnFile]
    sessions: Sequence[DeclaredSession] = ()
    workers: int = 1
    public: Callable[[Sequence[str]], frozenset[str]] = lambda _names: frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnLoad:
    """What a load of turns did.

    Attributes:
        files: Files that hold turns, in the study as a whole.
        new_files: Files that were not known.
        grown_files: Known files with new lines.
        changed_files: Known files whose loaded part was changed since; they were read again from the start.
        turns: Turns added.
        refused: Malformed lines added.
        old_turns: Turns of version 1, in the study as a whole.
        total_turns: Turns in the study as a whole.
        joined_turns: The part of these whose session one trial declares.
    """

    files: int
    new_files: int
    grown_files: int
    changed_files: int
    turns: int
    refused: int
    old_turns: int
    total_turns: int
    joined_turns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """A row of turn_files."""

    file: int
    place: str
    start: Beginning
    loaded_bytes: int = 0
    end_digest: str = ""
    lines: int = 0
    open_bytes: int = 0
    old_turns: int = 0


def load_turns(connection: "duckdb.DuckDBPyConnection", source: TurnSource) -> TurnLoad:
    """Add what is new in the files to the tables of turns, and replace what the trials declare.

    Raises:
        TurnFileError: When a file cannot be opened.
        WarehouseError: When DuckDB refuses.
    """
    connection.execute(f"set memory_limit = '{MEMORY_LIMIT}'")
    # The reading processes take the processors; one thread here costs a third less in all.
    connection.execute("set threads = 1")
    with range_executor([file.path for file in source.files], workers=source.workers) as executor:
        connection.execute("begin transaction")
        load = _Load(connection, source, executor)
        for file in source.files:
            load.add(file)
        _replace_sessions(connection, source)
        _add_names(connection, source, load.names, most=_MOST_NAMES)
        # Few, and ours: however many names the turns carry, these are looked at.
        _add_names(connection, source, {source.study, *_arms(connection, source.study)})
        connection.execute("commit")
    return load.result()


def holds_turns(connection: "duckdb.DuckDBPyConnection", study: str) -> bool:
    """Say whether the warehouse holds turns files of a study."""
    return bool(fetch(connection, "select 1 from turn_files where study = $study limit 1", {"study": study}))


class _Load:
    """One load while it goes on."""

    def __init__(
        self, connection: "duckdb.DuckDBPyConnection", source: TurnSource, executor: "Executor | None"
    ) -> None:
        self.names: set[str] = set()
        self._connection = connection
        self._study = source.study
        self._executor = executor
        self._known = _known_files(connection, source.study)
        self._next_turn = self._number("select coalesce(max(turn) + 1, 0) as n from turns where study = $study")
        self._counts = dict.fromkeys(("new", "grown", "changed", "turns", "refused"), 0)

    def add(self, file: TurnFile) -> None:
        """Add what a file has beyond what is known of it."""
        start = beginning(file.path)
        if start is None:
            return
        known = self._find(file)
        if known is None:
            known = _Known(file=max(self._known, default=0) + 1, place=file.where, start=start)
            self._counts["new"] += 1
        elif not self._is_new(file, known):
            return
        else:
            known = self._reopened(file, known, start)
        self._known[known.file] = self._read(file, known)
        self._write_file(self._known[known.file])

    def result(self) -> TurnLoad:
        """Return what was done."""
        total = self._number("select count(*) as n from turns where study = $study")
        joined = self._number(
            "select count(*) as n from turns semi join (select * from trial_sessions where joins) as declared "
            "on declared.study = turns.study and declared.session_id = turns.session_id where turns.study = $study"
        )
        return TurnLoad(
            files=len(self._known),
            new_files=self._counts["new"],
            grown_files=self._counts["grown"],
            changed_files=self._counts["changed"],
            turns=self._counts["turns"],
            refused=self._counts["refused"],
            old_turns=sum(known.old_turns for known in self._known.values()),
            total_turns=total,
            joined_turns=joined,
        )

    def _find(self, file: TurnFile) -> _Known | None:
        digests = start_digests(file.path, (known.start.size for known in self._known.values()))
        alike = (known for known in self._known.values() if digests.get(known.start.size) == known.start.digest)
        return next(alike, None) or self._edited(file)

    def _edited(self, file: TurnFile) -> _Known | None:
        """Return the known file of the same place whose end stands where it did: only its beginning was changed."""
        here = (known for known in self._known.values() if known.place == file.where and known.loaded_bytes > 0)
        return next((one for one in here if tail_digest(file.path, one.loaded_bytes) == one.end_digest), None)

    def _is_new(self, file: TurnFile, known: _Known) -> bool:
        """Say whether a known file has something that was not read; a shorter copy of it has not."""
        return unpacked_size(file.path) > known.loaded_bytes + known.open_bytes or self._is_changed(file, known)

    def _is_changed(self, file: TurnFile, known: _Known) -> bool:
        begins = start_digests(file.path, (known.start.size,)).get(known.start.size, known.start.digest)
        found = tail_digest(file.path, known.loaded_bytes)
        return begins != known.start.digest or (found is not None and found != known.end_digest)

    def _reopened(self, file: TurnFile, known: _Known, start: Beginning) -> _Known:
        """Forget what will be read again: the line that had not ended, or everything of a file that was changed."""
        changed = self._is_changed(file, known)
        self._counts["changed" if changed else "grown"] += 1
        kept = _Known(file=known.file, place=file.where, start=start) if changed else replace(known, start=start)
        for table, rows in _OF_FILE.items():
            self._connection.execute(
                f"delete from {table} where study = $study and {rows}",  # noqa: S608  # tables and conditions are ours
                {"study": self._study, "file": kept.file, "line": kept.lines},
            )
        return replace(kept, place=file.where, open_bytes=0)

    def _read(self, file: TurnFile, known: _Known) -> _Known:
        loaded, lines, open_bytes, old = known.loaded_bytes, known.lines, 0, known.old_turns
        for block in read_blocks(file.path, self._executor, start=known.loaded_bytes):
            self._insert(block, known.file, lines)
            open_bytes = block.open_bytes
            lines += block.lines - (open_bytes > 0)
            loaded += block.whole_bytes
            old += len(block.old)
        end = tail_digest(file.path, loaded)
        if end is None or beginning(file.path, size=known.start.size) != known.start:
            raise TurnFileError(f"{file.where} was rotated or changed while it was read; load again")
        return replace(known, loaded_bytes=loaded, end_digest=end, lines=lines, open_bytes=open_bytes, old_turns=old)

    def _insert(self, block: TurnBlock, file: int, lines: int) -> None:
        columns = columns_of(block)
        turns = self._next_turn + np.arange(columns.rows.size)
        self._next_turn += columns.rows.size
        self._counts["turns"] += columns.rows.size
        self._counts["refused"] += len(block.refused)
        if columns.rows.size:
            self._write(_tables(block, columns, turns, lines=lines), file)
        if block.refused:
            appender = self._connection.appender("turn_rejects")
            appender.append_rows([(self._study, file, lines + place + 1, reason) for place, reason in block.refused])
            appender.flush()

    def _write(self, tables: _Tables, file: int) -> None:
        """Insert a block's turns and calls.

        The statements find the tables by the names of local variables: a registered one would be kept, with its
        arrays, until the transaction ends.
        """
        block_turns, block_calls, block_names, block_labels = tables
        self.names.update(_named(block_names["name"], block_turns, block_calls))
        self._connection.execute(sql("insert_turns"), {"study": self._study, "file": file})
        self._connection.execute(sql("insert_tool_calls"), {"study": self._study})
        del block_labels

    def _write_file(self, known: _Known) -> None:
        parameters = {"study": self._study, "file": known.file}
        self._connection.execute("delete from turn_files where study = $study and file = $file", parameters)
        appender = self._connection.appender("turn_files")
        row = (
            self._study,
            known.file,
            known.place,
            known.start.size,
            known.start.digest,
            known.loaded_bytes,
            known.end_digest,
            known.lines,
            known.open_bytes,
            known.old_turns,
        )
        appender.append_rows([row])
        appender.flush()

    def _number(self, statement: str) -> int:
        (row,) = fetch(self._connection, statement, {"study": self._study})
        found = row["n"]
        assert isinstance(found, int)
        return found


def storable(name: str) -> str:
    """Return a name as UTF-8 can hold it: half a surrogate pair becomes the replacement character."""
    return name if name.isascii() else name.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _tables(block: TurnBlock, columns: TurnColumns, turns: NDArray[np.int64], *, lines: int) -> _Tables:
    """Return a block as the tables block_turns, block_calls, block_names and block_labels."""
    names = np.asarray([storable(name) for name in block.names], dtype=object)
    labels = dict(zip(_LABELS, zip(*block.labels, strict=True), strict=True)) if block.labels else {}
    calls: _Table = {
        "turn": turns[columns.call_turns],
        "call": columns.call_numbers,
        "tool": columns.call_tools,
        "duration_ms": columns.call_ms,
        "failed": columns.call_failed,
        "error_class": columns.call_classes,
    }
    label_columns = {name: np.asarray(labels.get(name, ()), dtype=object) for name in _LABELS}
    return (
        dict(_turn_columns(columns, turns, lines)),
        calls,
        {"code": np.arange(names.size), "name": names},
        {"code": np.arange(len(block.labels)), **label_columns},
    )


def _turn_columns(
    columns: TurnColumns, turns: NDArray[np.int64], lines: int
) -> Iterator[tuple[str, NDArray[np.generic]]]:
    for name in columns.rows.dtype.names or ():
        # A packed field is not aligned, and DuckDB reads aligned columns.
        yield name, np.ascontiguousarray(columns.rows[name])
    failed = np.bincount(columns.call_turns[columns.call_failed], minlength=columns.rows.size)
    yield "turn", turns
    yield "line", columns.places + (lines + 1)
    yield "old", columns.old
    yield "duration_ms", columns.duration_ms
    yield "failed_calls", failed
    yield "label", columns.labels


def _named(names: NDArray[np.generic], turns: _Table, calls: _Table) -> Iterable[str]:
    """Return the names of providers, models and tools that turns of a block carry; sessions are not among them."""
    used = np.zeros(names.size + 1, dtype=np.bool_)
    for codes in (turns["provider"], turns["model"], calls["tool"]):
        used[codes] = True
    return [str(name) for name in names[used[:-1]]]


def _known_files(connection: "duckdb.DuckDBPyConnection", study: str) -> dict[int, _Known]:
    rows = fetch(connection, "select * from turn_files where study = $study order by file", {"study": study})
    found = {}
    for row in rows:
        row.pop("study")
        start = Beginning(size=int(str(row.pop("start_bytes"))), digest=str(row.pop("start_digest")))
        known = _Known(start=start, **row)  # type: ignore[arg-type]  # the table's columns are the class's fields
        found[known.file] = known
    return found


def _replace_sessions(connection: "duckdb.DuckDBPyConnection", source: TurnSource) -> None:
    connection.execute("delete from trial_sessions where study = $study", {"study": source.study})
    rows = [(source.study, one.trial_id, storable(one.session_id), one.source, one.unique) for one in source.sessions]
    if rows:
        appender = connection.appender("trial_sessions")
        appender.append_rows(rows)
        appender.flush()


def _arms(connection: "duckdb.DuckDBPyConnection", study: str) -> Iterable[str]:
    statement = "select distinct arm from trials where study = $study and arm is not null"
    return [str(row["arm"]) for row in fetch(connection, statement, {"study": study})]


def _add_names(
    connection: "duckdb.DuckDBPyConnection", source: TurnSource, names: set[str], *, most: int | None = None
) -> None:
    """Keep which names may be shown; when there are more than `most`, too many to be names, none of them is."""
    rows = fetch(connection, "select name from turn_names where study = $study", {"study": source.study})
    new = sorted(names - {str(row["name"]) for row in rows})
    if not new:
        return
    public = source.public(new) if most is None or len(new) <= most else frozenset()
    appender = connection.appender("turn_names")
    appender.append_rows([(source.study, name, name in public) for name in new])
    appender.flush()
