"""The only place that reads a task file: YAML in, a checked task out, or every fault of it with its line.

A fault names line, field, what was found and what is expected. Keys that nobody knows are refused.
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from evenhand.yaml_fields import Reader as _Reader
from evenhand.yaml_fields import YamlFileError, YamlUnreadableError, parse_mapping, read_text
from harness.limits import LimitError, RunLimits
from harness.programs.plugins import PluginError, inspect_plugin, inspect_plugins
from harness.tasks.task import Criterion, FileContains, FileExists, JsonCheck, RunCommand, SkillTriggered, Task

KEYS = (
    *("task_id", "prompt", "turns", "criteria", "run_limits", "pre_run", "post_run", "image"),
    *("system_prompt", "allowed_tools", "disallowed_tools", "permission_mode", "effort", "plugins"),
)
LIMITS = {
    "max_turns": "max_turns",
    "task_timeout": "task_timeout_s",
    "turn_timeout": "turn_timeout_s",
    "max_input_tokens": "max_input_tokens",
    "max_output_tokens": "max_output_tokens",
    "max_total_tokens": "max_total_tokens",
    "max_usd": "max_usd",
    "stop_early": "stop_early",
}
CRITERIA = {
    "file_exists": ("path", "stop_when_passed"),
    "file_contains": ("path", "text", "stop_when_passed"),
    "run_command": ("command", "exit_code", "timeout"),
    "json_check": ("path", "at", "equals", "stop_when_passed"),
    "skill_triggered": ("skill", "stop_when_passed"),
}


# Each part as a reader of evidence takes a task's name.
_TASK_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}(?:/[A-Za-z0-9][A-Za-z0-9._-]{0,127}){0,7}")
# No sign first, so that it is no option of the engine's.
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@+-]{0,511}")
LONGEST_S = 366 * 24 * 3600


class TaskFileError(YamlFileError):
    """A task file does not follow its schema; the message holds every fault, one a line."""


class TaskUnreadableError(YamlUnreadableError):
    """A task file is missing or is no text."""


def read_task(path: Path) -> Task:
    """Read and check a task file.

    Raises:
        TaskFileError: When it does not follow the schema.
        TaskUnreadableError: When it cannot be read.
    """
    return parse_task(read_text(path, error=TaskUnreadableError), name=path.name, folder=path.parent)


def parse_task(text: str, *, name: str, folder: Path = Path()) -> Task:
    """Check the text of a task file.

    Args:
        text: The file's content.
        name: Its name, for faults.
        folder: Its folder, which the paths of plugins start from.

    Raises:
        TaskFileError: When it does not follow the schema.
    """
    reader, found = parse_mapping(text, name=name, expected="task_id and prompt", error=TaskFileError)
    task = _task(reader, found, folder=folder)
    if task is None or reader.faults:
        raise TaskFileError(reader.told())
    return task


def _task(reader: _Reader, found: dict[str, object], *, folder: Path) -> Task | None:
    reader.known(found, "", KEYS)
    limits = _limits(reader, found.get("run_limits", {}))
    task_id = reader.text(found, "", "task_id")
    if task_id and _TASK_ID.fullmatch(task_id) is None:
        expected = "a name: at most 8 parts joined by /, each of letters, digits and . _ -, at most 128, no sign first"
        reader.fault("task_id", task_id, expected)
    return (
        None
        if limits is None
        else Task(
            task_id=task_id,
            turns=_turns(reader, found),
            criteria=tuple(_criteria(reader, found.get("criteria", []))),
            limits=limits,
            pre_run=reader.texts(found, "pre_run"),
            post_run=reader.texts(found, "post_run"),
            image=_image(reader, found),
            system_prompt=_optional(reader, found, "system_prompt"),
            allowed_tools=_allowed_tools(reader, found),
            disallowed_tools=reader.texts(found, "disallowed_tools"),
            permission_mode=_optional(reader, found, "permission_mode"),
            effort=_optional(reader, found, "effort"),
            plugins=_plugins(reader, found.get("plugins", []), folder=folder),
        )
    )


def _image(reader: _Reader, found: dict[str, object]) -> str | None:
    image = _optional(reader, found, "image")
    if image and _IMAGE.fullmatch(image) is None:
        reader.fault("image", image, "a reference of an image, [REGISTRY/]NAME[:TAG][@DIGEST]")
    return image


def _optional(reader: _Reader, found: dict[str, object], key: str) -> str | None:
    return None if found.get(key) is None else reader.text(found, "", key)


def _allowed_tools(reader: _Reader, found: dict[str, object]) -> tuple[str, ...] | None:
    if found.get("allowed_tools") is None:
        return None
    if found["allowed_tools"] == []:
        reader.fault("allowed_tools", [], "at least one tool; without the key all are allowed")
    return reader.texts(found, "allowed_tools")


def _plugins(reader: _Reader, found: object, *, folder: Path) -> tuple[Path, ...]:
    if not isinstance(found, list):
        reader.fault("plugins", found, "a list of {path: DIR}")
        return ()
    roots = tuple(
        filter(None, (_plugin(reader, item, f"plugins[{index}]", folder=folder) for index, item in enumerate(found)))
    )
    try:
        inspect_plugins(roots)
    except PluginError as fault:
        reader.fault("plugins", fault.found, fault.expected)
    return roots


def _plugin(reader: _Reader, item: object, place: str, *, folder: Path) -> Path | None:
    """Return a plugin root; None when it cannot be delivered, and then the fault is noted."""
    if not isinstance(item, dict):
        reader.fault(place, item, "{path: DIR}")
        return None
    known = {str(key): value for key, value in item.items()}
    reader.known(known, f"{place}.", ("path",))
    path = PurePosixPath(reader.text(known, f"{place}.", "path"))
    if path.is_absolute():
        reader.fault(f"{place}.path", str(path), "a path that starts from the task file's folder")
        return None
    try:
        return inspect_plugin(folder / path).root if path.parts else None
    except PluginError as fault:
        reader.fault(f"{place}.path", f"{path}, {fault.found}", fault.expected)
        return None
    except OSError as fault:
        reader.fault(f"{place}.path", str(path), f"a folder that can be opened ({type(fault).__name__})")
        return None


def _turns(reader: _Reader, found: dict[str, object]) -> tuple[str, ...]:
    if ("prompt" in found) == ("turns" in found):
        reader.fault("prompt", "both or neither of prompt and turns", "exactly one of them")
        return ()
    if "prompt" in found:
        return (reader.text(found, "", "prompt"),)
    turns = reader.texts(found, "turns")
    if not turns:
        reader.fault("turns", found["turns"], "at least one turn")
    return turns


def _limits(reader: _Reader, found: object) -> RunLimits | None:
    if not isinstance(found, dict):
        reader.fault("run_limits", found, "a mapping")
        return RunLimits()
    known = {str(key): value for key, value in found.items()}
    reader.known(known, "run_limits.", tuple(LIMITS))
    given: dict[str, Any] = {}
    for key, value in known.items():
        good = value is None or (key == "stop_early" and isinstance(value, bool))
        if good or (isinstance(value, int | float) and not isinstance(value, bool)):
            given |= {LIMITS[key]: value} if key in LIMITS else {}
        elif key in LIMITS:
            reader.fault(f"run_limits.{key}", value, "a number or null")
    return _bounded(reader, given)


def _bounded(reader: _Reader, given: dict[str, Any]) -> RunLimits:
    good: dict[str, Any] = {}
    for name, value in given.items():
        try:
            RunLimits(**{name: value})
        except LimitError as fault:
            key = next(key for key, attribute in LIMITS.items() if attribute == name)
            reader.fault(f"run_limits.{key}", value, str(fault).partition(" must be ")[2])
        else:
            good[name] = value
    return RunLimits(**good)


def _criteria(reader: _Reader, found: object) -> Iterator[Criterion]:
    if not isinstance(found, list):
        reader.fault("criteria", found, "a list of checks")
        return
    for index, item in enumerate(found):
        place = f"criteria[{index}]"
        kind = item.get("type") if isinstance(item, dict) else None
        if not isinstance(kind, str) or kind not in CRITERIA:
            reader.fault(f"{place}.type", kind, f"one of {', '.join(CRITERIA)}")
            continue
        known = {str(key): value for key, value in item.items()}
        reader.known(known, f"{place}.", ("type", *CRITERIA[kind]))
        yield MAKERS[kind](reader, known, f"{place}.")


def _armed(reader: _Reader, found: dict[str, object], place: str) -> bool:
    value = found.get("stop_when_passed", False)
    if not isinstance(value, bool):
        reader.fault(f"{place}stop_when_passed", value, "true or false")
    return value is True


def _file_exists(reader: _Reader, found: dict[str, object], place: str) -> Criterion:
    return FileExists(path=reader.path(found, place), armed=_armed(reader, found, place))


def _file_contains(reader: _Reader, found: dict[str, object], place: str) -> Criterion:
    text = reader.text(found, place, "text")
    return FileContains(path=reader.path(found, place), text=text, armed=_armed(reader, found, place))


def _run_command(reader: _Reader, found: dict[str, object], place: str) -> Criterion:
    code, timeout = found.get("exit_code", 0), found.get("timeout", 60)
    if isinstance(code, bool) or not isinstance(code, int) or not 0 <= code <= 255:
        reader.fault(f"{place}exit_code", code, "a whole number from 0 to 255")
        code = 0
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout <= LONGEST_S:
        reader.fault(f"{place}timeout", timeout, f"a positive number of seconds, at most {LONGEST_S}")
        timeout = 60
    return RunCommand(command=reader.text(found, place, "command"), exit_code=code, timeout_s=float(timeout))


def _json_check(reader: _Reader, found: dict[str, object], place: str) -> Criterion:
    at = found.get("at", [])
    if not isinstance(at, list) or not all(_is_step(step) for step in at):
        reader.fault(f"{place}at", at, "a list of keys and of positions from 0")
        at = []
    if "equals" not in found:
        reader.fault(f"{place}equals", "nothing", "the value that passes")
    elif not _is_json(found["equals"]):
        reader.fault(f"{place}equals", found["equals"], "a value that JSON knows, a date in quotes")
    armed = _armed(reader, found, place)
    return JsonCheck(path=reader.path(found, place), at=tuple(at), equals=found.get("equals"), armed=armed)


def _is_step(step: object) -> bool:
    return isinstance(step, str) or (isinstance(step, int) and not isinstance(step, bool) and step >= 0)


def _is_json(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False, sort_keys=True)
    except (RecursionError, TypeError, ValueError):
        return False
    return True


def _skill_triggered(reader: _Reader, found: dict[str, object], place: str) -> Criterion:
    return SkillTriggered(skill=reader.text(found, place, "skill"), armed=_armed(reader, found, place))


MAKERS: dict[str, Callable[[_Reader, dict[str, object], str], Criterion]] = {
    "file_exists": _file_exists,
    "file_contains": _file_contains,
    "run_command": _run_command,
    "json_check": _json_check,
    "skill_triggered": _skill_triggered,
}
