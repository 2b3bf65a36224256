"""The only place that reads lines into turns: the fast decoder first, the reference checker for what it refuses.

Every line is a turn, blank, or malformed with a reason. What the fast tier accepts the reference accepts too, with the
same values; what it refuses the reference decides, and it may still be a turn.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import chain

from msgspec import UNSET, UnsetType

from analysis.evidence.turn_lines import MAX_LINE_BYTES, LineReader
from analysis.evidence.turn_reference import NOT_JSON, TRUNCATED, LineRefusedError, check_line
from analysis.evidence.turn_shape import DECODER, Provenance, Turn, TurnV1
from harness.turn_rules import is_identifier, is_instant, is_label

TOO_LONG = f"longer than {MAX_LINE_BYTES} bytes"
BROKEN_OFF = "the packed file breaks off or is damaged here"
_MOST_NAMES = 50_000
_decode = DECODER.decode


class TurnReader:
    """Yields the turns of lines; memory stays bounded whatever the length.

    Attributes:
        lines: How many lines were read, once all were.
        blank: Places of the blank lines so far, from 0.
        old: Places of the lines of version 1 so far.
        refused: Malformed lines so far, as (place, reason).
    """

    def __init__(self, *, reference: Callable[[bytes], Turn] | None = check_line) -> None:
        """Make a reader.

        Args:
            reference: Decides the lines that the fast decoder refuses; None leaves them out, unnamed.
        """
        self._reference = reference
        self._admitted: set[str | UnsetType] = {UNSET}
        self.lines = 0
        self.blank: list[int] = []
        self.old: list[int] = []
        self.refused: list[tuple[int, str]] = []

    def turns(self, batches: Iterable[Iterable[bytes]]) -> Iterator[Turn]:
        """Yield every turn that the lines hold; blank lines are passed over, malformed ones are kept in `refused`."""
        # One loop, nested deeper than is usual here: a function call per line would cost a tenth of the whole.
        admitted, place = self._admitted, -1
        session: str | UnsetType = ""
        provider: str | UnsetType = ""
        model: str | UnsetType = ""
        for place, line in enumerate(chain.from_iterable(batches)):
            try:
                turn = _decode(line)
                if turn.session_id != session or turn.provider != provider or turn.model != model:
                    session, provider, model = self._admit(turn.session_id, turn.provider, turn.model)
                failures, calls = 0, turn.tool_calls
                for call in calls:
                    if call.name not in admitted:
                        self._admit(call.name)
                    if not call.ok:
                        failures += 1
            except (ValueError, RecursionError):
                yield from self._decide(place, line)
                continue
            elapsed_ms = turn.ended_at_epoch_ms - turn.started_at_epoch_ms
            if (
                (turn.duration_ms == elapsed_ms or (elapsed_ms < 0 and not turn.duration_ms))
                and turn.tool_failure_count == failures
                and turn.tool_call_count == len(calls)
                and (turn.runtime_provenance is UNSET or _is_trusted(turn.runtime_provenance))
            ):
                yield turn
            else:
                yield from self._decide(place, line)
        self.lines = place + 1

    def _admit(self, *names: str | UnsetType) -> tuple[str | UnsetType, ...]:
        """Remember names that are identifiers, so that each is looked at once, and return them.

        Raises:
            ValueError: When one is none.
        """
        if len(self._admitted) > _MOST_NAMES:
            self._admitted.clear()
            self._admitted.add(UNSET)
        for name in names:
            if isinstance(name, str) and name not in self._admitted:
                if not is_identifier(name):
                    raise ValueError("no identifier")
                self._admitted.add(name)
        return names

    def _decide(self, place: int, line: bytes) -> Iterator[Turn]:
        """Let the reference checker decide: yield its turn, or keep why there is none."""
        line = line.removesuffix(b"\n")
        if len(line) > MAX_LINE_BYTES:
            self.refused.append((place, TOO_LONG))
        elif not line.strip():
            self.blank.append(place)
        elif self._reference is not None:
            try:
                turn = self._reference(line)
            except LineRefusedError as fault:
                self.refused.append((place, fault.reason))
                return
            if isinstance(turn, TurnV1):
                self.old.append(place)
            yield turn


@lru_cache(maxsize=4096)
def _is_trusted_label(text: str | None) -> bool:
    return text is None or is_label(text)


def _is_trusted(found: Provenance | UnsetType) -> bool:
    if isinstance(found, UnsetType):
        return True
    at = found.observed_at
    return all(map(_is_trusted_label, found.labels)) and (isinstance(at, UnsetType) or is_instant(at))


def refused_lines(turns: TurnReader, reader: LineReader) -> Iterator[tuple[int, str]]:
    """Yield every malformed line as (place, reason), once all lines were read.

    A last line that does not end and is no JSON was cut off while it was written, or its packed file broke off.
    """
    last = turns.lines - 1
    for place, reason in turns.refused:
        cut = reader.open_bytes > 0 and place == last and reason == NOT_JSON
        if not (cut and reader.damaged):
            yield place, TRUNCATED if cut else reason
    if reader.damaged:
        yield last + (reader.open_bytes == 0), BROKEN_OFF
