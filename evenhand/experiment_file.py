"""The only place that reads an experiment file: YAML in, a checked experiment out, or every fault of it with its line.

The faults of its task files are told with its own. It is told from a task file by its keys.
"""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from analysis.evidence.values import short_name
from evenhand.experiment import Arm, Experiment
from evenhand.task_file import TaskFileError, parse_task
from evenhand.yaml_fields import NO_YAML, Reader, YamlFileError, YamlUnreadableError, named, parse_mapping, read_text
from harness.kinds import Harness
from harness.launch import Route
from harness.prices import Prices
from harness.tasks.task import Task
from manifests.manifest import STUDY_PATTERN

KEYS = ("study", "simulated", "attempts", "jobs", "prices", "arms", "tasks")
PRICES = ("input", "output", "cache_read", "cache_write")
ARM_KEYS = (
    "name",
    "harness",
    "model",
    "base_url",
    "key_name",
    "max_output_tokens",
    "model_max_output_tokens",
    "context_tokens",
    "effort",
    "permission_mode",
)
MOST_ATTEMPTS = 1000
MOST_JOBS = 64
_ARM_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+@-]{0,63}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class ExperimentFileError(YamlFileError):
    """An experiment file, or a task file that it names, does not follow its schema."""


def is_experiment(text: str) -> bool:
    """Tell an experiment file from a task file; what is neither counts as a task file."""
    try:
        found: object = yaml.safe_load(text)
    except NO_YAML:
        return False
    return isinstance(found, dict) and bool({"arms", "study", "tasks"} & found.keys())


def read_experiment(path: Path, *, route: Route | None = None) -> Experiment:
    """Read and check an experiment file and its task files.

    Args:
        path: The file; the paths of its tasks are relative to its folder.
        route: Where the requests of those arms go that name no endpoint; None leaves the programs' own providers.

    Raises:
        ExperimentFileError: When it, or a task file, does not follow the schema.
        YamlUnreadableError: When it cannot be read.
    """
    expected = "study, simulated, attempts, arms and tasks"
    reader, found = parse_mapping(read_text(path), name=path.name, expected=expected, error=ExperimentFileError)
    reader.known(found, "", KEYS)
    study = reader.text(found, "", "study")
    if study and re.fullmatch(STUDY_PATTERN, study) is None:
        reader.fault("study", study, "lower-case letters, digits and hyphens")
    simulated = found.get("simulated")
    if not isinstance(simulated, bool):
        reader.fault("simulated", simulated, "true when no real model answers, else false; nobody else can know it")
    attempts = _bounded(reader, found, "attempts", most=MOST_ATTEMPTS)
    jobs = _bounded(reader, found, "jobs", most=MOST_JOBS, absent=1)
    prices = _prices(reader, found)
    arms = tuple(_arms(reader, found.get("arms"), route))
    tasks, lines = _tasks(reader, path.parent, found.get("tasks"))
    faults = "\n".join(part for part in (reader.told(), *lines) if part)
    if faults:
        raise ExperimentFileError(faults)
    return Experiment(
        study=study,
        arms=arms,
        tasks=tuple(task for task, _ in tasks),
        task_digests=tuple(digest for _, digest in tasks),
        attempts=attempts,
        simulated=simulated is True,
        jobs=jobs,
        prices=prices,
    )


def _bounded(reader: Reader, found: dict[str, object], key: str, *, most: int, absent: int | None = None) -> int:
    value = found.get(key, absent)
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most:
        return value
    reader.fault(key, value, f"a whole number from 1 to {most}")
    return 1


def _prices(reader: Reader, found: dict[str, object]) -> Prices | None:
    if "prices" not in found:
        return None
    given = found["prices"]
    if not isinstance(given, dict):
        reader.fault("prices", given, f"a mapping with {', '.join(PRICES)}, USD per million tokens")
        return None
    known = named(given)
    reader.known(known, "prices.", PRICES)
    good: dict[str, float] = {}
    for key in PRICES:
        value = known.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf"):
            good[key] = float(value)
        else:
            reader.fault(f"prices.{key}", value, "a finite number of at least 0")
    return Prices(**good) if len(good) == len(PRICES) else None


def _arms(reader: Reader, found: object, route: Route | None) -> Iterator[Arm]:
    if not isinstance(found, list) or not found:
        reader.fault("arms", found, "a list of at least one arm, each with name and harness")
        return
    seen: set[str] = set()
    for index, item in enumerate(found):
        place = f"arms[{index}]"
        if not isinstance(item, dict):
            reader.fault(place, item, "a mapping with name and harness")
            continue
        arm = _arm(reader, named(item), f"{place}.", route=route)
        if arm is not None and arm.name in seen:
            reader.fault(f"{place}.name", arm.name, "each name once")
        if arm is not None:
            seen.add(arm.name)
            yield arm


def _arm(reader: Reader, found: dict[str, object], place: str, *, route: Route | None) -> Arm | None:
    reader.known(found, place, ARM_KEYS)
    harness = found.get("harness")
    kinds = {kind.value: kind for kind in Harness}
    if not isinstance(harness, str) or harness not in kinds:
        reader.fault(f"{place}harness", harness, f"one of {', '.join(kinds)}")
        return None
    name = reader.text(found, place, "name")
    if name and _ARM_NAME.fullmatch(name) is None:
        reader.fault(f"{place}name", name, "letters, digits and . _ + @ -, at most 64, a letter or digit first")
    words = {
        key: reader.text(found, place, key)
        for key in ("model", "effort", "permission_mode")
        if found.get(key) is not None
    }
    return Arm(
        name=name,
        harness=kinds[harness],
        route=_route(reader, found, place) or route,
        max_output_tokens=reader.whole(found, place, "max_output_tokens"),
        model_max_output_tokens=reader.whole(found, place, "model_max_output_tokens"),
        context_tokens=reader.whole(found, place, "context_tokens"),
        **words,
    )


def _route(reader: Reader, found: dict[str, object], place: str) -> Route | None:
    if "base_url" not in found and "key_name" not in found:
        return None
    url, key = reader.text(found, place, "base_url"), reader.text(found, place, "key_name")
    if url and not url.startswith(("http://", "https://")):
        reader.fault(f"{place}base_url", url, "the root of an endpoint, http:// or https://")
    if key and _VARIABLE.fullmatch(key) is None:
        # What was meant as a name may be the credential itself.
        reader.fault(f"{place}key_name", "no name", "the name of an environment variable, never the credential")
    return Route(base_url=url, key_name=key)


def _tasks(reader: Reader, folder: Path, found: object) -> tuple[list[tuple[Task, str]], list[str]]:
    """Return the tasks with the digests of their files, and the faults of those files."""
    if not isinstance(found, list) or not found:
        reader.fault("tasks", found, "a list of at least one task file")
        return [], []
    tasks: list[tuple[Task, str]] = []
    lines: list[str] = []
    seen: dict[str, str] = {}
    for index, item in enumerate(found):
        place = f"tasks[{index}]"
        if not isinstance(item, str) or not item.strip():
            reader.fault(place, item, "the path of a task file, relative to this file")
            continue
        try:
            text = read_text(folder / item)
            task = parse_task(text, name=item, folder=(folder / item).parent)
        except YamlUnreadableError:
            reader.fault(place, item, "a task file that can be read")
        except TaskFileError as fault:
            lines.append(str(fault))
        else:
            # Evidence knows a task by the last part of its name.
            name = short_name(task.task_id)
            if name in seen:
                reader.fault(place, item, f"each task once; {seen[name]} is called {name!r} too")
            seen.setdefault(name, item)
            tasks.append((task, hashlib.sha256(text.encode("utf-8")).hexdigest()))
    return tasks, lines
