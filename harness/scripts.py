"""The only place that writes short scripts as the lines a harness would print.

A script is a list of `[t, verb, ...]` with t in milliseconds from the turn's anchor; each harness has its own verbs.
Tests and expected values are written as scripts, so that a number can be checked by hand beside the stream that
makes it.
"""

from collections.abc import Sequence

from harness.clock import US_PER_MS, Anchor, Stamp, stamp_of_ms
from harness.kinds import Harness
from harness.programs.folders import part

# An instant for scripts whose harness prints wall-clock stamps; any would do.
SCRIPT_EPOCH_MS = 1_790_000_000_000
SCRIPT_ANCHOR = Anchor(wall_us=SCRIPT_EPOCH_MS * US_PER_MS)

Line = dict[str, object]
Row = Sequence[object]
StampedLine = tuple[Stamp, Line]


class ScriptError(ValueError):
    """A script has a row that its harness has no verb for."""


def script_lines(harness: Harness, script: Sequence[Row]) -> tuple[StampedLine, ...]:
    """Return the stamped lines of a script; a `close` row ends the stream and makes no line."""
    rows = [row for row in script if row[1] != "close"]
    return tuple((stamp_of_ms(t), line) for t, line in part(harness, "script").lines(rows))


def closing_ms(script: Sequence[Row]) -> float | None:
    """Return when a script's stream ends, or None when it does not say."""
    return next((milliseconds(row[0]) for row in script if row[1] == "close"), None)


def milliseconds(value: object) -> float:
    """Return a script time.

    Raises:
        ScriptError: When it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ScriptError(f"{value!r} is no time in milliseconds")
    return value


def epoch_ms(value: object) -> int | float:
    """Return a script time as epoch milliseconds."""
    return SCRIPT_EPOCH_MS + milliseconds(value)


def names(value: object) -> list[str]:
    """Return the names of a row's cell; none where it holds no list."""
    return [str(item) for item in value] if isinstance(value, list | tuple) else []


def unknown_verb(harness: Harness, row: Row) -> ScriptError:
    """Return the error of a row whose verb a harness has not."""
    return ScriptError(f"verb {row[1]!r} is not one of {harness.value}'s")
