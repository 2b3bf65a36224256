"""The only place that says whether a program can be run here: where it is, its version, what is missing.

Asking for a version is bounded in time, reaches no network, and happens in an empty home: it reads and writes nobody's
configuration. A credential is looked for by name; its value is never looked at further than for being there.
"""

import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.capabilities import CAPABILITIES
from harness.clock import Stamp
from harness.kinds import Harness
from harness.launch import Launch, Prompt
from harness.process import StartError, start
from harness.programs.capability import Capability
from harness.programs.locate import INSTALL, find, lacking, place
from harness.programs.request import PLAIN

LONGEST_S = 30.0
_DRAIN_S = 1.0
_VERSION = re.compile(r"(?<![\d.])\d+\.\d+\.\d+(?![\d.])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What is known of one program here.

    Attributes:
        harness: Which harness.
        place: Where it is, in words that name no home; None when it was not found.
        version: Version that it prints; None when it prints none.
        supported: Versions that its capabilities were measured on, in words.
        missing: What must be done before it can be used; empty when it can.
        notes: What a person should know though it can be used.
        install: Command that installs the pinned version.
    """

    harness: Harness
    place: str | None
    version: str | None
    supported: str
    missing: tuple[str, ...]
    notes: tuple[str, ...]
    install: str


def diagnose(harness: Harness, environment: Mapping[str, str], *, longest_s: float = LONGEST_S) -> Diagnosis:
    """Look for a program and ask it for its version; nothing else of it runs.

    Args:
        harness: Which harness.
        environment: The caller's environment.
        longest_s: Seconds that a program may take to print its version.
    """
    row, command = CAPABILITIES[harness], find(harness, environment)
    if command is None:
        version, missing = None, lacking(harness, environment)
    else:
        version, missing = _judged(command, row, environment, longest_s=longest_s)
    return Diagnosis(
        harness=harness,
        place=None if command is None else place(harness, environment),
        version=version,
        supported=row.range_text(),
        missing=missing,
        notes=_notes(row, environment),
        install=f"{INSTALL} {harness.value}",
    )


def _judged(
    command: tuple[str, ...], row: Capability, environment: Mapping[str, str], *, longest_s: float
) -> tuple[str | None, tuple[str, ...]]:
    """Return the version of a program that is there, and what is wrong with it."""
    with tempfile.TemporaryDirectory(prefix="evenhand-doctor-") as home:
        own = {"HOME": home, "PATH": environment.get("PATH", "/usr/bin:/bin")}
        launch = Launch(
            argv=(*command, *row.version_words), env={**PLAIN, **own}, cwd=Path(home), conversation=Prompt("")
        )
        try:
            code, said = _hear(launch, longest_s=longest_s)
        except StartError:
            return None, ("it is there and cannot be started; expected a program that may be executed",)
    found = _VERSION.search(said)
    if code is None:
        return None, (f"it printed no version within {longest_s:g} s",)
    if code != 0 or found is None:
        return None, (f"it printed no version and ended with {code}; {row.needs}",)
    if not row.covers(found.group()):
        return found.group(), (f"version {found.group()} was not measured; expected {row.range_text()}",)
    return found.group(), ()


def _hear(launch: Launch, *, longest_s: float) -> tuple[int | None, str]:
    """Run a short program to its end; return its exit code, None when it took too long, and what it printed."""
    # Nothing here is timed, so every line may carry the same stamp.
    child = start(launch, now=lambda: Stamp(us=0))
    lines = []
    try:
        done = child.wait(longest_s)
        while done is not None and (line := child.next_line(_DRAIN_S)) is not None:
            lines.append(line.data.decode(errors="replace"))
    finally:
        if child.exit is None:
            child.stop()
        child.sweep()
    return None if done is None else done.code, "\n".join(lines)


def _notes(row: Capability, environment: Mapping[str, str]) -> tuple[str, ...]:
    notes = []
    if row.wants is not None and shutil.which(row.wants[0], path=environment.get("PATH", "")) is None:
        program, tools = row.wants
        notes.append(f"{program} is not on PATH: it is fetched at first need, and without network {tools} fail")
    if not any(environment.get(name) for name in row.credentials):
        known = ", ".join(row.credentials)
        notes.append(f"no credential in the environment: set one of {known}, or run with --base-url and --key-name")
    return tuple(notes)


def diagnosis_document(found: Diagnosis) -> dict[str, object]:
    """Return a diagnosis as plain values."""
    return {
        "harness": found.harness.value,
        "usable": not found.missing,
        "found": found.place is not None,
        "place": found.place,
        "version": found.version,
        "supported": found.supported,
        "missing": list(found.missing),
        "notes": list(found.notes),
        "install": found.install,
    }


def diagnosis_lines(found: Diagnosis) -> tuple[str, ...]:
    """Return a diagnosis as text."""
    state = "usable" if not found.missing else "not usable"
    lines = [f"{found.harness.value:12} {found.version or '-':10} {state:11} measured on {found.supported}"]
    lines += [f"  found    {found.place}"] if found.place is not None else []
    lines += [f"  missing  {fault}" for fault in found.missing]
    lines += [f"  note     {note}" for note in found.notes]
    lines += [f"  install  {found.install}"] if found.missing else []
    return tuple(lines)
