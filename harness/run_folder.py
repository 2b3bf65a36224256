"""The only place that writes a run folder: `<run>/<arm>/<task>/<attempt>/task.json`, one document per attempt.

The keys are coder_eval's where they mean the same, with null for what was not measured; ours stand beside them. A
document holds names, ids, tokens and times, and no word of a prompt, an answer, an argument or a result. Wall times
are UTC and aware.
"""

import json
import os
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path, PurePosixPath

from harness.clock import US_PER_MS, Anchor, Stamp
from harness.facts import USAGE_SEMANTICS
from harness.kinds import EndStatus, ToolStatus
from harness.record import Ending, Exact, Message, ToolCall, TurnRecord
from harness.redaction import redacted
from harness.task import TaskRecord
from harness.tokens import Reconciliation, TokenBuckets

SCHEMA = "evenhand-harness-task-1"
DOCUMENT = "task.json"
STATUS_WORDS = {ToolStatus.OK: "success", ToolStatus.UNRESOLVED: "unknown"}
CRASH_WORDS = {EndStatus.CRASHED: "crashed", EndStatus.TIMEOUT: "timed out"}
DEFAULT_LIMIT = "provider default, not verified"
REQUESTED_LIMIT = "requested"
US_PER_S = 1_000_000

Document = dict[str, object]


class RunFolderError(ValueError):
    """A task cannot be written where it asks to be."""


def write_task(run: Path, task: TaskRecord, *, secrets: Iterable[str] = ()) -> Path:
    """Write one attempt below a run folder and return the file.

    Args:
        run: The run folder.
        task: The attempt.
        secrets: Credentials that are taken out of every text.

    Raises:
        RunFolderError: When the arm or task name leads out of the run folder, or the attempt was written before.
        OSError: When it cannot be written.
    """
    path = attempt_folder(run, task.arm, task.task_id, attempt=task.attempt) / DOCUMENT
    path.parent.mkdir(parents=True, exist_ok=True)
    document = redacted(task_document(task), secrets)
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        # A link appears whole or not at all, and never over a document that is there.
        os.link(partial, path)
    except FileExistsError as fault:
        raise RunFolderError(f"attempt {task.attempt} of {task.task_id!r} was written before") from fault
    finally:
        partial.unlink(missing_ok=True)
    return path


def attempt_folder(run: Path, arm: str, task_id: str, *, attempt: int) -> Path:
    """Return the folder of an attempt, whether it is there or not.

    Raises:
        RunFolderError: When the arm or task name leads out of the run folder.
    """
    names = PurePosixPath(arm, task_id)
    if names.is_absolute() or ".." in names.parts or not arm or not task_id:
        raise RunFolderError(f"arm {arm!r} and task {task_id!r} name no folder below the run")
    return run.joinpath(*names.parts, f"{attempt:02d}")


def task_document(task: TaskRecord) -> Document:
    """Return an attempt as a JSON object."""
    start = Anchor(wall_us=task.started_wall_us)
    return {
        "schema": SCHEMA,
        "task_id": task.task_id,
        "variant_id": task.arm,
        "agent_type": task.harness.value,
        "replicate_index": task.attempt,
        "model_used": task.model,
        "simulated_model": task.simulated,
        "started_at": _wall(start, Stamp(us=0)),
        "completed_at": None if task.duration_us is None else _wall(start, Stamp(us=task.duration_us)),
        "duration_seconds": _s(task.duration_us),
        "setup_ms": _ms(task.setup_us),
        "grading_ms": _ms(task.grading_us),
        "retry_wait_ms": _ms(task.retry_wait_us),
        "probe_ms": _ms(task.probe_us),
        "agent_wall_ms": _ms(task.agent_wall_us()),
        "unaccounted_ms": _ms(task.unaccounted_us()),
        "final_status": task.final_status,
        "error_category": task.category,
        "max_turns_exhausted": task.exhausted(),
        "weighted_score": task.score,
        "iteration_count": len({turn.iteration for turn in task.turns}),
        "usage_semantics": asdict(USAGE_SEMANTICS[task.harness]),
        "ignored_fields": list(task.ignored),
        "findings": list(task.findings),
        "early_stop": None if task.early_stop is None else asdict(task.early_stop),
        "max_output_tokens": task.output_limit,
        "output_limit_standing": DEFAULT_LIMIT if task.output_limit is None else REQUESTED_LIMIT,
        "concurrency": None if task.concurrency is None else asdict(task.concurrency),
        "cap": None if task.cap is None else {"unit": task.cap.unit.value, "rule": task.cap.rule.value},
        "task_config": {"resolved": {"run_limits": _limits(task)}},
        "task_digest": task.task_digest,
        "harness_version": task.harness_version,
        "cost_basis": None if task.cost_basis is None else task.cost_basis.value,
        "conditions": dict(task.conditions),
        "iterations": [turn_document(turn) for turn in task.turns],
    }


def _limits(task: TaskRecord) -> Document:
    """Return the limits by coder_eval's names; null is no limit, and a limit that nobody states is not there."""
    if task.limits is None:
        return {"max_turns": task.cap_limit}
    return {name.removesuffix("_s"): value for name, value in asdict(task.limits).items()}


def turn_document(turn: TurnRecord) -> Document:
    """Return a turn as a JSON object."""
    anchor, summary = turn.anchor, turn.summary
    return {
        "iteration": turn.iteration,
        "status": None if turn.status is None else turn.status.value,
        "timestamp": _wall(anchor, turn.started),
        "ended_at": _wall(anchor, turn.ended),
        "duration_seconds": _s(turn.duration_us),
        "harness_startup_ms": _ms(turn.head_us),
        "harness_teardown_ms": _ms(turn.tail_us),
        "tool_union_ms": _ms(turn.tool_union_us),
        "turn_to_first_delta_ms": _ms(turn.turn_to_first_delta_us()),
        "orphan_wait_ms": _ms(turn.orphan_wait_us),
        "window_basis": None if turn.window_basis is None else turn.window_basis.value,
        "tool_basis": None if turn.tool_basis is None else turn.tool_basis.value,
        "quality": sorted(quality.value for quality in turn.quality),
        "model_used": summary.model,
        "session_id": summary.session_id,
        "assistant_turn_count": len(turn.messages),
        "num_turns": summary.model_calls,
        "tool_calls_resolved": summary.tool_calls,
        **_ending(turn.ending),
        "provider_retries": summary.provider_retries,
        "token_usage": _usage(summary.usage, summary.cost_usd),
        "max_turns_exhausted": turn.status is EndStatus.MAX_TURNS_EXHAUSTED,
        "crashed": turn.status in {EndStatus.CRASHED, EndStatus.TIMEOUT},
        "crash_reason": None if turn.status is None else CRASH_WORDS.get(turn.status),
        "messages": [_message(anchor, message) for message in turn.messages] + _rest(turn.reconciliation),
        "commands": [_command(anchor, call) for call in turn.calls],
    }


def _ending(ending: Ending | None) -> Document:
    known = ending if ending is not None else Ending()
    return {
        "exit_code": known.exit_code,
        "timeout_overshoot_ms": _ms(known.overshoot_us),
        "swept_processes": known.swept,
        "skipped_lines": None if ending is None else known.skipped,
        "stderr_bytes": None if ending is None else known.stderr_bytes,
        "background_given_up": list(known.given_up),
    }


def _message(anchor: Anchor, message: Message) -> Document:
    window = message.window
    return {
        "role": "assistant",
        "started_at": None if window is None else _wall(anchor, window.start),
        "completed_at": None if window is None else _wall(anchor, window.close),
        "generation_duration_ms": _ms(message.generation_us),
        "raw_window_ms": _ms(message.raw_us),
        "first_delta_latency_ms": _ms(message.first_delta_us),
        "message_id": message.message_id,
        "parent_tool_use_id": message.parent,
        "tool_use_ids": list(message.tool_ids),
        "stop_reason": message.stop_reason,
        **_tokens(message.tokens),
    }


def _rest(rest: Reconciliation | None) -> list[Document]:
    return [] if rest is None else [{"role": "reconciliation", **_tokens(rest.difference)}]


def _tokens(tokens: TokenBuckets | None) -> Document:
    known = TokenBuckets() if tokens is None else tokens
    return {
        "input_tokens": known.uncached_input,
        "output_tokens": known.output,
        "cache_creation_tokens": known.cache_write,
        "cache_read_tokens": known.cache_read,
        "reasoning_tokens": known.reasoning,
    }


def _usage(usage: TokenBuckets | None, cost_usd: float | None) -> Document | None:
    if usage is None and cost_usd is None:
        return None
    known = TokenBuckets() if usage is None else usage
    return {
        "uncached_input_tokens": known.uncached_input,
        "cache_creation_input_tokens": known.cache_write,
        "cache_read_input_tokens": known.cache_read,
        "output_tokens": known.output,
        "total_cost_usd": cost_usd,
    }


def _command(anchor: Anchor, call: ToolCall) -> Document:
    return {
        "tool_name": call.name,
        "tool_id": call.call_id,
        "sequence_number": call.sequence,
        "timestamp": _wall(anchor, call.started if call.started is not None else call.requested),
        "generation_completed_at": _wall(anchor, call.requested),
        "execution_started_at": _wall(anchor, call.started),
        "execution_completed_at": _wall(anchor, call.completed),
        "duration_ms": _ms(call.duration_us),
        "result_status": STATUS_WORDS.get(call.status, "error"),
        "status": call.status.value,
        "parent_tool_use_id": call.parent,
        "rollout_started_at": None if call.rollout is None else _wall(anchor, call.rollout.start),
        "rollout_completed_at": None if call.rollout is None else _wall(anchor, call.rollout.end),
    }


def _wall(anchor: Anchor, stamp: Stamp | None) -> str | None:
    return None if stamp is None else anchor.wall(stamp).isoformat(timespec="microseconds")


def _ms(us: Exact | None) -> float | None:
    return None if us is None else float(us) / US_PER_MS


def _s(us: int | None) -> float | None:
    return None if us is None else us / US_PER_S
