"""The only place for the kinds of lines that pi was heard to print, recorded on the versions of its row."""

from harness.reducers.fields import Line, filled, part
from harness.reducers.kinds import joined

RECORDED = frozenset(
    [
        "agent_end",
        "agent_settled",
        "agent_start",
        "auto_retry_end",
        "auto_retry_start",
        "entry_appended",
        "message_end/assistant",
        "message_end/system",
        "message_end/toolResult",
        "message_end/user",
        "message_start/assistant",
        "message_start/system",
        "message_start/toolResult",
        "message_start/user",
        "message_update/text_delta",
        "message_update/text_end",
        "message_update/text_start",
        "message_update/thinking_delta",
        "message_update/thinking_end",
        "message_update/thinking_start",
        "message_update/toolcall_delta",
        "message_update/toolcall_end",
        "message_update/toolcall_start",
        "session",
        "tool_execution_end",
        "tool_execution_start",
        "tool_execution_update",
        "turn_end",
        "turn_start",
    ]
)


def kinds_of(line: Line) -> tuple[str, ...]:
    """Return the kinds that a line holds; none where it is an answer to a request."""
    kind = filled(line, "type")
    role = filled(part(line, "message"), "role") if kind.startswith("message_") else ""
    update = filled(part(line, "assistantMessageEvent"), "type")
    return (joined(kind, update or role),)
