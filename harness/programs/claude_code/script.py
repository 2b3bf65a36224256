"""The only place that writes a short script as the lines that claude-code would print."""

from collections.abc import Iterator, Sequence

from harness.kinds import Harness
from harness.scripts import Line, Row, milliseconds, names, unknown_verb


def lines(rows: Sequence[Row]) -> Iterator[tuple[float, Line]]:
    """Yield the lines of a script, each with its time in milliseconds.

    Raises:
        ScriptError: For a verb that claude-code has not.
    """
    for row in rows:
        verb, parent = row[1], (row[4] if len(row) > 4 else None)
        if verb == "message_start":
            event: Line = {"type": "message_start", "message": {"id": row[2]}}
            line: Line = {"type": "stream_event", "event": event}
        elif verb == "delta":
            event = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "."}}
            line = {"type": "stream_event", "event": event}
        elif verb == "assistant":
            tools = [{"type": "tool_use", "id": call_id, "name": "Bash", "input": {}} for call_id in names(row[3])]
            line = {"type": "assistant", "message": {"id": row[2], "content": tools or [{"type": "text", "text": "."}]}}
        elif verb == "results":
            content = [{"type": "tool_result", "tool_use_id": call_id, "content": "."} for call_id in names(row[2])]
            line = {"type": "user", "message": {"content": content}}
        else:
            raise unknown_verb(Harness.CLAUDE_CODE, row)
        yield milliseconds(row[0]), {**line, "parent_tool_use_id": parent}
