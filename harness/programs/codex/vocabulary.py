"""The only place for the kinds of lines that codex was heard to print, recorded on the versions of its row."""

from harness.reducers.fields import Line, filled, part
from harness.reducers.kinds import joined

RECORDED = frozenset(
    [
        "account/rateLimits/updated",
        "configWarning",
        "error",
        "item/agentMessage/delta",
        "item/commandExecution/outputDelta",
        "item/completed/agentMessage",
        "item/completed/commandExecution",
        "item/completed/reasoning",
        "item/completed/userMessage",
        "item/reasoning/summaryPartAdded",
        "item/reasoning/summaryTextDelta",
        "item/started/agentMessage",
        "item/started/commandExecution",
        "item/started/reasoning",
        "item/started/userMessage",
        "remoteControl/status/changed",
        "thread/started",
        "thread/status/changed",
        "thread/tokenUsage/updated",
        "turn/completed/completed",
        "turn/completed/failed",
        "turn/started",
        "warning",
    ]
)


def kinds_of(line: Line) -> tuple[str, ...]:
    """Return the kinds that a line holds; none where it is an answer to a request."""
    method, params = filled(line, "method"), part(line, "params")
    if not method:
        # A response to a request of ours is protocol, not vocabulary.
        return ()
    status = filled(part(params, "turn"), "status") if method == "turn/completed" else ""
    return (joined(method, filled(part(params, "item"), "type"), status),)
