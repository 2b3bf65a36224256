"""The only place for what an experiment is: its arms, its tasks, how often, and in which order they are started."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from analysis.evidence.values import short_name
from harness.experiment.running import Planned
from harness.kinds import Harness
from harness.launch import Route
from harness.prices import Prices
from harness.tasks.task import Task
from manifests.digest import digest_value
from preregistration.schedule import Schedule, interleaved_slots
from preregistration.schedule_file import ScheduleMismatchError

MOST_TOLD = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """What one arm asks of every attempt.

    Attributes:
        name: Its name, as manifest and schedule know it.
        harness: Which program runs it.
        model: Model as the route knows it; None leaves the program's default.
        route: Where model requests go; None leaves the program's own provider and credentials.
        max_output_tokens: Explicit output limit of a request; None leaves the provider's default, not verified.
        model_max_output_tokens: The model's contract, that a request's limit may not exceed; None when it is not known.
        context_tokens: The model's context window where the program must be told; None leaves its default.
        effort: Reasoning effort in the program's own words; None leaves its default.
        permission_mode: Permission mode in the program's own words; None asks nobody.
    """

    name: str
    harness: Harness
    model: str | None = None
    route: Route | None = None
    max_output_tokens: int | None = None
    model_max_output_tokens: int | None = None
    context_tokens: int | None = None
    effort: str | None = None
    permission_mode: str | None = None

    def pinned(self) -> dict[str, object]:
        """Return what must be the same when the run is taken up again: all but the endpoint, which may move."""
        found: dict[str, Any] = {**asdict(self), "harness": self.harness.value}
        del found["route"]
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """Arms × tasks × attempts.

    Attributes:
        study: Name of the study.
        arms: At least one, of distinct names.
        tasks: At least one, of distinct ids.
        task_digests: SHA-256 of each task's file, in the order of the tasks.
        attempts: Attempts of every arm at every task, at least 1.
        simulated: No real model answers.
        jobs: Attempts at a time where the caller does not say.
        prices: Declared prices of every arm's tokens; None leaves each program its own cost, if any.
    """

    study: str
    arms: tuple[Arm, ...]
    tasks: tuple[Task, ...]
    task_digests: tuple[str, ...]
    attempts: int
    simulated: bool
    jobs: int = 1
    prices: Prices | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """The order of an experiment's starts.

    Attributes:
        kind: "schedule" when it was given, "seeded" when it was derived from the study's name, "task" for one task.
        seed: What it was derived from; None for a single task, whose attempts follow one another.
        planned: Every attempt.
    """

    kind: Literal["schedule", "seeded", "task"]
    seed: int | None
    planned: tuple[Planned, ...]


def order_of(experiment: Experiment, schedule: Schedule | None) -> Order:
    """Return the order of starts.

    Args:
        experiment: The experiment.
        schedule: As `evenhand schedule` wrote it, with tasks named as evidence names them; None derives an order of the
            same rule from the study's name.

    Raises:
        ScheduleMismatchError: When the schedule is not one of exactly these arms, tasks and attempts.
    """
    ids = {short_name(task.task_id): task.task_id for task in experiment.tasks}
    if schedule is not None:
        faults = mismatches(experiment, schedule)
        if faults:
            raise ScheduleMismatchError("\n".join(faults))
        seed, slots = schedule.seed, schedule.slots
    else:
        seed = study_seed(experiment.study)
        tasks = sorted(ids)
        arms = [arm.name for arm in experiment.arms]
        slots = interleaved_slots(tasks, arms, attempts=experiment.attempts, seed=seed)
    harnesses = {arm.name: arm.harness for arm in experiment.arms}
    planned = tuple(
        Planned(
            position=slot.position,
            arm=slot.arm,
            task_id=ids[slot.task],
            attempt=slot.round - 1,
            harness=harnesses[slot.arm],
        )
        for slot in slots
    )
    return Order(kind="seeded" if schedule is None else "schedule", seed=seed, planned=planned)


def study_seed(study: str) -> int:
    """Return the seed, in [0, 2^32), that a study's name stands for."""
    return int(digest_value(["order of starts", study])[:8], 16)


def mismatches(experiment: Experiment, schedule: Schedule) -> tuple[str, ...]:
    """Return how a schedule differs from what an experiment runs; nothing when it does not."""
    pairs = (
        ("study", [schedule.study], [experiment.study]),
        ("arm", sorted(schedule.arms), sorted(arm.name for arm in experiment.arms)),
        (
            "task",
            sorted({slot.task for slot in schedule.slots}),
            sorted(short_name(task.task_id) for task in experiment.tasks),
        ),
    )
    faults = [line for what, found, wanted in pairs for line in _differing(what, found, wanted)]
    rounds = {slot.round for slot in schedule.slots}
    wanted = set(range(1, experiment.attempts + 1))
    if rounds != wanted:
        faults.append(f"attempts: found {max(rounds)} rounds in the schedule, expected {experiment.attempts}")
    whole = len(experiment.arms) * len(experiment.tasks) * experiment.attempts
    if not faults and len(schedule.slots) != whole:
        faults.append(f"slots: found {len(schedule.slots)} in the schedule, expected {whole}")
    return tuple(faults)


def _differing(what: str, found: Sequence[str], wanted: Sequence[str]) -> list[str]:
    extra = [f"{what} {name!r} is in the schedule and not in the experiment" for name in found if name not in wanted]
    lacking = [f"{what} {name!r} is in the experiment and not in the schedule" for name in wanted if name not in found]
    lines = extra + lacking
    return lines if len(lines) <= MOST_TOLD else [*lines[:MOST_TOLD], f"{len(lines) - MOST_TOLD} more of {what}"]
