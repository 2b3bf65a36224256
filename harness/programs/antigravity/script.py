"""The only place that writes a short script as the lines that antigravity would print."""

from collections.abc import Iterator, Sequence

from harness.scripts import Line, Row, milliseconds, names


def lines(rows: Sequence[Row]) -> Iterator[tuple[float, Line]]:
    """Yield the lines of a script, each with its time in milliseconds.

    Raises:
        ScriptError: For a verb that antigravity has not.
    """
    written = 0
    for index, (t, kind, status, source, calls, rise) in enumerate(rows):
        written += int(milliseconds(rise))
        speaking = source == "MODEL" and status == "ACTIVE" and kind != "TOOL_CALL"
        yield (
            milliseconds(t),
            {
                "step_index": index,
                "trajectory_id": "main",
                "depth": 0,
                "type": kind,
                "status": status,
                "source": source,
                "content_delta": "." if speaking else "",
                "tool_calls": [{"id": call_id, "name": "run_command", "args": {}} for call_id in names(calls)],
                "_cumulative": {"prompt": 0, "cached": 0, "candidates": written, "thoughts": 0},
            },
        )
