"""The only place for the kinds of lines that opencode was heard to print, recorded on the versions of its row."""

from harness.reducers.fields import Line, filled, part
from harness.reducers.kinds import joined

RECORDED = frozenset(
    [
        "error",
        "step_finish/stop",
        "step_finish/tool-calls",
        "step_start",
        "text",
        "tool_use/completed",
        "tool_use/error",
    ]
)


def kinds_of(line: Line) -> tuple[str, ...]:
    """Return the kinds that a line holds; none where it is an answer to a request."""
    piece = part(line, "part")
    return (joined(filled(line, "type"), filled(part(piece, "state"), "status"), filled(piece, "reason")),)
