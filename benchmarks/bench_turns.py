"""The only place that times turn metrics: decoding, summing, loading and the views, beside a Node reader in one run.

Each part runs in a process of its own, so that its memory is its own. Without Node there are no ratios to it, and the
script says so; the structural parse without checks is pysimdjson's, where it is installed.
"""

import importlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.evidence.turn_files import TurnFile
from analysis.evidence.turn_lines import LineReader
from analysis.evidence.turn_reader import TurnReader
from analysis.evidence.turns import range_executor, read_ranges
from benchmarks.turn_load import session_of, write_turns

HERE = Path(__file__).resolve().parent
LINES, ROUNDS = 1_000_000, 3
USED = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
Result = dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """One range, decoded and checked."""

    turns: int
    malformed: int
    output: int
    ended: bool


def count_range(reader: LineReader, length: int | None) -> Counted:
    """Decode and check the lines of a range; keep nothing of them."""
    turns, output, number = TurnReader(), 0, 0
    for turn in turns.turns(reader.batches(length)):
        output += turn.usage.output
        number += 1
    return Counted(turns=number, malformed=len(turns.refused), output=output, ended=reader.ended)


def decode(path: Path, workers: int) -> Result:
    """Decode and check a file."""
    with range_executor([path], workers=workers) as executor:
        began = time.perf_counter()
        parts = list(read_ranges(path, executor, count_range))
        wall = time.perf_counter() - began
    return {
        "wall": wall,
        "turns": sum(part.turns for part in parts),
        "malformed": sum(part.malformed for part in parts),
        "output": sum(part.output for part in parts),
    }


def structure(path: Path, _workers: int) -> Result:
    """Parse every line without any check, and look at one field."""
    try:
        simdjson: Any = importlib.import_module("simdjson")
    except ImportError:
        return {}
    parser = simdjson.Parser()
    began, output = time.perf_counter(), 0
    with path.open("rb") as file:
        for line in file:
            try:
                output += len(parser.parse(line)["sessionId"])
            except ValueError:
                continue
    return {"wall": time.perf_counter() - began}


def sums(path: Path, workers: int) -> Result:
    """Sum a file up, as `evenhand stats` does."""
    began = time.perf_counter()
    with range_executor([path], workers=workers) as executor:
        from analysis.turn_sums import begun, sum_files

        parts = begun(sum_files([path], executor, None))
        from analysis.turn_stats import report

        whole = report(parts).whole
    return {
        "wall": time.perf_counter() - began,
        "turns": whole.turns,
        "malformed": whole.malformed,
        "output": whole.totals.output if whole.totals else -1,
    }


def table(path: Path, workers: int) -> Result:
    """Load a file into a new warehouse whose trials declare its sessions, then read the nine views."""
    from analysis.audit import audit
    from analysis.evidence import Evidence, read_evidence
    from analysis.evidence.sessions import DeclaredSession
    from analysis.turn_store import TurnLoad, TurnSource, load_turns
    from analysis.warehouse import load

    study = path.with_name("demo")
    evidence = read_evidence([study]) if study.is_dir() else Evidence(trials=())
    names = [trial.trial_id for trial in evidence.trials]
    sessions = [
        DeclaredSession(trial_id=names[number % len(names)], session_id=session_of(number), source="task", unique=True)
        for number in range(40_000 if names else 0)
    ]
    source = TurnSource(study="s", files=[TurnFile(path=path, where=path.name)], sessions=sessions, workers=workers)
    done: list[TurnLoad] = []
    db = path.with_name("turns.duckdb")
    db.unlink(missing_ok=True)
    began = time.perf_counter()
    load(audit(evidence, ()), study="s", path=db, policy={}, then=lambda new: done.append(load_turns(new, source)))
    wall = time.perf_counter() - began
    return {
        "wall": wall,
        "turns": done[0].total_turns,
        "malformed": done[0].refused,
        "joined": done[0].joined_turns,
        "db_mb": db.stat().st_size / 2**20,
    }


def views(path: Path, _workers: int) -> Result:
    """Read the nine views of the warehouse that `table` left, one after the other; take the file away."""
    from analysis.warehouse import DIMENSION_VIEWS, fetch, open_read_only

    db = path.with_name("turns.duckdb")
    with open_read_only(db) as connection:
        began = time.perf_counter()
        for view in DIMENSION_VIEWS:
            fetch(connection, f"select * from {view}")  # noqa: S608  # a name of ours
        wall = time.perf_counter() - began
    db.unlink()
    return {"wall": wall}


PARTS: dict[str, Callable[[Path, int], Result]] = {
    "decode": decode,
    "structure": structure,
    "sums": sums,
    "table": table,
    "views": views,
}


def part(name: str, path: Path, workers: int = 1) -> Result:
    """Run one part in a process of its own; return its figures, processor seconds and largest memory among them."""
    command = [sys.executable, "-m", "benchmarks.bench_turns", name, str(path), str(workers)]
    done = subprocess.run(command, cwd=HERE.parent, capture_output=True, text=True, check=True)
    found: Result = json.loads(done.stdout)
    return found


def node(path: Path) -> Result:
    """Run the Node reader."""
    command = ["node", "--max-old-space-size=4096", str(HERE / "turn_reader.mjs"), str(path)]
    found: Result = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return found


def least(runs: Sequence[Result]) -> Result:
    """Return the least of each figure over several runs, the largest of memory: other work only ever adds time."""
    return {name: (max if name == "rss" else min)(run[name] for run in runs) for name in runs[0]}


def bound(words: str, value: float, *, at_least: float | None = None, at_most: float | None = None) -> bool:
    """Print a figure beside its bound; say whether it is kept."""
    kept = (at_least is None or value >= at_least) and (at_most is None or value <= at_most)
    limit = f"at least {at_least}" if at_least is not None else f"at most {at_most}"
    print(f"  {words:<66} {value:8.2f}   {limit:<14} {'kept' if kept else 'BROKEN'}", flush=True)
    return kept


def main(lines: int) -> int:
    """Generate, measure, compare; return how many bounds are broken."""
    with tempfile.TemporaryDirectory(prefix="evenhand-bench-") as folder:
        path, tenth = Path(folder) / "turns.jsonl", Path(folder) / "tenth" / "turns.jsonl"
        tenth.parent.mkdir()
        write_turns(path, lines)
        write_turns(tenth, lines // 10)
        demo = [sys.executable, "-m", "evenhand", "demo", "--out", str(Path(folder) / "demo"), "--tasks", "100"]
        subprocess.run([*demo, "--attempts", "5"], cwd=HERE.parent, check=True, capture_output=True)
        print(f"{lines:,} lines, {path.stat().st_size / 1e6:,.0f} MB, {os.cpu_count()} processors")
        return _measure(path, tenth, lines)


def _rounds(path: Path, tenth: Path) -> dict[str, Result]:
    """Run every part several times, in turn, so that what else the machine does touches all of them alike."""
    runs: dict[str, list[Result]] = {}
    steps: dict[str, Callable[[], Result]] = {
        **({"node": lambda: node(path)} if shutil.which("node") else {}),
        "one": lambda: part("decode", path),
        "two": lambda: part("decode", path, 2),
        "parsed": lambda: part("structure", path),
        "summed": lambda: part("sums", path, 2),
        "loaded": lambda: part("table", path, 2),
        "viewed": lambda: part("views", path),
        "one tenth": lambda: part("decode", tenth),
        "loaded tenth": lambda: part("table", tenth, 2),
    }
    for _ in range(ROUNDS):
        for name, step in steps.items():
            runs.setdefault(name, []).append(step())
    return {name: least(found) for name, found in runs.items()}


def _measure(path: Path, tenth: Path, lines: int) -> int:
    best = _rounds(path, tenth)
    one, two, loaded, summed = (best[name] for name in ("one", "two", "loaded", "summed"))
    peer = best.get("node")
    for found in (two, summed, *([peer] if peer else [])):
        if any(found[name] != one[name] for name in ("turns", "malformed", "output")):
            print(f"the readers disagree: {found} and {one}")
            return 1
    for name, found in best.items():
        times = f"{found.get('wall', 0):6.2f} s wall, {found['cpu']:6.2f} s CPU"
        print(f"  {name:<14} {times}, {found['rss']:4.0f} MB a process")
    linear, linear_load = one["cpu"] / best["one tenth"]["cpu"], loaded["wall"] / best["loaded tenth"]["wall"]
    kept = [
        bound("memory of a decoding process, MB", max(one["rss"], two["rss"]), at_most=64),
        bound("memory of a loading process, MB", loaded["rss"], at_most=250),
        bound("nine views, seconds per million turns", best["viewed"]["wall"] * 1e6 / lines, at_most=1),
        bound("ten times the lines, decode: times the time", linear, at_most=10.5),
        bound("ten times the lines, table: times the time", linear_load, at_most=10.5),
    ]
    if "wall" in best["parsed"]:
        ratio = one["cpu"] / best["parsed"]["cpu"]
        kept.append(bound("decode over a structural parse without checks", ratio, at_most=3))
    else:
        print("  pysimdjson is not installed: no ratio to it in this run")
    if peer is None:
        print("  node is not installed: no ratio to it in this run")
    else:
        kept += [
            bound("node over decode, a core's time", peer["cpu"] / one["cpu"], at_least=1.5),
            bound("node over decode, wall time on two processes", peer["wall"] / two["wall"], at_least=3),
            bound("file to tables over node, wall time", loaded["wall"] / peer["wall"], at_most=1.3),
            bound("node over stats, wall time", peer["wall"] / summed["wall"], at_least=2),
        ]
    return kept.count(False)


def _alone(arguments: list[str]) -> None:
    name, path, workers = arguments
    found = PARTS[name](Path(path), int(workers))
    cpu = sum(time_of.ru_utime + time_of.ru_stime for time_of in map(resource.getrusage, USED))
    largest = max(resource.getrusage(who).ru_maxrss for who in USED)
    print(json.dumps({**found, "cpu": cpu, "rss": largest / (2**20 if sys.platform == "darwin" else 2**10)}))


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in PARTS:
        _alone(sys.argv[1:])
    else:
        sys.exit(1 if main(int(sys.argv[1]) if sys.argv[1:] else LINES) else 0)
