"""The only place for pictures: deterministic SVG, drawn from a decision, readable without colour.

Same decision, same bytes: no date, no random identities, text kept as text, no version of the drawing library. Every
picture carries the labels of its decision in its title and has a sentence that says what it shows; the data stand in
a table of the report.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from analysis.decision import ArmSummary, Decision, TaskRow, Total
from reports import numbers
from reports.drawing import CONTROL, INK, TREATMENT, Picture, canvas, picture_of, title_of
from reports.figure_clocks import clocks_picture
from reports.figure_frontier import frontier_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_EFFECT_BAND, _MARGIN_BAND = "#e6e6e6", "#fbe3d3"
_ROWS_PER_PANEL = 45


def draw(decision: Decision) -> tuple[Picture, ...]:
    """Draw every figure for which there are data: difference, tasks, totals, frontier, clocks."""
    drawn = (
        _difference(decision),
        _tasks(decision),
        _totals(decision),
        frontier_picture(decision),
        clocks_picture(decision),
    )
    return tuple(picture for picture in drawn if picture is not None)


def _difference(decision: Decision) -> Picture:
    title = title_of(decision, "Difference in share solved")
    with canvas(height=1.5 + 0.28 * (1 + len(decision.extra_intervals)), title=title) as figure:
        axes = figure.subplots()
        _bands(axes, decision)
        _estimates(axes, decision)
        axes.axvline(0, color=INK, linewidth=0.9)
        low, high = axes.get_xlim()
        reach = max(abs(low), abs(high))
        axes.set_xlim(-reach, reach)
        axes.set_xlabel(
            f"percentage points; left of 0 {_short(decision.control.name)} solved more, "
            f"right of 0 {_short(decision.treatment.name)}"
        )
        axes.xaxis.set_major_formatter(lambda value, _: numbers.signed(round(value, 6)))
        axes.set_title(title, loc="left")
        if axes.get_legend_handles_labels()[0]:
            figure.legend(loc="outside lower left", frameon=False, ncols=2)
        return picture_of(figure, "difference", title=title, alternative=_difference_words(decision))


def _bands(axes: "Axes", decision: Decision) -> None:
    if decision.minimum_effect is not None:
        reach = decision.minimum_effect * 100
        label = f"below the minimum effect ({numbers.threshold(decision.minimum_effect)})"
        axes.axvspan(-reach, reach, color=_EFFECT_BAND, linewidth=0, label=label)
    if decision.noninferiority_margin is not None:
        margin = decision.noninferiority_margin * 100
        label = f"non-inferiority margin (\u2212{numbers.threshold(decision.noninferiority_margin)})"
        axes.axvline(-margin, color=CONTROL, linewidth=1.2, linestyle=(0, (4, 2)), label=label)


def _estimates(axes: "Axes", decision: Decision) -> None:
    intervals = ((decision.interval,) if decision.interval else ()) + decision.extra_intervals
    centre = decision.difference * 100
    names = [f"{numbers.level(one.level)} {one.method.replace('_', ' ')}" for one in intervals] or ["no interval"]
    for row, one in enumerate(intervals):
        axes.plot([one.low * 100, one.high * 100], [row, row], color=TREATMENT, linewidth=2 if row == 0 else 1.2)
    for row in range(len(names)):
        axes.plot([centre], [row], marker="o" if row == 0 else "D", color=TREATMENT, markersize=6 if row == 0 else 4)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _difference_words(decision: Decision) -> str:
    one = decision.interval
    said = numbers.points(decision.difference)
    where = (
        "no interval" if one is None else f"{numbers.level(one.level)} interval {numbers.interval(one.low, one.high)}"
    )
    return f"Difference in share solved, {decision.treatment.name} minus {decision.control.name}: {said}, {where}."


def _tasks(decision: Decision) -> Picture | None:
    rows = sorted(decision.tasks, key=lambda row: (-row.difference, row.task))
    if not rows:
        return None
    panels = _panels(rows)
    deepest = max(len(panel) for panel in panels)
    title = title_of(decision, "Share solved, task by task")
    with canvas(height=1.0 + 0.165 * deepest, title=title) as figure:
        columns = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, panel in zip(columns, panels, strict=True):
            _dumbbells(axes, panel, deepest)
        columns[0].set_title(title, loc="left")
        handles, labels = columns[0].get_legend_handles_labels()
        names = {"treatment": _short(decision.treatment.name), "control": _short(decision.control.name)}
        figure.legend(
            handles[::-1], [names[one] for one in labels[::-1]], loc="outside lower center", frameon=False, ncols=2
        )
        return picture_of(figure, "tasks", title=title, alternative=_tasks_words(decision))


def _panels(rows: list[TaskRow]) -> tuple[tuple[TaskRow, ...], ...]:
    count = -(-len(rows) // _ROWS_PER_PANEL)
    size = -(-len(rows) // count)
    return tuple(tuple(rows[start : start + size]) for start in range(0, len(rows), size))


def _dumbbells(axes: "Axes", rows: tuple[TaskRow, ...], deepest: int) -> None:
    treatment = [_share(row.treatment_solved, row.treatment_trials) for row in rows]
    control = [_share(row.control_solved, row.control_trials) for row in rows]
    for place, (here, there) in enumerate(zip(treatment, control, strict=True)):
        if here is not None and there is not None and here != there:
            colour = TREATMENT if here > there else CONTROL
            axes.plot([here, there], [place, place], color=colour, linewidth=1.6, zorder=1)
    for values, colour, marker, label in (
        (control, CONTROL, "s", "control"),
        (treatment, TREATMENT, "o", "treatment"),
    ):
        places = [place for place, value in enumerate(values) if value is not None]
        known = [value for value in values if value is not None]
        size, face = (30, "none") if marker == "s" else (14, colour)
        axes.scatter(known, places, s=size, marker=marker, facecolors=face, edgecolors=colour, label=label, zorder=2)
    axes.set_yticks(range(len(rows)), [_short(row.task) for row in rows], fontsize=7)
    axes.set_ylim(deepest - 0.4, -0.6)
    axes.set_xlim(-0.06, 1.06)
    axes.set_xticks([0, 0.5, 1], ["0%", "50%", "100%"])
    axes.grid(axis="y", color=_EFFECT_BAND, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)


def _share(solved: int, trials: int) -> float | None:
    return solved / trials if trials else None


def _short(name: str) -> str:
    return name if len(name) <= 38 else f"{name[:37]}\u2026"


def _tasks_words(decision: Decision) -> str:
    counts = decision.discordance
    return (
        f"Share solved on each of {decision.n_tasks} tasks: {decision.treatment.name} is ahead on {counts.ahead}, "
        f"behind on {counts.behind} and tied on {counts.ties}."
    )


_Measure = tuple[str, Callable[[ArmSummary], Total], Callable[..., str]]
_MEASURES: tuple[_Measure, ...] = (
    ("Cost", lambda arm: arm.cost_usd, numbers.usd),
    ("Input tokens", lambda arm: arm.input_tokens, numbers.count),
    ("Output tokens", lambda arm: arm.output_tokens, numbers.count),
    ("Wall time", lambda arm: arm.wall_ms, numbers.duration),
)


def _totals(decision: Decision) -> Picture | None:
    pair = (decision.treatment, decision.control)
    known = [one for one in _MEASURES if all(one[1](arm).value is not None for arm in pair)]
    if not known:
        return None
    title = title_of(decision, "Totals of the two arms")
    with canvas(height=0.7 + 0.75 * len(known), title=title) as figure:
        for axes, measure in zip(figure.subplots(len(known), squeeze=False)[:, 0], known, strict=True):
            _bars(axes, pair, measure)
        figure.axes[0].set_title(f"{title}\n{known[0][0]}", loc="left")
        return picture_of(figure, "totals", title=title, alternative=_totals_words(pair, known))


def _bars(axes: "Axes", pair: tuple[ArmSummary, ArmSummary], measure: _Measure) -> None:
    name, pick, write = measure
    values = [pick(arm).value for arm in pair]
    lengths = [float(value) for value in values if value is not None]
    axes.barh([0, 1], lengths, color=[TREATMENT, CONTROL], height=0.62)
    for place, (length, value) in enumerate(zip(lengths, values, strict=True)):
        axes.annotate(write(value), (length, place), xytext=(4, 0), textcoords="offset points", va="center")
    axes.set_yticks([0, 1], [_short(arm.name) for arm in pair])
    axes.set_ylim(1.6, -0.6)
    axes.set_xlim(0, max(lengths) * 1.25 or 1)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set_title(name, loc="left", fontsize=8.5)


def _totals_words(pair: tuple[ArmSummary, ArmSummary], known: list[_Measure]) -> str:
    said = (
        f"{name.lower()} {write(pick(pair[0]).value)} against {write(pick(pair[1]).value)}"
        for name, pick, write in known
    )
    return f"Totals of {pair[0].name} against {pair[1].name}: {'; '.join(said)}."
