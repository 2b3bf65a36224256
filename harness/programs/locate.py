"""The only place that knows where the five programs are: a cache folder laid out as the installer does, or PATH."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from harness.kinds import Harness
from harness.programs.folders import part
from harness.programs.program import LaunchError

VARIABLE = "EVENHAND_PROGRAMS"
# What starts each program, relative to the cache folder.
COMMANDS: dict[Harness, tuple[Path, ...]] = {harness: part(harness, "facts").COMMAND for harness in Harness}
# The program's own name on PATH; a library has none.
NAMES: dict[Harness, str] = {harness: name for harness in Harness if (name := part(harness, "facts").NAME) is not None}
# What a part of a program is called where its file does not say it.
PARTS = {"node": "Node.js", "cli.js": "pi", "python": "an interpreter with google-antigravity"}
INSTALL = "python -P -m harness.testing.install"


def cache_folder(environment: Mapping[str, str]) -> Path:
    """Return where programs are kept: EVENHAND_PROGRAMS, else a folder of the user's cache."""
    named = environment.get(VARIABLE)
    if named:
        return Path(named).absolute()
    root = environment.get("XDG_CACHE_HOME") or str(Path(environment.get("HOME", "~")).expanduser() / ".cache")
    return Path(root) / "evenhand" / "programs"


def command(harness: Harness, cache: Path) -> tuple[str, ...] | None:
    """Return the absolute command that starts a program of a cache folder; None when a part of it is missing."""
    paths = [cache / path for path in COMMANDS[harness]]
    return tuple(map(str, paths)) if all(path.is_file() for path in paths) else None


def find(harness: Harness, environment: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return the command of a program: of the named cache folder, of PATH, of the user's cache; None when nowhere."""
    if environment.get(VARIABLE):
        return command(harness, cache_folder(environment))
    name = NAMES.get(harness)
    on_path = None if name is None else shutil.which(name, path=environment.get("PATH", ""))
    return (on_path,) if on_path is not None else command(harness, cache_folder(environment))


def place(harness: Harness, environment: Mapping[str, str]) -> str | None:
    """Return where a program was found, in words that name no home; None when nowhere."""
    if find(harness, environment) is None:
        return None
    name = NAMES.get(harness)
    kept = environment.get(VARIABLE) or name is None or shutil.which(name, path=environment.get("PATH", "")) is None
    return f"{_cache_words(environment)}/{COMMANDS[harness][-1]}" if kept else f"{name} on PATH"


def lacking(harness: Harness, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return which parts of a program that was not found are missing, each with where it was expected."""
    cache, name = cache_folder(environment), NAMES.get(harness)
    elsewhere = "" if environment.get(VARIABLE) or name is None else f", nor is {name} on PATH"
    absent = [path for path in COMMANDS[harness] if not (cache / path).is_file()]
    return tuple(
        f"{PARTS.get(path.name, path.name)} is not at {_cache_words(environment)}/{path}{elsewhere}" for path in absent
    )


def _cache_words(environment: Mapping[str, str]) -> str:
    if environment.get(VARIABLE):
        return f"${VARIABLE}"
    return "$XDG_CACHE_HOME/evenhand/programs" if environment.get("XDG_CACHE_HOME") else "~/.cache/evenhand/programs"


def locate(harness: Harness, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the command of a program.

    Raises:
        LaunchError: When it is nowhere.
    """
    found = find(harness, environment)
    if found is None:
        raise LaunchError(f"{harness.value} is not installed; expected it on PATH or in {VARIABLE}. Run: {INSTALL}")
    return found
