"""The only place for what the coverage study leaves: tables, a picture and a summary, the same bytes each time."""

import csv
import dataclasses
import io
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.statistics.interval_methods import DEFAULT_INTERVAL_REPEATED, DEFAULT_INTERVAL_SINGLE
from benchmarks.coverage_repeated import NullRow, Row
from benchmarks.coverage_single import TASKS, Cell, NullCell, wrongly_superior

GOAL = 0.94
MOST_WRONG = 0.04
# Hardly anybody would call less an effect: the chance of a wrong "superior" falls as it rises.
SMALL_EFFECT = 0.005
LOWEST_DRAWN = 0.6
PARSE: Mapping[object, Callable[[str], object]] = {str: str, int: int, float: float}

Made = TypeVar("Made", Cell, NullCell, Row, NullRow)
SHOWN_SINGLE = ("tango", "bonett_price", "fay_lumbard", "agresti_min", "wald", "percentile")
CANDIDATES = ("task_score", "pseudo_task_t", "mj_floor")
SHOWN_REPEATED = (*CANDIDATES, "task_t", "percentile", "fixed_suite")


class Measured(Protocol):
    """What a cell and a row have in common."""

    @property
    def method(self) -> str: ...
    @property
    def coverage(self) -> float: ...
    @property
    def above(self) -> float: ...
    @property
    def below(self) -> float: ...
    @property
    def width(self) -> float: ...


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """Everything that was measured."""

    enumerated: tuple[Cell, ...]
    enumerated_null: tuple[NullCell, ...]
    simulated: tuple[Row, ...]
    simulated_null: tuple[NullRow, ...]
    agreeing: tuple[Row, ...]


def write(study: Study, *, into: Path) -> None:
    """Write the tables, and the picture and the summary that follow from them."""
    into.mkdir(parents=True, exist_ok=True)
    for field in dataclasses.fields(study):
        (into / f"{field.name}.csv").write_text(_table(getattr(study, field.name)), encoding="utf-8")
    rounded = read(into)
    (into / "coverage.svg").write_text(picture(rounded), encoding="utf-8")
    (into / "README.md").write_text(summary(rounded), encoding="utf-8")


def read(folder: Path) -> Study:
    """Return the study that the tables hold, to the digits they hold it with."""
    return Study(
        enumerated=_rows(folder / "enumerated.csv", Cell),
        enumerated_null=_rows(folder / "enumerated_null.csv", NullCell),
        simulated=_rows(folder / "simulated.csv", Row),
        simulated_null=_rows(folder / "simulated_null.csv", NullRow),
        agreeing=_rows(folder / "agreeing.csv", Row),
    )


def _rows(path: Path, kind: type[Made]) -> tuple[Made, ...]:
    make: Callable[..., Made] = kind
    fields = [(field.name, PARSE[field.type]) for field in dataclasses.fields(kind)]
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(make(**{name: parse(row[name]) for name, parse in fields}) for row in csv.DictReader(file))


def _table(rows: Sequence[Cell] | Sequence[NullCell] | Sequence[Row] | Sequence[NullRow]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([field.name for field in dataclasses.fields(rows[0])])
    for row in rows:
        values = [getattr(row, field.name) for field in dataclasses.fields(row)]
        writer.writerow([f"{value:.5f}" if isinstance(value, float) else value for value in values])
    return out.getvalue()


def picture(study: Study) -> str:
    with rc_context({"svg.hashsalt": "evenhand-coverage", "svg.fonttype": "none", "font.size": 8}):
        figure = Figure(figsize=(9, 10), layout="constrained")
        axes = figure.subplots(3, 2, sharey="row")
        for ax, n in zip(axes[0], (24, 89), strict=True):
            _draw_enumerated(ax, [cell for cell in study.enumerated if cell.n == n and cell.trials == 1], n=n)
        for ax, n in zip(axes[1], (24, 89), strict=True):
            rows = [row for row in study.simulated if row.n == n]
            _draw_simulated(ax, rows, methods=SHOWN_REPEATED, title=f"several trials, {n} tasks: scenarios and designs")
        for ax, n in zip(axes[2], (24, 89), strict=True):
            rows = [row for row in study.agreeing if row.n == n]
            _draw_simulated(ax, rows, methods=CANDIDATES, title=f"trials that nearly always agree, {n} tasks")
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def _draw_enumerated(ax: Axes, cells: Sequence[Cell], *, n: int) -> None:
    for method in SHOWN_SINGLE:
        worst: dict[float, float] = defaultdict(lambda: 1.0)
        for cell in cells:
            if cell.method == method:
                worst[cell.discordance] = min(worst[cell.discordance], cell.coverage)
        ax.plot(list(worst), list(worst.values()), marker="o", markersize=3, label=method)
    ax.axhline(GOAL, color="black", linewidth=0.6, linestyle="--")
    ax.set(ylim=(LOWEST_DRAWN, 1.005), xlabel="chance that a task is discordant", title=f"one trial, {n} tasks")
    ax.set_ylabel("lowest coverage of a 95 % interval")
    ax.legend(fontsize=7)


def _draw_simulated(ax: Axes, rows: Sequence[Row], *, methods: Sequence[str], title: str) -> None:
    for place, method in enumerate(methods):
        values = [row.coverage for row in rows if row.method == method]
        offset = np.linspace(-0.3, 0.3, len(values))
        ax.plot(place + offset, values, marker="o", markersize=3, linestyle="none", label=method)
    ax.axhline(GOAL, color="black", linewidth=0.6, linestyle="--")
    ax.set_xticks(range(len(methods)), methods, rotation=15)
    ax.set(ylim=(LOWEST_DRAWN, 1.005), title=title)
    ax.set_ylabel("coverage of a 95 % interval")


INTRODUCTION = """# Coverage of the success intervals

Generated by `make coverage`; do not edit. `above` is the chance that the whole 95 % interval lies above the truth: with
the true difference at the minimum effect, or at minus the margin, it is the chance of a wrong "superior" or
"non-inferior". `below` is its mirror image. Points under .6 are not drawn.

![coverage](coverage.svg)
"""
SINGLE = f"""## One trial per task, enumerated

Every 2x2 table at 24 and 89 tasks, discordance .02 to .5, difference -.3 to .3. Default: `{DEFAULT_INTERVAL_SINGLE}`.
"""
REPEATED = f"""## Several trials per task, simulated

Eight scenarios, five designs, 24 and 89 tasks; replicates are in `simulated.csv`. `fixed_suite` is held against the
truth of each suite, the others against that of similar tasks. Default: `{DEFAULT_INTERVAL_REPEATED}`.
"""
AGREEING = f"""## Several trials that always agree, enumerated

The hardest case for repeated trials: repeating a task adds nothing. The columns on the right are about the cells that
fall under {GOAL}, and how surely the low-discordance warning is printed there. `one-sided, most` is the greater of
`above` and `below` over all cells.
"""
NEARLY = """## Several trials that nearly always agree, simulated

The same grid, three and five trials, where each trial goes the other way with a chance of .01, .03 or .1. Differences
below zero mirror those above and are left out. Rows are in `agreeing.csv`.
"""
TYPE_ONE = """## Type I error of the sign-flip test at .05
"""


def summary(study: Study) -> str:
    single = [cell for cell in study.enumerated if cell.trials == 1]
    agreeing = [cell for cell in study.enumerated if cell.trials > 1]
    parts = (
        INTRODUCTION,
        SINGLE,
        _by_method(single),
        REPEATED,
        _by_method(study.simulated),
        AGREEING,
        _agreeing(agreeing),
        NEARLY,
        _by_method(study.agreeing),
        TYPE_ONE,
        _type_one(study),
        _decision(study),
    )
    return "\n".join(parts)


def _by_method(rows: Sequence[Cell] | Sequence[Row]) -> str:
    lines = ["| method | tasks | lowest | mean | width | above, mean | above, most | below, most |", "|" + "---|" * 8]
    for method in dict.fromkeys(row.method for row in rows):
        for n in sorted({row.n for row in rows}):
            found = [row for row in rows if row.method == method and row.n == n]
            lines.append(f"| {method} | {n} | {_figures(found)} |")
    return "\n".join(lines) + "\n"


def _figures(rows: Sequence[Measured]) -> str:
    coverage, above = [row.coverage for row in rows], [row.above for row in rows]
    figures = (
        min(coverage),
        float(np.mean(coverage)),
        float(np.mean([row.width for row in rows])),
        float(np.mean(above)),
        max(above),
        max(row.below for row in rows),
    )
    return " | ".join(f"{figure:.4f}" for figure in figures)


def _agreeing(cells: Sequence[Cell]) -> str:
    lines = [
        "| method | trials | tasks | lowest | one-sided, most | cells | of them under | least chance of a warning |",
        "|" + "---|" * 8,
    ]
    for method, trials, n in dict.fromkeys((cell.method, cell.trials, cell.n) for cell in cells):
        found = [cell for cell in cells if (cell.method, cell.trials, cell.n) == (method, trials, n)]
        under = [cell for cell in found if cell.coverage < GOAL]
        warned = f"{min(cell.warned for cell in under):.3f}" if under else "none needed"
        lowest = min(cell.coverage for cell in found)
        wrong = max(_one_sided(cell) for cell in found)
        lines.append(
            f"| {method} | {trials} | {n} | {lowest:.4f} | {wrong:.4f} | {len(found)} | {len(under)} | {warned} |"
        )
    return "\n".join(lines) + "\n"


def _type_one(study: Study) -> str:
    lines = ["| trials | test | tasks | most |", "|---|---|---|---|"]
    for test, n in dict.fromkeys((cell.test, cell.n) for cell in study.enumerated_null):
        most = max(cell.type_one for cell in study.enumerated_null if (cell.test, cell.n) == (test, n))
        lines.append(f"| one | {test} | {n} | {most:.4f} |")
    for n in dict.fromkeys(row.n for row in study.simulated_null):
        rows = [row for row in study.simulated_null if row.n == n]
        lines.append(f"| several | exact | {n} | {max(row.exact for row in rows):.4f} |")
        lines.append(f"| several | mid_p | {n} | {max(row.mid_p for row in rows):.4f} |")
    return "\n".join(lines) + "\n"


def _decision(study: Study) -> str:
    default = DEFAULT_INTERVAL_REPEATED
    ours = [row for row in study.simulated if row.method == default]
    null = max(row.above_zero for row in ours if row.scenario.startswith("A/A"))
    wider = " and ".join(
        f"{_wider(study, than=rival):+.1f} % against `{rival}`" for rival in CANDIDATES if rival != default
    )
    superior = " and ".join(
        f"{wrongly_superior(DEFAULT_INTERVAL_SINGLE, n=n, minimum_effect=SMALL_EFFECT):.2%} ({n} tasks)" for n in TASKS
    )
    return f"""## What was decided

Three intervals were candidates for several trials. `wrong` counts settings whose one-sided error is above {MOST_WRONG},
`under` those whose coverage is below {GOAL}; the goal is none of either.

{_candidates(study)}
- `{default}` is the default. Its mean width in the simulated settings is {wider}.
  Where trials always agree it is `{DEFAULT_INTERVAL_SINGLE}` itself, and the others are narrower there because they
  claim too much.
- Its one-sided error, averaged over the grid, is {_mean_wrong(study, default)}.
- An A/A comparison is called better than zero in at most {null:.2%} of simulated studies of several trials; with equal
  arms at most {_above_zero(study, several=False):.2%} of one-trial studies (`{DEFAULT_INTERVAL_SINGLE}`, enumerated),
  and at most {_above_zero(study, several=True):.2%} of those where several trials always agree. Superior needs the
  minimum effect too: with one of {SMALL_EFFECT:.1%} two equal arms are called superior in at most {superior}.
- `pseudo_task_t` and `mj_floor` can still be named by a plan. Where they are wrong too often, the low-discordance
  warning is not always printed: in as few as {_least_warned(study):.1%} of studies of one setting.
"""


def _candidates(study: Study) -> str:
    """Return, for each candidate and each part of the study, how many settings miss a goal and the worst error."""
    parts: dict[str, Sequence[Cell] | Sequence[Row]] = {
        "simulated": study.simulated,
        "always agree": [cell for cell in study.enumerated if cell.trials > 1],
        "nearly agree": study.agreeing,
    }
    heads = "".join(f" {part}: wrong | under | most |" for part in parts)
    lines = [f"| method |{heads}", "|" + "---|" * (1 + 3 * len(parts))]
    lines += [f"| {method} |" + "".join(_misses(_of(rows, method)) for rows in parts.values()) for method in CANDIDATES]
    return "\n".join(lines) + "\n"


def _misses(rows: Sequence[Measured]) -> str:
    wrong = [_one_sided(row) for row in rows]
    over, under = sum(most > MOST_WRONG for most in wrong), sum(row.coverage < GOAL for row in rows)
    return f" {over} of {len(wrong)} | {under} | {max(wrong, default=0.0):.4f} |"


def _mean_wrong(study: Study, method: str) -> str:
    """Return the mean one-sided error of each part, both sides together."""
    agreeing = [cell for cell in study.enumerated if cell.trials > 1]
    parts: dict[str, Sequence[Cell] | Sequence[Row]] = {
        "simulated": study.simulated,
        "trials always agree": agreeing,
        "nearly agree": study.agreeing,
    }
    return ", ".join(f"{_mean_side(_of(rows, method)):.4f} ({part})" for part, rows in parts.items())


def _mean_side(rows: Sequence[Measured]) -> float:
    return float(np.mean([side for row in rows for side in (row.above, row.below)])) if rows else 0.0


def _wider(study: Study, *, than: str) -> float:
    """Return by how many percent the default is wider in the simulated settings; negative when it is narrower."""
    ours, theirs = _of(study.simulated, DEFAULT_INTERVAL_REPEATED), _of(study.simulated, than)
    return 100 * (_width(ours) / _width(theirs) - 1)


def _least_warned(study: Study) -> float:
    """Return the least chance of a warning where a candidate that is not the default is wrong too often."""
    cells = [cell for cell in study.enumerated if cell.trials > 1 and cell.method != DEFAULT_INTERVAL_REPEATED]
    return min(
        (cell.warned for cell in cells if cell.method in CANDIDATES and _one_sided(cell) > MOST_WRONG), default=1
    )


def _above_zero(study: Study, *, several: bool) -> float:
    """Return the greatest chance, over enumerated cells of equal arms, that the default interval lies above zero."""
    method = DEFAULT_INTERVAL_REPEATED if several else DEFAULT_INTERVAL_SINGLE
    cells = [cell for cell in study.enumerated if cell.method == method and (cell.trials > 1) == several]
    return max((cell.above for cell in cells if cell.difference == 0), default=0.0)


def _one_sided(row: Measured) -> float:
    return max(row.above, row.below)


def _of(rows: Iterable[Measured], method: str) -> list[Measured]:
    return [row for row in rows if row.method == method]


def _width(rows: Sequence[Measured]) -> float:
    return float(np.mean([row.width for row in rows]))
