"""The only place that runs the run-limit tasks on the real programs, through `evenhand run` itself.

What survives is found by the folder for temporary files, which every descendant inherits in its environment.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from harness.kinds import Harness
from harness.programs.locate import VARIABLE
from harness.testing.live.limit_table import LIMITS, Outcome
from harness.testing.provider import serve
from harness.testing.script import load_script

FOLDER = Path(__file__).resolve().parents[2] / "tasks" / "run_limits"
# Most of them wait; the machine is not what they are short of.
AT_ONCE = 4
LONGEST_S = 240.0
KEY = "EVENHAND_LIVE_KEY"
# The long waits first, so that the short ones fill the other places.
ORDER = ("task_timeout", "turn_timeout", *(name for name in LIMITS if not name.endswith("timeout")))
LEAVING_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitRun:
    """One run-limit task on one program.

    Attributes:
        harness: The program.
        name: The limit.
        seconds: How long it took.
        faults: What is wrong; nothing when all holds.
    """

    harness: Harness
    name: str
    seconds: float
    faults: tuple[str, ...]


def run_limits(
    harnesses: Sequence[Harness], *, cache: Path, models: Mapping[Harness, str], only: Sequence[str] = ()
) -> tuple[LimitRun, ...]:
    """Run every task on every program, several at a time."""
    jobs = [(harness, name) for name in ORDER for harness in harnesses if not only or name in only]
    with tempfile.TemporaryDirectory(prefix="evenhand-limits-") as root, ThreadPoolExecutor(AT_ONCE) as pool:

        def play(job: tuple[Harness, str]) -> LimitRun:
            model = models.get(job[0], "scripted-model")
            return _play(*job, root=Path(root), environment=_environment(cache), model=model)

        return tuple(pool.map(play, jobs))


def report(runs: Sequence[LimitRun], *, seconds: float) -> str:
    """Return the table and what is wrong."""
    harnesses = list(dict.fromkeys(run.harness for run in runs))
    lines = ["".join(f"{word:19}" for word in ("", *(h.value for h in harnesses))).rstrip()]
    for name in LIMITS:
        row = {run.harness: run for run in runs if run.name == name}
        words = ["FAIL" if row[h].faults else f"ok {row[h].seconds:.1f} s" for h in harnesses if h in row]
        lines += ["".join(f"{word:19}" for word in (name, *words)).rstrip()] if row else []
    wrong = [f"{run.harness.value} {run.name}: {fault}" for run in runs for fault in run.faults]
    held = sum(not run.faults for run in runs)
    return "\n".join([*lines, *wrong, f"{held} of {len(runs)} limits hold; {seconds:.0f} s"]) + "\n"


def limit_faults(outcome: Outcome, document: Mapping[str, object]) -> Iterator[str]:
    """Yield where an attempt's document is not as it must be."""
    turns = document["iterations"]
    assert isinstance(turns, list)
    last = turns[-1]
    found = {
        "final_status": (document["final_status"], outcome.final),
        "error_category": (document["error_category"], outcome.category),
        "graded": (document["weighted_score"] is not None, outcome.graded),
        "turns": (len(turns), outcome.turns),
        "status": (last["status"], outcome.turn),
        "overshoot recorded": (last["timeout_overshoot_ms"] is not None, outcome.over),
        "max_turns_exhausted": (document["max_turns_exhausted"], outcome.turn == "max_turns_exhausted"),
    }
    yield from (f"{name} {one!r}, expected {other!r}" for name, (one, other) in found.items() if one != other)
    for name, key, (least, most) in (
        ("model calls", "num_turns", outcome.steps),
        ("resolved calls", "tool_calls_resolved", outcome.calls),
    ):
        if not least <= last[key] <= most:
            yield f"{last[key]} {name}, expected {least} to {most}"
    said = document["findings"]
    assert isinstance(said, list)
    if outcome.finding is not None and not any(outcome.finding in str(one) for one in said):
        yield f"no finding of {outcome.finding!r}, found {said}"


def _environment(cache: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "PYTHONPATH") if name in os.environ}
    return {**kept, KEY: uuid4().hex, VARIABLE: str(cache)}


def _play(harness: Harness, name: str, *, root: Path, environment: Mapping[str, str], model: str) -> LimitRun:
    folder = root / f"{harness.value}-{name}"
    folder.mkdir()
    began = time.monotonic()
    with serve(load_script(FOLDER / f"{name}.json")) as provider:
        words = ("--harness", harness.value, "--out", str(folder / "run"), "--arm", "a", "--simulated")
        route = ("--model", model, "--base-url", provider.base_url, "--key-name", KEY)
        try:
            done = subprocess.run(  # noqa: S603  # our own words, no shell
                [sys.executable, "-P", "-m", "evenhand", "run", str(FOLDER / f"{name}.yaml"), *words, *route],
                cwd=Path(__file__).resolve().parents[3],
                env={**environment, "TMPDIR": str(folder)},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=LONGEST_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return LimitRun(harness=harness, name=name, seconds=LONGEST_S, faults=("it did not end",))
    seconds = time.monotonic() - began
    faults = tuple(_judge(harness, name, folder, code=done.returncode, said=done.stderr))
    return LimitRun(harness=harness, name=name, seconds=seconds, faults=faults)


def _judge(harness: Harness, name: str, folder: Path, *, code: int, said: str) -> Iterator[str]:
    survivors = _survivors(folder)
    if survivors:
        yield f"{survivors} processes survived"
    written = folder / "run" / "a" / "run_limits" / name / "00" / "task.json"
    if code != 0 or not written.is_file():
        yield f"exit code {code}: {said.strip()[-300:]}"
        return
    yield from limit_faults(LIMITS[name].on(harness), json.loads(written.read_text(encoding="utf-8")))


def _survivors(folder: Path) -> int:
    end = time.monotonic() + LEAVING_S
    while _carrying(folder) and time.monotonic() < end:
        time.sleep(0.05)
    return _carrying(folder)


def _carrying(folder: Path) -> int:
    wanted = f"TMPDIR={folder}".encode()
    found = 0
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                found += wanted in (process / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
    return found
