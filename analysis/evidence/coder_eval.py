"""The only place that reads timed run folders: coder_eval's, in its current and its legacy layout, and our own.

A folder that holds a task document is one attempt and is not searched further, since an agent may leave a task.json
of its own among its artifacts. `task.execute.json` is a snapshot before grading and is never read. A recorded
generation is already without tool time; it is not taken out again.
"""

import hashlib
import json
import os
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import Any

from analysis.evidence.timed_run import CapUnitSource, Layout, TimedEvidence, TimedTrial
from analysis.evidence.timed_turn import Raw, amount, mapping, read_turns, rows, text, whole
from harness.caps import CapUnit
from harness.facts import CONTRACT_CAPS
from harness.kinds import Harness
from harness.run_folder import SCHEMA
from manifests.finding import Finding

DOCUMENT = "task.json"
# From this version on, coder_eval counts main-thread model calls on every harness.
MODEL_CALL_CAPS_SINCE = (0, 12, 16)
CATEGORIES = {
    "SUCCESS": "succeeded",
    "FAILURE": "failed",
    "TIMEOUT": "failed",
    "MAX_TURNS_EXHAUSTED": "failed",
    "TOOL_CALLS_EXHAUSTED": "failed",
    "TOKEN_BUDGET_EXCEEDED": "failed",
    "COST_BUDGET_EXCEEDED": "failed",
    "ERROR": "error",
    "BUILD_FAILED": "error",
    "NOT_GRADED": "ungraded",
}
# Limits of a run that bound an attempt, in the order in which a budget is spelled.
# Factors that a recorder of ours may state by itself; what another part of the document shows is read from there.
CONDITIONS = (
    "provider",
    "model_configuration",
    "prompt_digest",
    "tool_permissions",
    "network_policy",
    "container_image",
    "environment_type",
    "resources",
    "hardware",
    "retry_policy",
    "harbor_version",
    "working_directory",
)
RUN_LIMITS = (
    "max_turns",
    "task_timeout",
    "turn_timeout",
    "max_input_tokens",
    "max_output_tokens",
    "max_total_tokens",
    "max_usd",
    "stop_early",
)
# TIMING_UNREADABLE: a task document that is not JSON of the expected shape. TIMING_STATUS_UNKNOWN: a final status that
# nobody classified. TIMING_DUPLICATE: two documents claim one trial.
UNREADABLE, STATUS_UNKNOWN, DUPLICATE = "timing_unreadable", "timing_status_unknown", "timing_duplicate"


class TimedRunError(OSError):
    """A given path is not there, or cannot be opened."""


def read_timed_runs(paths: Sequence[Path]) -> TimedEvidence:
    """Read every task document below the given folders; a document may also be given itself.

    Raises:
        TimedRunError: When a given path does not exist.
    """
    trials: list[TimedTrial] = []
    findings: list[Finding] = []
    seen: dict[str, str] = {}
    for given in paths:
        if not given.exists():
            raise TimedRunError(f"{given.name} is not there")
        for path in find_documents(given):
            where = _place(path, given)
            trial, faults = read_document(path, where)
            findings.extend(faults)
            if trial is None:
                continue
            if trial.sha256 in seen:
                findings.append(Finding(code=DUPLICATE, where=where, detail="the same document was read before"))
                continue
            seen[trial.sha256] = where
            trials.append(trial)
    return TimedEvidence(trials=tuple(sorted(trials, key=lambda trial: trial.where)), findings=tuple(sorted(findings)))


def find_documents(root: Path, *, besides: Container[str] = ()) -> Iterator[Path]:
    """Yield the task documents below a folder, sorted; links to folders are not followed.

    Args:
        root: A folder, or a task document itself.
        besides: Folders that are left out: what an agent left behind in a trial of another format is no document.
    """
    if root.is_file():
        yield root
        return
    if root.as_posix() in besides:
        return
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if f"{folder}/{name}" not in besides)
        path = Path(folder, DOCUMENT)
        if DOCUMENT in files and _looks_like_a_task(path):
            names.clear()
            yield path


def _looks_like_a_task(path: Path) -> bool:
    """Tell a task document from any other task.json; one that cannot be parsed counts, so that it is reported."""
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError, OSError):
        return True
    return isinstance(found, dict) and "task_id" in found and ("iterations" in found or "turns" in found)


def _place(path: Path, root: Path) -> str:
    if path == root:
        return path.name
    return (Path(root.name) / path.relative_to(root)).as_posix()


def read_document(path: Path, where: str) -> tuple[TimedTrial | None, list[Finding]]:
    """Return the timed trial of one task document, or None, with what was found."""
    try:
        content = path.read_bytes()
        found = json.loads(content)
    except (ValueError, RecursionError, OSError) as fault:
        return None, [Finding(code=UNREADABLE, where=where, detail=type(fault).__name__)]
    if not isinstance(found, dict) or text(found, "task_id") is None:
        return None, [Finding(code=UNREADABLE, where=where, detail="not a task document")]
    trial = _trial(found, path, where=where, sha256=hashlib.sha256(content).hexdigest())
    strange = trial.final_status is not None and trial.category is None
    detail = "a final status that is not classified"
    return trial, [Finding(code=STATUS_UNKNOWN, where=where, detail=detail)] if strange else []


def _trial(document: Raw, path: Path, *, where: str, sha256: str) -> TimedTrial:
    layout = _layout(document)
    harness = text(document, "agent_type") or "unknown"
    turns = read_turns(rows(document, "turns" if "iterations" not in document else "iterations"), harness)
    attempt = _attempt(document, path)
    arm, task = text(document, "variant_id") or "default", text(document, "task_id") or ""
    status = text(document, "final_status")
    limits = mapping(mapping(mapping(document, "task_config"), "resolved"), "run_limits")
    cap_limit = whole(limits, "max_turns")
    unit, source = _cap_unit(document, harness)
    walls = [turn.duration_ms for turn in turns if turn.duration_ms is not None]
    duration = _duration_ms(document)
    outside = {key: amount(document, key) for key in ("setup_ms", "grading_ms", "retry_wait_ms", "probe_ms")}
    inside = [part for turn in turns for part in (turn.head_ms, turn.generation_ms, turn.tool_union_ms, turn.tail_ms)]
    held = sum(value for value in (*outside.values(), *inside) if value is not None)
    return TimedTrial(
        trial_id=f"{arm}/{task}/{'-' if attempt is None else f'{attempt:02d}'}",
        where=where,
        layout=layout,
        arm=arm,
        harness=harness,
        task=task,
        attempt=attempt,
        model=text(document, "model_used"),
        started_at=text(document, "started_at"),
        duration_ms=duration,
        setup_ms=outside["setup_ms"],
        grading_ms=outside["grading_ms"],
        retry_wait_ms=outside["retry_wait_ms"],
        probe_ms=outside["probe_ms"],
        agent_wall_ms=sum(walls) if walls else None,
        unaccounted_ms=None if duration is None else duration - held,
        final_status=status,
        category=CATEGORIES.get(status or ""),
        time_limited=status == "TIMEOUT"
        or text(mapping(document, "error_details"), "error_category") == "agent_timeout",
        capped=document.get("max_turns_exhausted") is True or any(turn.max_turns_exhausted for turn in turns),
        cap_unit=unit if cap_limit is not None else None,
        cap_unit_source=source,
        cap_limit=cap_limit,
        score=amount(document, "weighted_score"),
        **_asked(document),
        jobs=whole(mapping(document, "concurrency"), "jobs"),
        at_once=whole(mapping(document, "concurrency"), "at_once"),
        limits=tuple(_limits(limits)),
        simulated=document.get("simulated_model") is True,
        sha256=sha256,
        turns=turns,
    )


def _asked(document: Raw) -> dict[str, Any]:
    """Return what the recorder says of the request; coder_eval says nothing of it."""
    ignored = document.get("ignored_fields")
    return {
        "ignored_fields": tuple(sorted(filter(is_name, ignored))) if isinstance(ignored, list) else None,
        "max_output_tokens": whole(document, "max_output_tokens"),
        "output_limit_standing": text(document, "output_limit_standing"),
        "conditions": tuple(_conditions(mapping(document, "conditions"))),
        "task_digest": text(document, "task_digest"),
        "harness_version": text(document, "harness_version"),
        "cost_basis": text(document, "cost_basis"),
    }


def _conditions(found: Raw) -> Iterator[tuple[str, str]]:
    for factor in CONDITIONS:
        value = text(found, factor)
        if value is not None:
            yield factor, value


def is_name(value: object) -> bool:
    """Tell the name of a field from anything else that a document may hold."""
    return isinstance(value, str) and value.isidentifier() and value.isascii()


def _limits(limits: Raw) -> Iterator[tuple[str, str]]:
    for name in RUN_LIMITS:
        value = limits.get(name)
        if isinstance(value, int | float):
            yield name, str(value).lower()


def _layout(document: Raw) -> Layout:
    if text(document, "schema") == SCHEMA:
        return Layout.OURS
    return Layout.CURRENT if "iterations" in document else Layout.LEGACY


def _duration_ms(document: Raw) -> float | None:
    """Return the attempt's wall clock; the recorder's default 0 means that nobody timed it."""
    seconds = amount(document, "duration_seconds")
    return round(seconds * 1e6) / 1e3 if seconds else None


def _attempt(document: Raw, path: Path) -> int | None:
    recorded = whole(document, "replicate_index")
    if recorded is not None:
        return recorded
    name = path.parent.name
    return int(name) if name.isascii() and name.isdigit() else None


def _cap_unit(document: Raw, harness: str) -> tuple[str | None, CapUnitSource]:
    recorded = text(mapping(document, "cap"), "unit")
    if recorded is not None:
        return recorded, CapUnitSource.RECORDED
    version = _version(text(mapping(document, "environment_info"), "coder_eval") or "")
    if version >= MODEL_CALL_CAPS_SINCE:
        return CapUnit.MODEL_CALLS.value, CapUnitSource.VERSION
    known = {kind.value: CONTRACT_CAPS[kind].unit.value for kind in Harness}
    return known.get(harness), CapUnitSource.ASSUMED


def _version(label: str) -> tuple[int, ...]:
    numbers = label.split(".")[:3]
    return tuple(int(number) for number in numbers) if all(n.isascii() and n.isdigit() for n in numbers) else ()
