"""The only place for the kinds of lines that claude-code was heard to print, recorded on the versions of its row."""

from harness.reducers.fields import Line, filled, part, parts
from harness.reducers.kinds import joined

RECORDED = frozenset(
    [
        "assistant/text",
        "assistant/thinking",
        "assistant/tool_use",
        "result/error_max_turns",
        "result/success",
        "stream_event/content_block_delta/input_json_delta",
        "stream_event/content_block_delta/signature_delta",
        "stream_event/content_block_delta/text_delta",
        "stream_event/content_block_delta/thinking_delta",
        "stream_event/content_block_start/text",
        "stream_event/content_block_start/thinking",
        "stream_event/content_block_start/tool_use",
        "stream_event/content_block_stop",
        "stream_event/message_delta",
        "stream_event/message_start",
        "stream_event/message_stop",
        "system/api_retry",
        "system/init",
        "system/status",
        "system/task_notification",
        "system/task_started",
        "system/thinking_tokens",
        "user/text",
        "user/tool_result",
    ]
)


def kinds_of(line: Line) -> tuple[str, ...]:
    """Return the kinds that a line holds; none where it is an answer to a request."""
    kind = filled(line, "type")
    if kind in {"system", "result"}:
        return (joined(kind, filled(line, "subtype")),)
    if kind == "stream_event":
        event = part(line, "event")
        inner = filled(part(event, "delta"), "type") or filled(part(event, "content_block"), "type")
        return (joined(kind, filled(event, "type"), inner),)
    blocks = parts(part(line, "message"), "content")
    return tuple(joined(kind, filled(block, "type")) for block in blocks) or (kind,)
