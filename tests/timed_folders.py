"""Generates timed run folders: our own through the real reducers, and coder_eval's in its current and legacy layouts.

The two foreign layouts are written from the same turns as ours, so a reader must find the same times in all three.
"""

import copy
import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from harness.clock import Stamp, stamp_of_ms
from harness.facts import DEFAULT_CAPS
from harness.kinds import EndStatus, Harness
from harness.record import TurnRecord
from harness.replay import TurnFrame, replay
from harness.run_folder import task_document, write_task
from harness.scripts import SCRIPT_ANCHOR, Row, script_lines
from harness.task import TaskRecord

OURS_ONLY_TASK = {"schema", "replicate_index", "simulated_model", "retry_wait_ms", "probe_ms", "agent_wall_ms"}
OURS_ONLY_TASK |= {"unaccounted_ms", "cap", "usage_semantics"}
OURS_ONLY_TURN = {"status", "ended_at", "turn_to_first_delta_ms", "orphan_wait_ms", "window_basis", "tool_basis"}
OURS_ONLY_TURN |= {"quality", "tool_calls_resolved", "provider_retries"}
SKEW = timedelta(hours=9)
Document = dict[str, Any]


def steps(harness: Harness, *, shift: float = 0.0, last: float = 5000.0) -> list[Row]:
    """Return a script with one tool in its first generation and a second generation that closes at `last`."""
    a, b, c, d, e = (1200.0 + shift, 1500.0 + shift, 1900.0 + shift, 2400.0 + shift, last)
    scripts: dict[Harness, list[Row]] = {
        Harness.PI: [
            [a, "turn_start"],
            [b - 100, "delta"],
            [b, "tool_start", "t"],
            [c, "tool_end", "t"],
            [d, "turn_end"],
            [e - 50, "delta"],
            [e, "turn_end"],
        ],
        Harness.OPENCODE: [
            [a, "step_start", "m1"],
            [c, "tool", "t", "completed", b, c],
            [d, "step_finish", "m1"],
            [d + 90, "step_start", "m2"],
            [e, "step_finish", "m2"],
        ],
        Harness.CODEX: [
            [a, "start", "r", "reasoning"],
            [b, "done", "r", "reasoning"],
            [b, "start", "t", "commandExecution"],
            [c, "done", "t", "commandExecution"],
            [0, "usage", 100, 80],
            [d, "start", "m", "agentMessage"],
            [e, "done", "m", "agentMessage"],
            [0, "usage", 30, 0],
        ],
        Harness.ANTIGRAVITY: [
            [a, "THINKING", "ACTIVE", "MODEL", [], 0],
            [b, "TOOL_CALL", "ACTIVE", "MODEL", ["t"], 0],
            [c, "TOOL_CALL", "DONE", "MODEL", ["t"], 0],
            [d, "THINKING", "DONE", "MODEL", [], 20],
            [e, "TEXT_RESPONSE", "DONE", "MODEL", [], 30],
        ],
        Harness.CLAUDE_CODE: [
            [a, "message_start", "m1"],
            [b, "assistant", "m1", ["t"]],
            [c, "results", ["t"]],
            [d, "message_start", "m2"],
            [e, "assistant", "m2", []],
        ],
    }
    return scripts[harness]


def turn(
    harness: Harness,
    *,
    rows: Sequence[Row] | None = None,
    end_ms: float = 6000.0,
    status: EndStatus = EndStatus.COMPLETED,
    iteration: int = 1,
) -> TurnRecord:
    """Return one turn through the real reducer and collector."""
    lines = script_lines(harness, steps(harness) if rows is None else rows)
    frame = TurnFrame(started=Stamp(us=0), ended=stamp_of_ms(end_ms))
    return replay(harness, lines, frame, status=status, turn=iteration)


def task(harness: Harness, turns: Iterable[TurnRecord], **fields: Any) -> TaskRecord:  # noqa: ANN401  # a builder takes what a test names
    """Return an attempt around some turns; whatever is not named gets an ordinary value."""
    made = tuple(turns)
    inside = sum(one.duration_us or 0 for one in made)
    values: dict[str, Any] = {
        "task_id": "rename-files",
        "arm": f"{harness.value}-arm",
        "harness": harness,
        "model": "model-x",
        "started_wall_us": SCRIPT_ANCHOR.wall_us,
        "duration_us": inside + 700_000,
        "setup_us": 300_000,
        "grading_us": 350_000,
        "final_status": "SUCCESS",
        "score": 1.0,
        "cap": DEFAULT_CAPS[harness],
        "cap_limit": 40,
        "turns": made,
        "simulated": True,
    }
    return TaskRecord(**{**values, **fields})


def write_ours(run: Path, harness: Harness, **fields: Any) -> Path:  # noqa: ANN401  # a builder takes what a test names
    """Write one ordinary attempt of ours and return its document."""
    return write_task(run, task(harness, fields.pop("turns", None) or [turn(harness)], **fields))


def current(record: TaskRecord, *, version: str = "0.12.16") -> Document:
    """Return the attempt as coder_eval writes it today: naive local times, its own keys, no stamp of the turn start."""
    document = copy.deepcopy(task_document(record))
    for key in OURS_ONLY_TASK:
        del document[key]
    document["environment_info"] = {"coder_eval": version}
    document["started_at"], document["completed_at"] = map(_naive, (document["started_at"], document["completed_at"]))
    turns = document["iterations"]
    assert isinstance(turns, list)
    for one in turns:
        # coder_eval stamps a turn when its record is built.
        one["timestamp"] = one["ended_at"]
        for key in OURS_ONLY_TURN:
            del one[key]
        one["timestamp"] = _naive(one["timestamp"])
        one |= {"user_input": "", "agent_output": ""}
        for message in one["messages"]:
            message.pop("raw_window_ms", None)
            message.pop("first_delta_latency_ms", None)
            message |= {key: _naive(message[key]) for key in ("started_at", "completed_at") if key in message}
        for command in one["commands"]:
            command.pop("status")
            for key in ("parent_tool_use_id", "rollout_started_at", "rollout_completed_at"):
                del command[key]
            stamps = ("timestamp", "generation_completed_at", "execution_started_at", "execution_completed_at")
            command |= {key: _naive(command[key]) for key in stamps}
    return document


def legacy(record: TaskRecord) -> Document:
    """Return the attempt as an old coder_eval wrote it: `turns`, windows without ends, tokens before the split."""
    document = current(record)
    document["turns"] = document.pop("iterations")
    for key in ("setup_ms", "grading_ms", "environment_info"):
        del document[key]
    for one in document["turns"]:
        for key in ("harness_startup_ms", "harness_teardown_ms", "tool_union_ms"):
            del one[key]
        usage = one["token_usage"]
        if usage is not None:
            usage["input_tokens"] = usage.pop("uncached_input_tokens")
    return document


def write_current(run: Path, document: Document, *, attempt: int = 0) -> Path:
    """Write a document where coder_eval puts it, with the files it puts beside it."""
    path = run.joinpath(document["variant_id"], document["task_id"], f"{attempt:02d}", "task.json")
    _write(path, document)
    _write(path.with_name("task.execute.json"), {**document, "final_status": "NOT_GRADED"})
    _write(path.parent / "artifacts" / "task.json", {"task_id": "left by the agent", "iterations": []})
    _write(run / "run.json", {"tasks": []})
    return path


def write_legacy(run: Path, document: Document) -> Path:
    """Write a document in the old folder layout, without a folder for the attempt."""
    path = run.joinpath(document["variant_id"], document["task_id"], "task.json")
    _write(path, document)
    return path


def _write(path: Path, document: Document) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), encoding="utf-8")


def _naive(value: object) -> str | None:
    """Return a time as the recorder's local one, without its zone."""
    if not isinstance(value, str):
        return None
    return (datetime.fromisoformat(value).replace(tzinfo=None) + SKEW).isoformat()
