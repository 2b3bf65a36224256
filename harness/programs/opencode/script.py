"""The only place that writes a short script as the lines that opencode would print."""

from collections.abc import Iterator, Sequence

from harness.kinds import Harness
from harness.scripts import Line, Row, epoch_ms, milliseconds, unknown_verb


def lines(rows: Sequence[Row]) -> Iterator[tuple[float, Line]]:
    """Yield the lines of a script, each with its time in milliseconds.

    Raises:
        ScriptError: For a verb that opencode has not.
    """
    for row in rows:
        verb = row[1]
        if verb in {"step_start", "step_finish"}:
            part: Line = {"messageID": row[2], "type": str(verb).replace("_", "-")}
        elif verb == "text":
            part = {"messageID": row[2], "text": ".", "time": {"start": epoch_ms(row[3]), "end": epoch_ms(row[0])}}
        elif verb == "tool":
            times = {
                key: epoch_ms(value) for key, value in zip(("start", "end"), row[4:6], strict=True) if value is not None
            }
            part = {"callID": row[2], "tool": "bash", "state": {"status": row[3], "time": times}}
        else:
            raise unknown_verb(Harness.OPENCODE, row)
        kind = "tool_use" if verb == "tool" else verb
        yield milliseconds(row[0]), {"type": kind, "timestamp": epoch_ms(row[0]), "sessionID": "ses", "part": part}
