"""The only place that checks what an agent left in its sandbox. A path that leads out of the sandbox never passes."""

import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Protocol, assert_never

from harness.tasks.sandbox import CommandError, LineTimeoutError, run_line
from harness.tasks.task import FileContains, FileExists, JsonCheck, RunCommand, WorkCriterion

MOST_JSON = 64 << 20
_CHUNK = 1 << 20
_MISSING = object()


class LineRunner(Protocol):
    """Runs a shell line where the attempt runs, as `harness.tasks.sandbox.run_line` does."""

    def __call__(self, line: str, folder: Path, /, *, environment: Mapping[str, str], timeout_s: float) -> int:
        """Return the line's exit code."""


def passes(
    criterion: WorkCriterion, sandbox: Path, *, environment: Mapping[str, str], run: LineRunner = run_line
) -> bool:
    """Tell whether the work in a sandbox passes a check.

    Args:
        criterion: The check.
        sandbox: Absolute folder that the agent worked in.
        environment: The whole environment of a command.
        run: Runs the line of a command.
    """
    match criterion:
        case FileExists():
            return _file(sandbox, criterion.path) is not None
        case FileContains():
            return _contains(sandbox, criterion.path, criterion.text.encode())
        case RunCommand():
            return _ends_with(criterion, sandbox, environment=environment, run=run)
        case JsonCheck():
            return _same(_value(sandbox, criterion), criterion.equals)
        case _:
            assert_never(criterion)


def _file(sandbox: Path, path: PurePosixPath) -> Path | None:
    try:
        found = (sandbox / path).resolve()
        # A link that the agent made may point anywhere; what lies outside is not its work.
        return found if found.is_relative_to(sandbox.resolve()) and found.is_file() else None
    except (OSError, RuntimeError, ValueError):
        # A ring of links, a closed folder, a name that no file can have: no file of the agent's.
        return None


def _contains(sandbox: Path, path: PurePosixPath, wanted: bytes) -> bool:
    """Look for bytes without holding the file, which may be larger than the memory."""
    found, held = _file(sandbox, path), b""
    if found is None:
        return False
    try:
        with found.open("rb") as file:
            while data := file.read(_CHUNK):
                if wanted in (held := held + data):
                    return True
                held = held[max(len(held) - len(wanted) + 1, 0) :]
    except OSError:
        return False
    return False


def _bytes(sandbox: Path, path: PurePosixPath) -> bytes | None:
    found = _file(sandbox, path)
    try:
        return None if found is None or found.stat().st_size > MOST_JSON else found.read_bytes()
    except OSError:
        return None


def _ends_with(criterion: RunCommand, sandbox: Path, *, environment: Mapping[str, str], run: LineRunner) -> bool:
    try:
        code = run(criterion.command, sandbox, environment=environment, timeout_s=criterion.timeout_s)
    except (CommandError, LineTimeoutError):
        return False
    return code == criterion.exit_code


def _value(sandbox: Path, criterion: JsonCheck) -> object:
    data = _bytes(sandbox, criterion.path)
    if data is None:
        return _MISSING
    try:
        found: object = json.loads(data, object_pairs_hook=_unique, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return _MISSING
    for step in criterion.at:
        found = _step(found, step)
    return found


def _step(found: object, step: str | int) -> object:
    if isinstance(found, dict) and isinstance(step, str):
        return found.get(step, _MISSING)
    if isinstance(found, list) and isinstance(step, int) and 0 <= step < len(found):
        return found[step]
    return _MISSING


def _same(found: object, expected: object) -> bool:
    try:
        # JSON's true is not its 1.
        return found is not _MISSING and json.dumps(found, sort_keys=True) == json.dumps(expected, sort_keys=True)
    except RecursionError:
        return False


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        # Readers differ in which of the two they take.
        raise ValueError("a key stands twice")
    return found


def _no_number(word: str) -> object:
    raise ValueError(f"{word} is no JSON")
