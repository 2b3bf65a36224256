"""The only place that runs the live tier: `python -P -m harness.testing.live [--limits] [--cache DIR] [HARNESS...]`."""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

from harness.kinds import Harness
from harness.launch import Route, TurnRequest
from harness.programs.folders import part
from harness.programs.locate import INSTALL, VARIABLE, cache_folder, command
from harness.programs.registry import PROGRAMS
from harness.testing.live import limits
from harness.testing.live.checks import Seen, faults, late, union_error_s, wire
from harness.testing.live.scenarios import SCENARIOS, Scenario
from harness.testing.live.turn import run_turn, spans_of, sweep
from harness.testing.loopback import confine, interfaces
from harness.testing.provider import serve

MODELS: dict[Harness, str] = {harness: part(harness, "facts").SCRIPTED_MODEL for harness in Harness}
OUTPUT_LIMIT = 4096
AT_ONCE = 2
KEY = "EVENHAND_LIVE_KEY"
DESCRIPTION = "Polishes a widget until it shines."


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One scenario of one program, run and judged.

    Attributes:
        harness: The program.
        scenario: What it played.
        seen: What that left.
        faults: What is wrong, lateness included.
        late: What was only late; the same words stand among the faults.
        strange: Requests that the provider does not serve.
        first: What was late when it was played beside another, before it was played again alone; empty else.
    """

    harness: Harness
    scenario: Scenario
    seen: Seen
    faults: tuple[str, ...]
    late: tuple[str, ...]
    strange: tuple[str, ...]
    first: tuple[str, ...] = ()


def main(words: Sequence[str] | None = None) -> int:
    """Run every scenario of every program; print a table and what is wrong; 0 when nothing is."""
    parser = argparse.ArgumentParser(prog="python -P -m harness.testing.live")
    parser.add_argument("--cache", type=Path, help="folder of the installed programs")
    parser.add_argument("--only", action="append", default=[], help="scenario to run; may be repeated")
    parser.add_argument("--limits", action="store_true", help="run the run-limit tasks instead of the scenarios")
    parser.add_argument("names", nargs="*", choices=[[], *(h.value for h in Harness)], metavar="HARNESS")
    given = parser.parse_args(words)
    harnesses = tuple(Harness(name) for name in given.names) or tuple(Harness)
    scenarios = tuple(row for row in SCENARIOS if not given.only or row.name in given.only)
    cache = (given.cache or cache_folder(os.environ)).absolute()
    missing = [harness.value for harness in harnesses if command(harness, cache) is None]
    if missing:
        sys.stderr.write(f"not installed: {', '.join(missing)}. Run: {INSTALL}\n")
        return 1
    began = time.monotonic()
    open_network = confine()
    if given.limits:
        runs = limits.run_limits(harnesses, cache=cache, models=MODELS, only=given.only)
        sys.stdout.write(limits.report(runs, seconds=time.monotonic() - began))
        return 1 if any(row.faults for row in runs) else 0
    cells = run(harnesses, scenarios, cache=cache)
    told = report(cells, open_network=open_network, seconds=time.monotonic() - began)
    sys.stdout.write(told)
    return 1 if any(cell.faults for cell in cells) else 0


def run(harnesses: Sequence[Harness], scenarios: Sequence[Scenario], *, cache: Path) -> tuple[Cell, ...]:
    """Run scenarios, two at a time, each with a provider, a home and a working folder of its own.

    One that was only late is played once more, alone: beside another program on a busy machine a line may wait.
    """
    jobs = [(harness, scenario) for scenario in scenarios for harness in harnesses]
    with tempfile.TemporaryDirectory(prefix="evenhand-live-") as root:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            cells = list(pool.map(lambda job: play(*job, root=Path(root), cache=cache), jobs))
        for place, cell in enumerate(cells):
            if only_late(cell):
                alone = play(cell.harness, cell.scenario, root=Path(root) / "alone", cache=cache)
                cells[place] = replace(alone, first=cell.late)
    return tuple(cells)


def only_late(cell: Cell) -> bool:
    """Tell whether all that is wrong with a cell is that something came late."""
    return bool(cell.late) and set(cell.faults) == set(cell.late)


def play(harness: Harness, scenario: Scenario, *, root: Path, cache: Path) -> Cell:
    """Run one scenario of one program and judge it."""
    folder = root / f"{harness.value}-{scenario.name}"
    home, workdir = folder / "home", folder / "work"
    home.mkdir(parents=True)
    workdir.mkdir()
    model, mark = MODELS[harness], uuid4().hex
    path = os.environ.get("PATH", "/usr/bin:/bin")
    environment = {"PATH": path, "TMPDIR": str(folder), KEY: uuid4().hex, VARIABLE: str(cache)}
    with serve(scenario.script) as provider:
        request = TurnRequest(
            prompt="Do what the script says.",
            workdir=workdir,
            home=home,
            environment=environment,
            model=model,
            route=Route(base_url=provider.base_url, key_name=KEY),
            max_output_tokens=OUTPUT_LIMIT,
            max_turns=scenario.cap,
            plugins=(_plugin(folder),) if scenario.skilled else (),
        )
        try:
            ready = PROGRAMS[harness].launch(request)
            turn = run_turn(harness, ready, mark=mark, timeout_s=scenario.timeout_s, cap=scenario.cap)
        finally:
            sweep(mark)
        first = json.dumps(provider.bodies.get(0, {}))
        seen = Seen(
            turn=turn,
            requests=provider.requests,
            spans=spans_of(workdir),
            model=model,
            output_limit=OUTPUT_LIMIT,
            skill_arrived=DESCRIPTION in first if scenario.skilled else None,
        )
        strange = tuple(sorted(set(provider.strange)))
    return Cell(
        harness=harness,
        scenario=scenario,
        seen=seen,
        faults=faults(harness, scenario, seen),
        late=late(harness, seen),
        strange=strange,
    )


def _plugin(folder: Path) -> Path:
    skill = folder / "plugin" / "skills" / "polish"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(f"---\nname: polish\ndescription: {DESCRIPTION}\n---\n", encoding="ascii")
    return folder / "plugin"


def report(cells: Sequence[Cell], *, open_network: str | None, seconds: float) -> str:
    """Return the table, what each program's limit on the wire proves, and what is wrong."""
    scenarios = list(dict.fromkeys(cell.scenario.name for cell in cells))
    harnesses = list(dict.fromkeys(cell.harness for cell in cells))
    by_place = {(cell.harness, cell.scenario.name): cell for cell in cells}
    lines = ["".join(f"{name:13}" for name in ("", *scenarios)).rstrip() + "  output limit        union error"]
    for harness in harnesses:
        row = [by_place[harness, name] for name in scenarios]
        words = ["FAIL" if cell.faults else f"ok {_seconds(cell):.1f} s" for cell in row]
        limit = wire(row[0].seen)
        lines.append("".join(f"{word:13}" for word in (harness.value, *words)) + f"{limit:20}{_union_error(row)}")
    wrong = [f"{c.harness.value} {c.scenario.name}: {fault}" for c in cells for fault in c.faults]
    crashed = [f"{c.harness.value} {c.scenario.name} crashed: {c.seen.turn.crash}" for c in cells if c.faults]
    stray = sorted({f"{c.harness.value}: {path}" for c in cells for path in c.strange})
    again = [
        f"{c.harness.value} {c.scenario.name}, played again alone, first: {'; '.join(c.first)}"
        for c in cells
        if c.first
    ]
    network = f"only {', '.join(interfaces())} reachable" if open_network is None else f"NOT CONFINED: {open_network}"
    end = f"{sum(1 for c in cells if not c.faults)} of {len(cells)} hold; {network}; {seconds:.0f} s"
    return "\n".join([*lines, *wrong, *crashed, *again, *(f"other request, {row}" for row in stray), end]) + "\n"


def _seconds(cell: Cell) -> float:
    start, end = cell.seen.turn.wall_us
    return (end - start) / 1e6


def _union_error(row: Sequence[Cell]) -> str:
    known = [error for cell in row if (error := union_error_s(cell.seen)) is not None]
    return " ".join(f"{error:+.2f} s" for error in known)


if __name__ == "__main__":
    sys.exit(main())
