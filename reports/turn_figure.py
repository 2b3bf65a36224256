"""The only place for the picture of turn metrics: durations, tokens by kind, tool failures.

Same turns, same bytes: no date, no random identities, text kept as text. What was not measured is said in its panel's
place. Tools stand by total duration, as in the table; a failure rate carries its counts, because a rate of few calls
says little.
"""

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from analysis.turn_stats import TurnReport, TurnSummary
from reports.numbers import NOT_MEASURED, count, percent, share
from reports.shown_name import shown
from reports.timeline import STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_TOOLS = 20
_BINS = 40
_LABEL = 30
_FEW_DECADES = 2
_BLUE, _ORANGE, _GREY = "#0072B2", "#D55E00", "#6B6B6B"


def figure_bytes(report: TurnReport, *, suffix: str) -> bytes:
    """Draw the turns and return the picture's bytes.

    Args:
        report: The turns.
        suffix: `.svg` or `.png`.
    """
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        buffer = io.BytesIO()
        if suffix == ".svg":
            nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
            turn_figure(report).savefig(buffer, format="svg", metadata=nothing)
        else:
            turn_figure(report).savefig(buffer, format="png", dpi=110, metadata={"Software": None})
        return buffer.getvalue()


def turn_figure(report: TurnReport) -> "Figure":
    """Draw the three panels."""
    from matplotlib.figure import Figure

    summary = report.whole
    rows = max(1, min(len(summary.tools), MOST_TOOLS))
    figure = Figure(figsize=(7.2, 4.6 + 0.2 * rows), layout="constrained")
    durations, tokens, failures = figure.subplots(3, 1, height_ratios=(2.0, 1.4, 0.9 + 0.2 * rows))
    figure.suptitle(
        f"Turn metrics: {count(summary.turns)} turn(s) in {count(summary.sessions)} session(s)", x=0.01, ha="left"
    )
    _durations(durations, report)
    _tokens(tokens, summary)
    _failures(failures, summary)
    return figure


def _durations(axes: "Axes", report: TurnReport) -> None:
    axes.set_title("Turn duration, seconds (logarithmic)", loc="left")
    known = report.durations_ms[report.durations_ms > 0] / 1000
    if known.size == 0:
        _unmeasured(axes)
        return
    low, high = float(known.min()), float(known.max())
    edges = np.geomspace(low, high if high > low else low * 1.01, _BINS + 1)
    counts, _ = np.histogram(np.clip(known, edges[0], edges[-1]), bins=edges)
    axes.bar(edges[:-1], counts, width=np.diff(edges), align="edge", color=_BLUE, linewidth=0)
    axes.set_xscale("log")
    _label_axes(axes, decades=float(np.log10(edges[-1] / edges[0])))
    axes.set_ylabel("turns")
    for value, style, name in (
        (report.whole.duration_p50_ms, "-", "p50"),
        (report.whole.duration_p95_ms, "--", "p95"),
    ):
        if value:
            axes.axvline(value / 1000, color=_ORANGE, linestyle=style, linewidth=1.2, label=name)
    axes.legend(frameon=False)


def _label_axes(axes: "Axes", *, decades: float) -> None:
    """Label turns in whole numbers and seconds in plain ones; matplotlib's own are formulas, which the style forbids.

    Args:
        axes: The axes.
        decades: How many powers of ten the seconds span; where they are few, what lies between is labelled too.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    plain = FuncFormatter(lambda value, _: f"{value:.6g}")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins="auto"))
    axes.xaxis.set_major_formatter(plain)
    if decades < _FEW_DECADES:
        axes.xaxis.set_minor_locator(LogLocator(subs=(2, 5)))
    axes.xaxis.set_minor_formatter(plain if decades < _FEW_DECADES else NullFormatter())


def _tokens(axes: "Axes", summary: TurnSummary) -> None:
    axes.set_title("Tokens by kind", loc="left")
    totals = summary.totals
    if totals is None:
        _unmeasured(axes)
        return
    kinds = (
        ("input", totals.input),
        ("output", totals.output),
        ("cache read", totals.cache_read),
        ("cache write", totals.cache_write),
    )
    values = [value for _, value in kinds]
    _bars(axes, [name for name, _ in kinds], [float(value) for value in values], words=[*map(count, values)])


def _failures(axes: "Axes", summary: TurnSummary) -> None:
    tools = summary.tools[:MOST_TOOLS]
    left_out = len(summary.tools) - len(tools)
    more = f"; {left_out} more tool(s) not shown" if left_out else ""
    axes.set_title(f"Tool calls that failed, percent{more}", loc="left")
    if not tools:
        _unmeasured(axes)
        return
    whole = [shown(tool.name) for tool in tools]
    names = [name if len(name) <= _LABEL else f"{name[: _LABEL - 1]}…" for name in whole]
    words = [f"{percent(tool.failure_rate)} ({share(tool.failures, tool.calls)})" for tool in tools]
    _bars(axes, names, [100 * tool.failure_rate for tool in tools], words=words)


def _bars(axes: "Axes", names: Sequence[str], values: Sequence[float], *, words: Sequence[str]) -> None:
    places = range(len(names))
    axes.barh(places, values, height=0.6, color=_BLUE, linewidth=0)
    axes.set_yticks(places, names, parse_math=False)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, (max(values) or 1.0) * 1.35)
    for place, value, word in zip(places, values, words, strict=True):
        axes.annotate(word, (value, place), xytext=(3, 0), textcoords="offset points", va="center", fontsize=7)


def _unmeasured(axes: "Axes") -> None:
    axes.set_axis_off()
    axes.text(0.0, 0.5, NOT_MEASURED, color=_GREY, transform=axes.transAxes)
