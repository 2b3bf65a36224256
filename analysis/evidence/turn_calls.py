"""The only place that collects the tool calls of turns while they are being read, and gives names their numbers."""

from collections.abc import Iterable, Iterator, Sequence
from struct import pack

from msgspec import UNSET, UnsetType

from analysis.evidence.turn_shape import NOT_RECORDED, Turn


class Codes(dict[str | UnsetType, int]):
    """Numbers names from 0 in the order in which they are first asked for; UNSET, one not recorded, has -1."""

    def __init__(self) -> None:
        """Know no name yet."""
        super().__init__({UNSET: NOT_RECORDED})

    def __missing__(self, name: str | UnsetType) -> int:
        """Give a new name the next number."""
        code = self[name] = len(self) - 1
        return code

    @property
    def names(self) -> tuple[str, ...]:
        """The names by number."""
        return tuple(name for name in self if isinstance(name, str))


class CallLog:
    """The tool calls of turns, in order.

    Attributes:
        tools: Code of each call's tool.
        durations: Milliseconds of each call.
        failures: Pairs (place of a failed call, its error class).
    """

    def __init__(self, codes: Codes) -> None:
        """Make an empty log that takes the tools' numbers from codes."""
        self.tools: list[int] = []
        self.durations: list[float] = []
        self.failures: list[tuple[int, str | UnsetType]] = []
        self._codes = codes

    def passing(self, turns: Iterable[Turn]) -> Iterator[Turn]:
        """Yield the turns on, their calls logged; this runs once per call, so names are local."""
        codes, add_tool, add_duration = self._codes, self.tools.append, self.durations.append
        for turn in turns:
            for call in turn.tool_calls:
                if not call.ok:
                    self.failures.append((len(self.tools), call.error_class))
                add_tool(codes[call.name])
                add_duration(call.duration_ms)
            yield turn


def packed_numbers(values: Sequence[float]) -> bytes:
    """Return numbers as 8 bytes each; four times as fast as an array made of them."""
    return pack(f"<{len(values)}d", *values)


def packed_codes(values: Sequence[int]) -> bytes:
    """Return codes as 4 bytes each."""
    return pack(f"<{len(values)}i", *values)
