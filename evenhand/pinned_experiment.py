"""The only place that pins an experiment before its first attempt: its tasks, its attempts, its arms."""

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from analysis.audit import Arm as NamedArm
from analysis.evidence.values import short_name
from analysis.population import Population
from evenhand.experiment import Arm, Experiment
from evenhand.experiment_file import read_experiment
from harness.tasks.conditions import task_digest
from manifests.manifest import ManifestTask
from manifests.selectors import ArmFacts


class ExperimentArmsError(Exception):
    """A manifest's selectors do not name the arms of its experiment, each once and by its own name."""


class ExperimentStudyError(Exception):
    """A manifest is to be of another study than its experiment."""


def experiment_population(path: Path, arms: Sequence[NamedArm], *, study: str) -> Population:
    """Return the tasks and attempts that an experiment is going to make.

    Args:
        path: The experiment file.
        arms: The arms of the manifest to be.
        study: Its study.

    Raises:
        ExperimentArmsError: When a selector names none of the experiment's arms, several, or one by another name, or
            when an arm is left out.
        ExperimentFileError: When the file does not follow its schema.
        ExperimentStudyError: When the experiment is of another study.
        YamlUnreadableError: When it cannot be read.
    """
    experiment = read_experiment(path)
    if experiment.study != study:
        raise ExperimentStudyError(
            f"{path.name} is the study {experiment.study!r}, expected {study!r}: give --study {experiment.study}"
        )
    _require_arms(experiment, arms)
    tasks = tuple(
        ManifestTask(name=short_name(task.task_id), digest=task_digest(task), digest_kind="task_checksum")
        for task in experiment.tasks
    )
    ordered = tuple(sorted(tasks, key=lambda task: task.name))
    return Population(dataset=None, revision=None, tasks=ordered, attempts=experiment.attempts)


def _require_arms(experiment: Experiment, arms: Sequence[NamedArm]) -> None:
    named = {arm.name for arm in experiment.arms}
    for arm in arms:
        found = [one.name for one in experiment.arms if arm.selector.matches(_facts(one))]
        if found != [arm.name]:
            listed = ", ".join(found) or "none"
            raise ExperimentArmsError(
                f"selector {arm.selector.text!r} is called {arm.name} and names {listed} of the experiment's arms, "
                f"expected one by its own name: give kwarg.variant=NAME with one of {', '.join(sorted(named))}"
            )
    left = sorted(named - {arm.name for arm in arms})
    if left:
        raise ExperimentArmsError(f"arms left out: {', '.join(left)}; name each with --arm kwarg.variant=NAME")


def _facts(arm: Arm) -> ArmFacts:
    """Return what the evidence is going to say of an arm."""
    agent, folder = arm.harness.value, PurePosixPath("/", arm.name)
    return ArmFacts(agent=agent, model=arm.model, kwargs=(("variant", arm.name),), path=folder)
