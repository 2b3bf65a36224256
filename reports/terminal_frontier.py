"""The only place for a frontier as plain text: what each arm is worth on each axis, and where that leaves it."""

from collections.abc import Iterator

from analysis.decision import Decision, FrontierArm, FrontierAxis, FrontierResult
from reports import numbers, words
from reports.page_secondary import plain_name, standing_value, standing_words

_WIDTH = 22


def render_frontier(decision: Decision) -> str:
    """Return a decision's frontier as text; the first line says the labels, every line ends with a newline."""
    frontier = decision.frontier
    lines = [words.headline(decision), "", f"{decision.study}, {decision.date.isoformat()}"]
    if frontier is None:
        lines.append("no frontier: fewer than two axes are known of two arms")
    else:
        if not decision.label.comparative:
            lines += ["", f"{words.placed(decision)}:"]
        for arm in frontier.arms:
            lines += ["", *_arm(arm, frontier)]
        lines += ["", *_axes(frontier), "", frontier.note]
        lines.append(
            f"{numbers.count(frontier.resamples)} resamples of {numbers.count(frontier.n_tasks)} tasks, "
            f"seed {frontier.seed}, alpha {numbers.plain(frontier.alpha)}"
        )
    return "".join(f"{line}\n" for line in lines)


def _arm(arm: FrontierArm, frontier: FrontierResult) -> Iterator[str]:
    yield f"{arm.arm}: {standing_words(arm)}"
    for place, axis in enumerate(frontier.axes):
        yield _row(plain_name(axis.name), _value(arm, axis, place))
    if arm.p_non_dominated is None:
        return
    yield _row("non-dominated", numbers.percent(arm.p_non_dominated))
    for other, share in arm.p_dominated_by:
        yield _row(f"dominated by {other}", numbers.percent(share))
    yield _row("front 1, 2, ...", ", ".join(map(numbers.percent, arm.p_front)))


def _value(arm: FrontierArm, axis: FrontierAxis, place: int) -> str:
    low, high = arm.low[place], arm.high[place]
    limits = (
        ""
        if low is None or high is None
        else f" [{', '.join(numbers.quantity(end, axis.unit) for end in (low, high))}]"
    )
    ranks = arm.p_axis_rank[place] if arm.p_axis_rank else ()
    first = f", first in {numbers.percent(ranks[0])}" if ranks else ""
    floor = arm.p_floor[place] if arm.p_floor else None
    met = "" if floor is None else f", meets the floor in {numbers.percent(floor)}"
    return f"{standing_value(arm, axis, place)}{limits}{first}{met}"


def _axes(frontier: FrontierResult) -> Iterator[str]:
    for axis in frontier.axes:
        parts = [f"{axis.direction} is better"]
        if axis.epsilon:
            share = " of the value" if axis.scale == "ratio" else ""
            parts.append(f"differences up to {numbers.plain(axis.epsilon)}{share} do not matter")
        if axis.floor is not None:
            sign = "at least" if axis.direction == "higher" else "at most"
            parts.append(f"floor {sign} {numbers.quantity(axis.floor, axis.unit)}")
        yield _row(plain_name(axis.name), "; ".join(parts))


def _row(name: str, value: str) -> str:
    return f"  {name:<{_WIDTH}} {value}".rstrip()
