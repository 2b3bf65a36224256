"""The only place for the picture of the arms' wall clocks: a bar an arm, a segment a bucket, told apart by pattern."""

from typing import TYPE_CHECKING

from analysis.arm_clocks import ArmClock
from analysis.decision import Decision
from reports import numbers
from reports.drawing import INK, Picture, canvas, picture_of, title_of
from reports.page_clocks import arm_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# In the order of an attempt; colours of Okabe and Ito (2008), and a pattern for each.
SEGMENTS: tuple[tuple[str, tuple[str, ...], str, str], ...] = (
    ("set-up", ("setup", "probe"), "#999999", ""),
    ("head", ("head_first", "head_later"), "#F0E442", "//"),
    ("generation", ("generation",), "#0072B2", ""),
    ("tools", ("tool_union",), "#E69F00", "\\\\"),
    ("tail", ("tail",), "#56B4E9", "xx"),
    ("grading", ("grading",), "#009E73", ".."),
    ("retry waits", ("retry_wait",), "#CC79A7", "--"),
    ("in no bucket", ("unaccounted",), "#FFFFFF", ""),
)
_MS_PER_S = 1000


def clocks_picture(decision: Decision) -> Picture | None:
    """Draw where the wall clock of each arm went, per attempt; None where nothing was timed."""
    clocks = decision.clocks
    if clocks is None:
        return None
    bars = [segments(clock) for clock in clocks.arms]
    if not any(bar.values() for bar in bars):
        return None
    title = title_of(decision, "Where the wall clock went, mean per attempt")
    with canvas(height=1.25 + 0.42 * len(bars), title=title) as figure:
        axes = figure.subplots()
        _draw(axes, bars, labels=[arm_words(clock, clocks) for clock in clocks.arms])
        axes.set_title(title, loc="left")
        figure.legend(loc="outside lower left", frameon=False, ncols=4)
        said = (f"{arm_words(clock, clocks)} {_said(bar)}" for clock, bar in zip(clocks.arms, bars, strict=True) if bar)
        return picture_of(figure, "clocks", title=title, alternative=f"Mean per attempt: {'; '.join(said)}.")


def segments(clock: ArmClock) -> dict[str, float]:
    """Return what was measured of an arm as seconds per attempt, by segment; what was not measured is left out."""
    held = {bucket.name: bucket for bucket in clock.buckets}
    found = {}
    for name, parts, _, _ in SEGMENTS:
        known = [held[part].known_ms for part in parts]
        measured = [value for value in known if value is not None]
        if measured and clock.attempts:
            found[name] = max(0.0, sum(measured)) / clock.attempts / _MS_PER_S
    return found


def _draw(axes: "Axes", bars: list[dict[str, float]], *, labels: list[str]) -> None:
    ends = [0.0] * len(bars)
    for name, _, colour, pattern in SEGMENTS:
        lengths = [bar.get(name, 0.0) for bar in bars]
        if not any(lengths):
            continue
        axes.barh(
            range(len(bars)),
            lengths,
            left=ends,
            height=0.6,
            color=colour,
            hatch=pattern,
            edgecolor=INK,
            linewidth=0.4,
            label=name,
        )
        ends = [end + length for end, length in zip(ends, lengths, strict=True)]
    axes.set_yticks(range(len(bars)), labels)
    axes.set_ylim(len(bars) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("seconds; a bucket that was not measured makes no segment")


def _said(bar: dict[str, float]) -> str:
    return ", ".join(f"{name} {numbers.duration(seconds * _MS_PER_S)}" for name, seconds in bar.items())
