"""The only place for the coverage study as a whole: `python -m benchmarks.coverage` writes docs/coverage.

It takes about ten minutes on one core and gives the same bytes every time.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks import coverage_agreeing, coverage_repeated, coverage_single
from benchmarks.coverage_report import Study, read, write

SEED = 20_261_130
REPLICATES = 20_000
SLOW_REPLICATES = 4_000
AGREEING_STREAM = 1
AGREEING_TRIALS = (3, 5)
AGREEING_METHODS = ("task_score", "pseudo_task_t", "mj_floor", "yang_score")


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/coverage"))
    parser.add_argument("--replicates", type=int, default=REPLICATES)
    parser.add_argument("--slow-replicates", type=int, default=SLOW_REPLICATES)
    parser.add_argument("--from-tables", action="store_true", help="draw and summarise the tables that are there")
    options = parser.parse_args()
    if options.from_tables:
        write(read(options.out), into=options.out)
        return
    study = measure(replicates=options.replicates, slow_replicates=options.slow_replicates)
    write(study, into=options.out)


def measure(*, replicates: int, slow_replicates: int, tasks: tuple[int, ...] = coverage_single.TASKS) -> Study:
    """Return everything the study measures."""
    rows: list[coverage_repeated.Row] = []
    null_rows: list[coverage_repeated.NullRow] = []
    settings = coverage_repeated.settings()
    for place, setting in enumerate(settings):
        if setting.n in tasks:
            # One stream per setting, so that a setting keeps its numbers when another is added.
            rng = np.random.default_rng([SEED, place])
            studies = coverage_repeated.simulate(setting, replicates=replicates, rng=rng)
            rows += coverage_repeated.rows(studies, setting, slow_replicates=min(slow_replicates, replicates))
            if setting.scenario.difference == 0:
                null_rows.append(coverage_repeated.type_one(studies, setting))
            print(f"{place + 1}/{len(settings)} {setting.scenario.name}, {setting.design.name}", file=sys.stderr)
    return Study(
        enumerated=tuple(_enumerated(tasks)),
        enumerated_null=tuple(
            cell for n in tasks for test in coverage_single.TESTS for cell in coverage_single.type_one(test, n=n)
        ),
        simulated=tuple(rows),
        simulated_null=tuple(null_rows),
        agreeing=tuple(_agreeing(tasks, replicates=replicates)),
    )


def _agreeing(tasks: tuple[int, ...], *, replicates: int) -> Iterator[coverage_repeated.Row]:
    for place, setting in enumerate(coverage_agreeing.settings()):
        if setting.n in tasks:
            rng = np.random.default_rng([SEED, AGREEING_STREAM, place])
            yield from coverage_agreeing.rows(setting, replicates=replicates, rng=rng)


def _enumerated(tasks: tuple[int, ...]) -> Iterator[coverage_single.Cell]:
    for n in tasks:
        for method in coverage_single.methods(trials=1):
            yield from coverage_single.coverage(method, n=n)
    for n in tasks:
        for trials in AGREEING_TRIALS:
            for method in AGREEING_METHODS:
                yield from coverage_single.coverage(method, n=n, trials=trials)


if __name__ == "__main__":
    main()
