"""The only place that writes a short script as the lines that pi would print."""

from collections.abc import Iterator, Sequence

from harness.kinds import Harness
from harness.scripts import Line, Row, milliseconds, unknown_verb


def lines(rows: Sequence[Row]) -> Iterator[tuple[float, Line]]:
    """Yield the lines of a script, each with its time in milliseconds.

    Raises:
        ScriptError: For a verb that pi has not.
    """
    replies = 0
    for row in rows:
        verb = row[1]
        if verb == "turn_start":
            line: Line = {"type": "turn_start"}
        elif verb == "tool_start":
            line = {"type": "tool_execution_start", "toolCallId": row[2], "toolName": "bash", "args": {}}
        elif verb == "tool_end":
            line = {"type": "tool_execution_end", "toolCallId": row[2], "toolName": "bash", "isError": False}
        elif verb == "delta":
            line = {"type": "message_update", "assistantMessageEvent": {"type": "text_delta", "delta": "."}}
        elif verb == "turn_end":
            replies += 1
            line = {"type": "turn_end", "message": {"role": "assistant", "responseId": f"r{replies}"}}
        else:
            raise unknown_verb(Harness.PI, row)
        yield milliseconds(row[0]), line
