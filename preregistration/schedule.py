"""The only place for the run order: which trial is started when, and whether the recorded starts kept to it.

The order is derived from the plan's seed by SHA-256, not drawn from a generator, so that anybody can recompute it with
any tool and any version: to shuffle is to sort by the digest of (seed, purpose, round, name).
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from manifests.digest import digest_value
from manifests.finding import Finding
from manifests.manifest import Manifest
from preregistration.plan import Plan, plan_digest

SCHEMA = "evenhand-schedule-1"


class ScheduleError(Exception):
    """The plan asks for no order that can be written, or names what the manifest does not have.

    Attributes:
        lines: What is wrong, one line each.
    """

    def __init__(self, *lines: str) -> None:
        self.lines = lines
        super().__init__("\n".join(lines))


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One trial that is to be started.

    Attributes:
        position: 1, 2, ... in start order.
        round: 1, 2, ...: every task is attempted once in each arm before the next round begins.
        task: Task name.
        arm: Arm name.
        place: 1 for the arm that goes first in its block of adjacent trials, 2 for the next.
    """

    position: int
    round: int
    task: str
    arm: str
    place: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A run order and what it was made from."""

    study: str
    plan_sha256: str
    manifest_sha256: str
    seed: int
    arms: tuple[str, ...]
    slots: tuple[Slot, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A trial that was started.

    Attributes:
        task: Task name.
        arm: Arm name.
        started_at: Aware instant; None when the evidence does not say.
    """

    task: str
    arm: str
    started_at: datetime | None


def schedule_trials(plan: Plan, manifest: Manifest) -> Schedule:
    """Return the interleaved, randomised order of a plan.

    In each round the tasks come in a fresh random order and the trials of a task are adjacent. Which arm goes first is
    balanced over the tasks of a round, and over the attempts at a task: with two arms a task that is attempted an even
    number of times is started by each arm equally often.

    Raises:
        ScheduleError: When the plan's rule is not interleaved, or it excludes a task that the manifest does not have.
    """
    arms = tuple(arm.name for arm in manifest.arms)
    return Schedule(
        study=plan.study,
        plan_sha256=plan_digest(plan),
        manifest_sha256=plan.manifest_digest,
        seed=plan.seed,
        arms=arms,
        slots=interleaved_slots(_tasks(plan, manifest), arms, attempts=plan.attempts, seed=plan.seed),
    )


def interleaved_slots(tasks: Sequence[str], arms: Sequence[str], *, attempts: int, seed: int) -> tuple[Slot, ...]:
    """Return the order of every task's attempts in every arm, by the rule of `schedule_trials`.

    Args:
        tasks: Task names, sorted.
        arms: Arm names; their order counts.
        attempts: Rounds, at least 1.
        seed: What the order is derived from.
    """
    turns = _turns(tasks, len(arms), attempts=attempts, seed=seed)
    rows: list[tuple[int, str, str, int]] = []
    for number in range(1, attempts + 1):
        for task in _shuffled(tasks, seed, "order of tasks", number=number):
            order = _rotated(_order_of_arms(seed, arms, number), turns[number - 1][task])
            rows += [(number, task, arm, place) for place, arm in enumerate(order, start=1)]
    return tuple(
        Slot(position=position, round=number, task=task, arm=arm, place=place)
        for position, (number, task, arm, place) in enumerate(rows, start=1)
    )


def schedule_value(schedule: Schedule) -> dict[str, object]:
    """Return the JSON value of a schedule."""
    return {
        "schema": SCHEMA,
        "study": schedule.study,
        "plan_sha256": schedule.plan_sha256,
        "manifest_sha256": schedule.manifest_sha256,
        "seed": schedule.seed,
        "arms": list(schedule.arms),
        "slots": [
            {"position": slot.position, "round": slot.round, "task": slot.task, "arm": slot.arm, "place": slot.place}
            for slot in schedule.slots
        ],
    }


def compare_with_schedule(schedule: Schedule, starts: Sequence[Start]) -> tuple[Finding, ...]:
    """Return where the recorded starts left the schedule, sorted.

    Attempts carry no number in the evidence, so the first start of a task in an arm stands for the first round, the
    second for the second.
    """
    recorded = _ranked(starts)
    planned = {(slot.task, slot.arm, slot.round): slot for slot in schedule.slots}
    findings = [_unknown_start(start) for start in starts if start.started_at is None]
    findings += [
        Finding(code="schedule_missing_trial", arm=arm, task=task, detail=f"round {number} has no recorded start")
        for task, arm, number in planned
        if (task, arm, number) not in recorded
    ]
    findings += [
        Finding(code="schedule_unexpected_trial", arm=arm, task=task, detail=f"start {number} is not in the schedule")
        for task, arm, number in recorded
        if (task, arm, number) not in planned
    ]
    both = {key: (planned[key].position, at) for key, at in recorded.items() if key in planned}
    findings += _turned_blocks(schedule, both)
    return tuple(
        sorted(
            {*findings, *_moved(both)}, key=lambda found: (found.code, found.task or "", found.arm or "", found.detail)
        )
    )


def _tasks(plan: Plan, manifest: Manifest) -> tuple[str, ...]:
    names = {task.name for task in manifest.tasks}
    excluded = {exclusion.task for exclusion in plan.exclusions}
    lines = [f"exclusion {name!r}: found no such task in the manifest" for name in sorted(excluded - names)]
    if plan.run_order != "interleaved":
        lines.append(f"run_order: found {plan.run_order}, expected interleaved: no other order is written")
    if lines:
        raise ScheduleError(*lines)
    return tuple(sorted(names - excluded))


def _turns(tasks: Sequence[str], arms: int, *, attempts: int, seed: int) -> list[dict[str, int]]:
    """Return, for each round, by how much each task's order of arms is rotated.

    A block of as many rounds as there are arms gives every arm every place once on every task.
    """
    rounds: list[dict[str, int]] = []
    for number in range(attempts):
        block, step = divmod(number, arms)
        shuffled = _shuffled(tasks, seed, "turn of arms", number=block + 1)
        rounds.append({task: (at + step) % arms for at, task in enumerate(shuffled)})
    return rounds


def _order_of_arms(seed: int, arms: Sequence[str], number: int) -> tuple[str, ...]:
    return _shuffled(arms, seed, "order of arms", number=(number - 1) // len(arms) + 1)


def _rotated(order: Sequence[str], turn: int) -> tuple[str, ...]:
    return (*order[turn:], *order[:turn])


def _shuffled(names: Sequence[str], seed: int, purpose: str, *, number: int) -> tuple[str, ...]:
    return tuple(sorted(names, key=lambda name: digest_value([seed, purpose, number, name])))


def _ranked(starts: Sequence[Start]) -> dict[tuple[str, str, int], datetime]:
    by_cell: dict[tuple[str, str], list[datetime]] = defaultdict(list)
    for start in starts:
        if start.started_at is not None:
            by_cell[start.task, start.arm].append(start.started_at)
    return {
        (task, arm, number): at
        for (task, arm), instants in sorted(by_cell.items())
        for number, at in enumerate(sorted(instants), start=1)
    }


def _unknown_start(start: Start) -> Finding:
    return Finding(code="schedule_unknown_start", arm=start.arm, task=start.task, detail="no start time is recorded")


def _turned_blocks(schedule: Schedule, both: dict[tuple[str, str, int], tuple[int, datetime]]) -> list[Finding]:
    """Find blocks of adjacent trials whose arms were started in another order than scheduled."""
    blocks: dict[tuple[str, int], list[tuple[int, datetime]]] = defaultdict(list)
    for (task, _, number), pair in both.items():
        blocks[task, number].append(pair)
    return [
        Finding(
            code="schedule_arms_turned", task=task, detail=f"round {number}: the arms were started in another order"
        )
        for (task, number), pairs in sorted(blocks.items())
        if len(pairs) == len(schedule.arms) and [at for _, at in sorted(pairs)] != sorted(at for _, at in pairs)
    ]


def _moved(both: dict[tuple[str, str, int], tuple[int, datetime]]) -> list[Finding]:
    """Count the trials that must be moved to restore the order: all but a longest increasing subsequence."""
    positions = [position for position, _ in sorted(both.values(), key=lambda pair: (pair[1], pair[0]))]
    piles: list[int] = []
    for position in positions:
        at = bisect_left(piles, position)
        piles[at : at + 1] = [position]
    moved = len(positions) - len(piles)
    if not moved:
        return []
    detail = f"{moved} of {len(positions)} trials were started out of the scheduled order"
    return [Finding(code="schedule_order_changed", detail=detail)]
