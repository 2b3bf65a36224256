"""The only place that writes a short script as the lines that codex would print."""

from collections.abc import Iterator, Sequence

from harness.kinds import Harness
from harness.scripts import Line, Row, epoch_ms, milliseconds, unknown_verb


def lines(rows: Sequence[Row]) -> Iterator[tuple[float, Line]]:
    """Yield the lines of a script, each with its time in milliseconds.

    Raises:
        ScriptError: For a verb that codex has not.
    """
    now = 0.0
    for row in rows:
        verb = row[1]
        now = max(now, milliseconds(row[0]))
        ids: Line = {"threadId": "th", "turnId": "tu"}
        if verb == "usage":
            last = {"inputTokens": 0, "outputTokens": row[2], "reasoningOutputTokens": row[3]}
            method, params = "thread/tokenUsage/updated", {**ids, "tokenUsage": {"last": last}}
        elif verb == "delta":
            method, params = "item/agentMessage/delta", {**ids, "itemId": row[2], "delta": "."}
        elif verb in {"start", "done"}:
            item: Line = {"type": row[3], "id": row[2], "status": "inProgress" if verb == "start" else "completed"}
            item |= {"summary": ["."]} if row[3] == "reasoning" else {}
            key = "startedAtMs" if verb == "start" else "completedAtMs"
            method = "item/started" if verb == "start" else "item/completed"
            params = {**ids, key: epoch_ms(row[0]), "item": item}
        else:
            raise unknown_verb(Harness.CODEX, row)
        yield now, {"method": method, "params": params, "emittedAtMs": epoch_ms(now)}
