"""The only place that says whether a program can be run here: where it is, its version, what is missing."""

import re
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass

from harness.capabilities import CAPABILITIES
from harness.kinds import Harness
from harness.programs.capability import Capability
from harness.programs.locate import INSTALL, find

LONGEST_S = 30.0
_VERSION = re.compile(r"\d+\.\d+\.\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What is known of one program here.

    Attributes:
        harness: Which harness.
        command: Absolute command that starts it; None when it was not found.
        version: Version that it prints; None when it prints none.
        supported: Versions that its capabilities were measured on, in words.
        missing: What must be done before it can run; empty when it can.
        notes: What a person should know though it can run.
        install: Command that installs the pinned version.
    """

    harness: Harness
    command: tuple[str, ...] | None
    version: str | None
    supported: str
    missing: tuple[str, ...]
    notes: tuple[str, ...]
    install: str


def diagnose(harness: Harness, environment: Mapping[str, str]) -> Diagnosis:
    """Look for a program and ask it for its version; nothing else of it runs."""
    row = CAPABILITIES[harness]
    command = find(harness, environment)
    version, fault = (None, f"{row.package} is not installed") if command is None else _ask(command, row, environment)
    return Diagnosis(
        harness=harness,
        command=command,
        version=version,
        supported=row.range_text(),
        missing=() if fault is None else (fault,),
        notes=_notes(row, version, environment),
        install=f"{INSTALL} {harness.value}",
    )


def _ask(command: tuple[str, ...], row: Capability, environment: Mapping[str, str]) -> tuple[str | None, str | None]:
    with tempfile.TemporaryDirectory(prefix="evenhand-doctor-") as home:
        # Not the caller's home: asking for a version must neither read nor write anybody's configuration.
        env = {"PATH": environment.get("PATH", "/usr/bin:/bin"), "HOME": home, "LANG": "C.UTF-8", "CI": "1"}
        try:
            done = subprocess.run(  # noqa: S603  # our own words, no shell
                (*command, *row.version_words),
                env=env,
                cwd=home,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=LONGEST_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None, f"it printed no version within {LONGEST_S:.0f} s"
        except OSError as fault:
            return None, f"it cannot be started: {fault.strerror}"
    found = _VERSION.search(done.stdout.decode(errors="replace"))
    if done.returncode != 0 or found is None:
        return None, f"it printed no version and ended with {done.returncode}"
    return found.group(), None


def _notes(row: Capability, version: str | None, environment: Mapping[str, str]) -> tuple[str, ...]:
    notes = []
    if version is not None and not row.covers(version):
        notes.append(f"version {version} was not measured; expected {row.range_text()}")
    if not any(environment.get(name) for name in row.credentials):
        notes.append(f"no credential set; a run without a route needs one of {', '.join(row.credentials)}")
    return tuple(notes)


def diagnosis_document(found: Diagnosis) -> dict[str, object]:
    """Return a diagnosis as plain values."""
    return {
        "harness": found.harness.value,
        "found": found.command is not None,
        "command": None if found.command is None else list(found.command),
        "version": found.version,
        "supported": found.supported,
        "missing": list(found.missing),
        "notes": list(found.notes),
        "install": found.install,
    }


def diagnosis_lines(found: Diagnosis) -> tuple[str, ...]:
    """Return a diagnosis as text."""
    state = "ready" if not found.missing else "missing"
    lines = [f"{found.harness.value:12} {state:8} {found.version or '-':10} supported {found.supported}"]
    lines += [f"  at      {' '.join(found.command)}"] if found.command is not None else []
    lines += [f"  missing {fault}" for fault in found.missing]
    lines += [f"  note    {note}" for note in found.notes]
    lines += [f"  install {found.install}"] if found.missing else []
    return tuple(lines)
