"""The only place that keeps a run folder one experiment's own: what was begun is taken up again only unchanged."""

import json
import os
from pathlib import Path

from evenhand.experiment import Experiment, Order
from harness.experiment.running import Planned
from manifests.digest import digest_value

SCHEMA = "evenhand-experiment-1"
NAME = "experiment.json"


class RunFolderTakenError(Exception):
    """The run folder holds another experiment, or this one as it was before it was changed."""


def guard_document(experiment: Experiment, order: Order) -> dict[str, object]:
    """Return what must be the same whenever the run is taken up: all but the endpoints and the number of jobs."""
    tasks = zip(experiment.tasks, experiment.task_digests, strict=True)
    return {
        "schema": SCHEMA,
        "study": experiment.study,
        "simulated": experiment.simulated,
        "attempts": experiment.attempts,
        "prices": None if experiment.prices is None else digest_value([repr(experiment.prices)]),
        "arms": [arm.pinned() for arm in experiment.arms],
        "tasks": {task.task_id: digest for task, digest in tasks},
        "order": {
            "kind": order.kind,
            "seed": order.seed,
            "sha256": digest_value([_row(planned) for planned in order.planned]),
        },
    }


def guard(out: Path, experiment: Experiment, order: Order) -> None:
    """Write what the run folder holds, or make sure that it holds just that.

    Raises:
        RunFolderTakenError: When it holds something else, with the names of what differs.
        OSError: When it cannot be written.
    """
    wanted = guard_document(experiment, order)
    out.mkdir(parents=True, exist_ok=True)
    path = out / NAME
    partial = path.with_name(f".{NAME}.{os.getpid()}.partial")
    try:
        partial.write_text(json.dumps(wanted, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        os.link(partial, path)
    except FileExistsError:
        _compare(path, wanted)
    finally:
        partial.unlink(missing_ok=True)


def _compare(path: Path, wanted: dict[str, object]) -> None:
    try:
        found: object = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as fault:
        raise RunFolderTakenError(f"{NAME}: found no JSON, expected what this run was begun with") from fault
    if not isinstance(found, dict):
        raise RunFolderTakenError(f"{NAME}: found no JSON object, expected what this run was begun with")
    other = sorted(key for key in {*found, *wanted} if found.get(key) != wanted.get(key))
    if other:
        raise RunFolderTakenError(
            f"--out {path.parent.name}: the run was begun with other {', '.join(other)} ({NAME}); "
            "undo the change, or give a new folder"
        )


def _row(planned: Planned) -> list[object]:
    return [planned.position, planned.arm, planned.task_id, planned.attempt]
