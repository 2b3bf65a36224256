"""The only place for what `evenhand run --json` prints: every planned attempt, its place and what became of it."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from evenhand.experiment import Experiment, Order
from harness.experiment.running import Outcome, State
from harness.run_folder import DOCUMENT, attempt_folder
from harness.tasks.run_log import attempt_name

SCHEMA = "evenhand-run-1"


def result_document(
    experiment: Experiment, order: Order, outcomes: Sequence[Outcome], *, out: Path, jobs: int
) -> dict[str, object]:
    """Return the result of a run as a JSON object; durations in milliseconds, null where not measured."""
    return {
        "schema": SCHEMA,
        "study": experiment.study,
        "simulated": experiment.simulated,
        "order": {"kind": order.kind, "seed": order.seed},
        "jobs": jobs,
        "counts": dict(sorted(Counter(outcome.state.value for outcome in outcomes).items())),
        "attempts": [_row(outcome, out) for outcome in outcomes],
    }


def _row(outcome: Outcome, out: Path) -> dict[str, object]:
    planned = outcome.planned
    status, seconds, concurrency = _known(outcome, out)
    return {
        "position": planned.position,
        "place": attempt_name(planned.arm, planned.task_id, attempt=planned.attempt),
        "arm": planned.arm,
        "task": planned.task_id,
        "attempt": planned.attempt,
        "harness": planned.harness.value,
        "state": outcome.state.value,
        "status": status,
        "duration_ms": None if seconds is None else round(seconds * 1000, 3),
        "concurrency": concurrency,
    }


def _known(outcome: Outcome, out: Path) -> tuple[str | None, float | None, object]:
    """Return status, seconds and concurrency of an attempt whose document stands; None for each of another."""
    planned = outcome.planned
    if outcome.state not in {State.MADE, State.BEFORE}:
        return None, None, None
    path = attempt_folder(out, planned.arm, planned.task_id, attempt=planned.attempt) / DOCUMENT
    try:
        found: object = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None, None, None
    if not isinstance(found, dict):
        return None, None, None
    status, seconds = found.get("final_status"), found.get("duration_seconds")
    took = float(seconds) if isinstance(seconds, int | float) and not isinstance(seconds, bool) else None
    return status if isinstance(status, str) else None, took, found.get("concurrency")
