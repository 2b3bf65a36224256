"""The only place for the coverage study of cost, latency, looks and frontiers as a whole.

`python -m benchmarks.coverage_resources` writes docs/coverage/resources.csv and resources.md, takes about half an hour
on one core, and gives the same bytes every time.
"""

import argparse
import csv
import io
import sys
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.random import Generator

from benchmarks.coverage_cost import cost_rows
from benchmarks.coverage_frontier import frontier_rows
from benchmarks.coverage_latency import CLOCKS, latency_rows, quantile_rows
from benchmarks.coverage_looks import look_rows, sequence_rows
from benchmarks.coverage_rates import ATTEMPTS, TASKS, Row, Size
from benchmarks.resource_worlds import NULLS, WORLDS

SEED = 20_261_130
REPLICATES = 20_000
SLOW_REPLICATES = 5_000

INTRODUCTION = """\
# Coverage of cost, latency, looks and frontiers

Made by `python -m benchmarks.coverage_resources`; every row is in `resources.csv`. The simulation error is the standard
error of a rate, sqrt(rate (1 - rate) / replicates), given after the ±. A goal is met within it: the rate is no worse
than the goal by more than two standard errors. The worst world of each measure is shown.

Worlds (`benchmarks/resource_worlds.py`): difficulty is Beta; the treatment has a logit advantage that varies by task; a
trial's cost is lognormal, grows with difficulty and is 1.5 times as high when unsolved. In `heavy_costs` a trial's log
cost has standard deviation 1.2: the paired ratio must meet its goal there too, one arm's interval is shown without one.
Durations are lognormal over tasks (0.8) and inside them (0.5). Null worlds have two equal harnesses."""


class Measure(Protocol):
    """Yields the rows of one simulation."""

    def __call__(self, size: Size, /, *, rng: Generator) -> Iterator[Row]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One simulation to run: what, how large, and whether each study takes milliseconds instead of microseconds."""

    name: str
    n_tasks: int
    attempts: int
    slow: bool
    measure: Measure


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/coverage"))
    parser.add_argument("--replicates", type=int, default=REPLICATES)
    parser.add_argument("--slow-replicates", type=int, default=SLOW_REPLICATES)
    options = parser.parse_args()
    text = table(measure(replicates=options.replicates, slow_replicates=options.slow_replicates))
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "resources.csv").write_text(text, encoding="utf-8")
    # The page is made from the table's digits, so that whoever has the table can make it again.
    (options.out / "resources.md").write_text(summary(read_table(text)), encoding="utf-8")


def measure(*, replicates: int, slow_replicates: int) -> tuple[Row, ...]:
    """Return every row of the study."""
    rows: list[Row] = []
    every = settings()
    for place, setting in enumerate(every):
        # One stream per setting, so that a setting keeps its numbers when another is added.
        rng = np.random.default_rng([SEED, place])
        count = slow_replicates if setting.slow else replicates
        size = Size(n_tasks=setting.n_tasks, attempts=setting.attempts, replicates=count)
        rows += setting.measure(size, rng=rng)
        print(f"{place + 1}/{len(every)} {setting.name}, {setting.n_tasks} x {setting.attempts}", file=sys.stderr)
    return tuple(rows)


def settings() -> tuple[Setting, ...]:
    """Return every simulation of the study, in order."""
    sizes = [(n, k) for n in TASKS for k in ATTEMPTS]
    quick = [(f"cost {world.name}", partial(cost_rows, world)) for world in WORLDS]
    quick += [(f"latency {clock.name}", partial(latency_rows, clock)) for clock in CLOCKS]
    slow = [(f"quantiles {clock.name}", partial(quantile_rows, clock)) for clock in CLOCKS]
    slow += [(f"frontier {world.name}", partial(frontier_rows, world)) for world in NULLS[:2]]
    looks = [(f"looks {world.name}", partial(look_rows, world)) for world in NULLS]
    sequences = [(f"sequences {world.name}", partial(sequence_rows, world)) for world in NULLS]
    return (
        *_cross(quick, sizes, slow=False),
        *_cross(slow, sizes, slow=True),
        *_cross(looks, [(n, 3) for n in TASKS], slow=False),
        *_cross(sequences, [(n, 1) for n in TASKS], slow=True),
    )


def _cross(named: Sequence[tuple[str, Measure]], sizes: list[tuple[int, int]], *, slow: bool) -> list[Setting]:
    return [
        Setting(name=name, n_tasks=n, attempts=k, slow=slow, measure=measure)
        for name, measure in named
        for n, k in sizes
    ]


def table(rows: Sequence[Row]) -> str:
    """Return the rows as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([field.name for field in fields(Row)])
    for row in rows:
        writer.writerow([f"{value:.5f}" if isinstance(value, float) else value for value in astuple(row)])
    return out.getvalue()


def read_table(text: str) -> tuple[Row, ...]:
    """Return the rows of a table as it was written."""
    return tuple(
        Row(
            study=line["study"],
            world=line["world"],
            n_tasks=int(line["n_tasks"]),
            attempts=int(line["attempts"]),
            measure=line["measure"],
            replicates=int(line["replicates"]),
            rate=float(line["rate"]),
            standard_error=float(line["standard_error"]),
            goal=line["goal"],
            met=line["met"],
        )
        for line in csv.DictReader(io.StringIO(text))
    )


def summary(rows: Sequence[Row]) -> str:
    """Return the rows as a page: per measure the worst rate at each size, and whether every goal is met."""
    judged = [row for row in rows if row.goal]
    missed = [row for row in judged if row.met == "NO"]
    lines = [
        *INTRODUCTION.splitlines(),
        "",
        f"{len(judged) - len(missed)} of {len(judged)} rates meet their goal.",
        "",
        *_within_error([row for row in judged if row.met == "yes"]),
        "| study | measure | tasks x trials | worst rate | world | goal | met |",
        "|---|---|---|---|---|---|---|",
        *(_line(row) for row in _worst(judged)),
        "",
        "## Shown without a goal",
        "",
        "| study | measure | lowest rate | highest rate |",
        "|---|---|---|---|",
        *_ranges([row for row in rows if not row.goal]),
    ]
    return "\n".join(lines) + "\n"


def _within_error(rows: Sequence[Row]) -> list[str]:
    """Return the rates that meet their goal only because a simulation has an error, and how far they are from it."""
    short = [(row, errors) for row in rows if (errors := _errors_short(row)) > 0]
    if not short:
        return ["Each of them does so by the rate itself.", ""]
    return [
        f"{len(short)} of them do so only within the simulation error; goal and rate differ by:",
        "",
        "| study | measure | tasks x trials | world | goal | rate | standard error | replicates | apart |",
        "|---|---|---|---|---|---|---|---|---|",
        *(
            f"| {row.study} | {row.measure} | {row.n_tasks} x {row.attempts} | {row.world} | {row.goal} "
            f"| {row.rate:.5f} | {row.standard_error:.5f} | {row.replicates} | {errors:.2f} standard errors |"
            for row, errors in short
        ),
        "",
    ]


def _errors_short(row: Row) -> float:
    """Return by how many standard errors a rate is worse than its goal; negative when it is better."""
    side, goal = row.goal.split()
    short = float(goal) - row.rate if side == ">=" else row.rate - float(goal)
    return short / row.standard_error if short > 0 else -1.0


def _ranges(rows: Sequence[Row]) -> list[str]:
    """Return, for each measure without a goal, its range over worlds and sizes."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.study, row.measure), []).append(row)
    lines = []
    for (study, measure), group in groups.items():
        ends = [choose(group, key=lambda row: row.rate) for choose in (min, max)]
        cells = " | ".join(f"{row.rate:.3f} ({row.world}, {row.n_tasks} x {row.attempts})" for row in ends)
        lines.append(f"| {study} | {measure} | {cells} |")
    return lines


def _worst(rows: Sequence[Row]) -> list[Row]:
    """Return, for each measure and size, the row furthest on the wrong side."""
    worst: dict[tuple[str, str, int, int], Row] = {}
    for row in rows:
        key = row.study, row.measure, row.n_tasks, row.attempts
        badness = -row.rate if row.goal.startswith(">=") else row.rate
        if key not in worst or badness > (-worst[key].rate if row.goal.startswith(">=") else worst[key].rate):
            worst[key] = row
    return list(worst.values())


def _line(row: Row) -> str:
    size = f"{row.n_tasks} x {row.attempts}"
    rate = f"{row.rate:.3f} ± {row.standard_error:.3f}"
    return f"| {row.study} | {row.measure} | {size} | {rate} | {row.world} | {row.goal} | {row.met} |"


if __name__ == "__main__":
    main()
