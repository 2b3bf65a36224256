"""The only place for the kinds of lines that antigravity was heard to print, recorded on the versions of its row."""

from harness.reducers.fields import Line, filled
from harness.reducers.kinds import joined

RECORDED = frozenset(
    [
        "FINISH/SYSTEM",
        "TEXT_RESPONSE/MODEL",
        "TEXT_RESPONSE/SYSTEM",
        "TEXT_RESPONSE/USER",
        "THINKING/MODEL",
        "TOOL_CALL/MODEL",
        "UNKNOWN/SYSTEM",
    ]
)


def kinds_of(line: Line) -> tuple[str, ...]:
    """Return the kinds that a line holds; none where it is an answer to a request."""
    return (joined(filled(line, "type"), filled(line, "source")),)
