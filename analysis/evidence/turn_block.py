"""The only place that packs turns into a block: rows of bytes, and names as codes into short lists.

A block is what many turns become on their way into columns. It is made of plain bytes so that a process of its own can
make it; numpy reads it where it is used (turn_columns).
"""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from struct import Struct

from msgspec import UNSET, UnsetType

from analysis.evidence.turn_calls import CallLog, Codes, packed_codes, packed_numbers
from analysis.evidence.turn_lines import LineReader
from analysis.evidence.turn_reader import TurnReader, refused_lines
from analysis.evidence.turn_shape import NOT_RECORDED, Provenance, Turn
from harness.turn_rules import ERROR_CLASSES, STOP_REASONS

# Field, and its letter in struct; numpy reads the same layout.
ROW = (
    ("session", "i"),
    ("provider", "i"),
    ("model", "i"),
    ("calls", "i"),
    ("stop_reason", "b"),
    ("compacted", "b"),
    ("plan_hit", "b"),
    ("turn_index", "q"),
    ("started_at_epoch_ms", "d"),
    ("ended_at_epoch_ms", "d"),
    ("first_chunk_ms", "d"),
    ("input", "q"),
    ("output", "q"),
    ("cache_read", "q"),
    ("cache_write", "q"),
    ("cost_usd", "d"),
    ("failovers", "q"),
    ("cache_hits", "q"),
    ("cache_misses", "q"),
)
_ROW = Struct("<" + "".join(letter for _, letter in ROW))

Labels = tuple[str | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnBlock:
    """The turns of a run of lines; a code of -1 stands for a name that was not recorded.

    Attributes:
        lines: How many lines there were, blank ones included.
        rows: One packed row per accepted turn, laid out as ROW.
        call_tools: Codes of the tools called, in order, 4 bytes each.
        call_ms: Durations of these calls, milliseconds, 8 bytes each.
        failures: Pairs (place of a failed call among these, code of its error class), 4 bytes each.
        provenances: Pairs (place of a turn among the rows, code of its labels), 4 bytes each.
        names: Names of sessions, providers, models and tools by code.
        labels: Requested, selected and response model, requested and effective thinking, by code.
        blank: Places of the blank lines, from 0 within the block.
        old: Places of the lines of version 1.
        refused: Malformed lines as (place, reason).
        whole_bytes: Bytes up to and with the last line feed.
        open_bytes: Bytes behind that: a last line that does not end in a line feed; 0 when there is none.
        damaged: The source broke off.
        ended: There is nothing behind these lines.
    """

    lines: int
    rows: bytes
    call_tools: bytes
    call_ms: bytes
    failures: bytes
    provenances: bytes
    names: tuple[str, ...]
    labels: tuple[Labels, ...]
    blank: tuple[int, ...]
    old: tuple[int, ...]
    refused: tuple[tuple[int, str], ...]
    whole_bytes: int
    open_bytes: int
    damaged: bool
    ended: bool


_FLAGS: dict[bool | UnsetType, int] = {UNSET: NOT_RECORDED, False: 0, True: 1}
_STOPS: dict[str | UnsetType, int] = {UNSET: NOT_RECORDED, **{name: code for code, name in enumerate(STOP_REASONS)}}
_CLASSES: dict[str | UnsetType, int] = {UNSET: NOT_RECORDED, **{name: code for code, name in enumerate(ERROR_CLASSES)}}


def read_block(reader: LineReader, length: int | None = None) -> TurnBlock:
    """Read the lines that begin within the next so many bytes into one block; None reads all that are left."""
    turns, codes = TurnReader(), Codes()
    calls, packed = CallLog(codes), _Packed(codes)
    packed.take(calls.passing(turns.turns(reader.batches(length))))
    return TurnBlock(
        lines=turns.lines,
        rows=bytes(packed.rows),
        call_tools=packed_codes(calls.tools),
        call_ms=packed_numbers(calls.durations),
        failures=array("i", (part for place, kind in calls.failures for part in (place, _CLASSES[kind]))).tobytes(),
        provenances=packed.provenances.tobytes(),
        names=codes.names,
        labels=tuple(packed.labels),
        blank=tuple(turns.blank),
        old=tuple(turns.old),
        refused=tuple(refused_lines(turns, reader)),
        whole_bytes=reader.whole_bytes,
        open_bytes=reader.open_bytes,
        damaged=reader.damaged,
        ended=reader.ended,
    )


class _Packed:
    """Turns as packed rows while they are being read."""

    def __init__(self, codes: Codes) -> None:
        self.rows = bytearray()
        self.provenances = array("i")
        self.labels: dict[Labels, int] = {}
        self._codes = codes

    def take(self, turns: Iterable[Turn]) -> None:
        """Pack the turns; this runs once per turn, so names are local."""
        rows, codes, pack_row = self.rows, self._codes, _ROW.pack
        for turn in turns:
            if turn.runtime_provenance is not UNSET:
                self._note(turn.runtime_provenance)
            usage, cache = turn.usage, turn.context_cache
            rows += pack_row(
                codes[turn.session_id],
                codes[turn.provider],
                codes[turn.model],
                turn.tool_call_count,
                _STOPS[turn.stop_reason],
                _FLAGS[turn.compacted],
                cache.plan_hit,
                turn.turn_index,
                turn.started_at_epoch_ms,
                turn.ended_at_epoch_ms,
                turn.time_to_first_chunk_ms,
                usage.input,
                usage.output,
                usage.cache_read,
                usage.cache_write,
                usage.cost_usd,
                turn.failovers,
                cache.hits,
                cache.misses,
            )

    def _note(self, seen: Provenance | UnsetType) -> None:
        assert isinstance(seen, Provenance)  # the caller looked
        code = self.labels.setdefault(seen.labels, len(self.labels))
        self.provenances.extend((len(self.rows) // _ROW.size, code))
