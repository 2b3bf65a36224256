"""The only place for the run journal: a hash-chained log that shows whether a run was abandoned or altered.

Each record carries the digest of the one before it; the first carries 64 zeros. A change, an insertion, a removal or a
swap breaks the chain at the first record that it touches. A cut at the end breaks nothing: keep the newest digest
elsewhere (`Journal.append` returns it) and give it to `verify` as the expected head. Unlike the recorder of turn
metrics the journal is not advisory: what cannot be written is raised.
"""

import hashlib
import json
import os
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from harness.locking import locked
from harness.turn_metrics import FILE_MODE, append_line, make_folder
from harness.turn_rules import MAX_SAFE_INTEGER, is_identifier

SCHEMA = "evenhand-run-journal-1"
GENESIS = "0" * 64
MAX_RECORD_BYTES = 16 * 1024
_KEYS = frozenset(("schema", "sequence", "event", "runId", "atEpochMs", "facts", "previous", "digest"))
_LOCK_TIMEOUT_S = 30.0
_BLOCK = 64 * 1024

Facts = Mapping[str, str | int | bool | None]


class JournalError(Exception):
    """A record cannot be appended: it is not one, or the journal's end is broken."""


class Event(Enum):
    """What a journal records of a run."""

    STARTED = "run_started"
    FINISHED = "run_finished"
    RECOVERED = "run_recovered"
    ABANDONED = "run_abandoned"
    TOOL_TIMEOUT = "tool_timeout"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One record that is as it was written.

    Attributes:
        sequence: Its number, from 0.
        event: What happened.
        run_id: The run.
        at_epoch_ms: When, by the recorder's clock, in milliseconds since 1970; informational only.
        digest: SHA-256 of the record, which the next one carries.
    """

    sequence: int
    event: Event
    run_id: str
    at_epoch_ms: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """The first record that is not as it was written.

    Attributes:
        line: Line of the file, from 1; one past the last line where records are missing at the end.
        reason: What is wrong with it.
    """

    line: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What a verification found.

    Attributes:
        entries: The records before the first broken one, in order.
        head: Digest of the last of them; 64 zeros for none.
        broken: The first broken record, or None.
    """

    entries: tuple[Entry, ...]
    head: str
    broken: Broken | None

    def answer(self, run_id: str, *, running: Collection[str] = ()) -> "Answer":
        """Say whether a run was abandoned or altered.

        Args:
            run_id: The run.
            running: Runs that are known to be alive; a journal alone cannot tell a live run from a dead one.
        """
        events = [entry.event for entry in self.entries if entry.run_id == run_id]
        ends = [event for event in events if event is not Event.TOOL_TIMEOUT]
        last = ends[-1] if ends else None
        unfinished = last in {Event.STARTED, Event.RECOVERED} and run_id not in running
        return Answer(
            known=bool(events),
            finished=last is Event.FINISHED,
            abandoned=last is Event.ABANDONED or (unfinished and self.broken is None),
            recoveries=events.count(Event.RECOVERED),
            tool_timeouts=events.count(Event.TOOL_TIMEOUT),
            altered=self.broken,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a journal says of one run.

    Attributes:
        known: The run stands in the part of the journal that can be trusted.
        finished: Its last event is its end.
        abandoned: It was recorded as abandoned, or began and neither ended nor is alive; not claimed of a run whose
            end may stand behind a broken record.
        recoveries: How often it was taken up again.
        tool_timeouts: Tools that timed out in it.
        altered: The journal's first broken record: from there on nothing it says can be trusted; None when it is whole.
    """

    known: bool
    finished: bool
    abandoned: bool
    recoveries: int
    tool_timeouts: int
    altered: Broken | None


class Journal:
    """Appends to one journal file; several processes may share it."""

    def __init__(self, path: Path, *, fsync: bool = True) -> None:
        """Make a journal; nothing is read or written yet.

        Args:
            path: The file; its folder is made when the first record is appended.
            fsync: Wait for the disk after every record.
        """
        self._path = path
        self._fsync = fsync

    def append(self, event: Event, run_id: str, *, at_epoch_ms: int, facts: Facts | None = None) -> str:
        """Append one record and return its digest, the journal's new head.

        Args:
            event: What happened.
            run_id: The run; an identifier, no secret.
            at_epoch_ms: The caller's clock, milliseconds since 1970.
            facts: Names, counts and flags that belong to the event, for instance the tool that timed out.

        Raises:
            JournalError: When the record is none, or the journal's last line is torn or broken: `recover` heals that.
            OSError: When it cannot be written whole.
        """
        return self._append(event, run_id, at_epoch_ms=at_epoch_ms, facts=facts or {}, heal=False)

    def recover(self, run_id: str, *, at_epoch_ms: int, facts: Facts | None = None) -> str:
        """Append that a run was taken up again; what a killed writer left of a last line is cut off and counted.

        Raises:
            JournalError: When the last whole line is broken: nothing is hidden.
            OSError: When it cannot be written whole.
        """
        return self._append(Event.RECOVERED, run_id, at_epoch_ms=at_epoch_ms, facts=facts or {}, heal=True)

    def _append(self, event: Event, run_id: str, *, at_epoch_ms: int, facts: Facts, heal: bool) -> str:
        make_folder(self._path.parent)
        with locked(self._path.parent, timeout_s=_LOCK_TIMEOUT_S, pause=time.sleep):
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
            file = os.open(self._path, flags, FILE_MODE)
            try:
                size, torn = _whole_size(file)
                if torn and not heal:
                    raise JournalError(f"the journal ends in {torn} bytes of a torn record; recover the run")
                if torn:
                    os.ftruncate(file, size)
                    facts = {**facts, "tornBytes": torn}
                last = _last_entry(file, size)
                line, digest = _record(event, run_id, at_epoch_ms=at_epoch_ms, facts=facts, last=last)
                append_line(file, line, size=size, fsync=self._fsync)
            finally:
                os.close(file)
        return digest


def verify(path: Path, *, expected_head: str | None = None) -> Verified:
    """Read a whole journal and find the first record that is not as it was written.

    Args:
        path: The file; it is only read.
        expected_head: The digest that the last record must have, where somebody kept it; it shows a cut at the end.

    Raises:
        OSError: When the file cannot be read.
    """
    entries: list[Entry] = []
    head, broken, number = GENESIS, None, 0
    with path.open("rb") as file:
        while broken is None and (line := file.readline(MAX_RECORD_BYTES + 1)):
            number += 1
            found = _checked(line, sequence=len(entries), previous=head)
            if isinstance(found, str):
                broken = Broken(line=number, reason=found)
            else:
                entries.append(found)
                head = found.digest
    if broken is None and expected_head is not None and head != expected_head:
        broken = Broken(line=number + 1, reason="the journal ends before the expected head, or after it")
    return Verified(entries=tuple(entries), head=head, broken=broken)


def _record(event: Event, run_id: str, *, at_epoch_ms: int, facts: Facts, last: Entry | None) -> tuple[bytes, str]:
    fault = _fault(event, run_id, at_epoch_ms=at_epoch_ms, facts=facts)
    if fault is not None:
        raise JournalError(fault)
    body: dict[str, object] = {
        "schema": SCHEMA,
        "sequence": 0 if last is None else last.sequence + 1,
        "event": event.value,
        "runId": run_id,
        "atEpochMs": at_epoch_ms,
        "facts": {name: facts[name] for name in sorted(facts)},
        "previous": GENESIS if last is None else last.digest,
    }
    digest = _digest(body)
    line = _canonical({**body, "digest": digest}) + b"\n"
    if len(line) > MAX_RECORD_BYTES:
        raise JournalError(f"a record of {len(line)} bytes is larger than {MAX_RECORD_BYTES}")
    return line, digest


def _fault(event: object, run_id: object, *, at_epoch_ms: object, facts: object) -> str | None:
    """Return what is wrong with the values of a record; the types are looked at, for a file may hold anything."""
    if not isinstance(event, Event):
        return "event: none of a journal's"
    if not isinstance(run_id, str) or not is_identifier(run_id):
        return "runId: blank, longer than 512 UTF-16 units, with a control character, or no text"
    if type(at_epoch_ms) is not int or not 0 <= at_epoch_ms <= MAX_SAFE_INTEGER:
        return "atEpochMs must be a whole number in [0, 2^53)"
    if not isinstance(facts, Mapping) or not all(
        isinstance(name, str) and (value is None or isinstance(value, str | int)) for name, value in facts.items()
    ):
        return "facts: names with texts, whole numbers, true, false or nothing"
    return None


def _canonical(body: Mapping[str, object]) -> bytes:
    return json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def _digest(body: Mapping[str, object]) -> str:
    return hashlib.sha256(_canonical(body)).hexdigest()


def _checked(line: bytes, *, sequence: int, previous: str) -> Entry | str:
    """Return the entry that a line holds at this place of the chain, or what is wrong with it."""
    found = _parsed(line)
    if isinstance(found, str):
        return found
    entry, carried = found
    if entry.sequence != sequence:
        return f"record {sequence} expected, found another number: one was removed, inserted or moved"
    if carried != previous:
        return "it does not carry the digest of the record before it"
    return entry


def _parsed(line: bytes) -> tuple[Entry, str] | str:
    if len(line) > MAX_RECORD_BYTES:
        return "longer than any record"
    if not line.endswith(b"\n"):
        return "torn: the line does not end"
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return "not a record: no JSON"
    if not isinstance(found, dict) or found.keys() != _KEYS or found["schema"] != SCHEMA:
        return "not a record of this schema"
    digest = found.pop("digest")
    try:
        if _canonical({**found, "digest": digest}) + b"\n" != line or _digest(found) != digest:
            return "its content is not the one that its digest names"
        event = Event(found["event"])
        fault = _fault(event, found["runId"], at_epoch_ms=found["atEpochMs"], facts=found["facts"])
        if fault is not None or type(found["sequence"]) is not int:
            return "not a record of this schema"
        entry = Entry(
            sequence=found["sequence"],
            event=event,
            run_id=found["runId"],
            at_epoch_ms=found["atEpochMs"],
            digest=digest,
        )
    except ValueError:
        return "not a record of this schema"
    return entry, found["previous"]


def _whole_size(file: int) -> tuple[int, int]:
    """Return how many bytes the whole lines take, and how many follow them."""
    size = os.fstat(file).st_size
    at = size
    while at > 0:
        start = max(0, at - _BLOCK)
        found = os.pread(file, at - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1, size - start - found - 1
        at = start
    return 0, size


def _last_entry(file: int, size: int) -> Entry | None:
    """Return the last record; only it is checked, a whole verification is `verify`'s.

    Raises:
        JournalError: When the last line is no record.
    """
    if size == 0:
        return None
    start = max(0, size - MAX_RECORD_BYTES - 1)
    tail = os.pread(file, size - start, start)
    found = _parsed(tail[tail.rfind(b"\n", 0, -1) + 1 :])
    if isinstance(found, str):
        raise JournalError(f"the journal's last record is broken ({found}); verify it and begin a new journal")
    return found[0]
