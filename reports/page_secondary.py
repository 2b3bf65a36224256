"""The only place for what a report says beside the verdict: endpoints, sensitivity, frontier, families of arms."""

from collections.abc import Iterator

from analysis.decision import (
    ArmSummary,
    ContrastInterval,
    Decision,
    EndpointResult,
    Family,
    FrontierArm,
    FrontierAxis,
    FrontierResult,
    IntervalEstimate,
    SensitivityRow,
)
from reports import numbers, words
from reports.layout import NOTHING, Column, Section, Table

_ENDPOINTS_READ = (
    "Each endpoint stands for itself; there is no sum over endpoints. Intervals and tests have the task as their unit. "
    "A ratio below 1 means that the treatment used less."
)
_FRONTIER_READ = (
    "An arm is on the frontier when no other arm is at least as good on every axis and better on one. "
    "There is no score over axes."
)
_ADJUSTMENTS = {
    "benjamini_hochberg": "Benjamini-Hochberg",
    "holm": "Holm",
    "fixed_sequence": "fixed sequence",
}
_MID_P = "mid_p"
_UNDEFINED = "undefined"
_PER_SOLVED = "cost_per_solved"
_GATES = {
    "passed": "passed",
    "stopped": "stopped here",
    "failed": "not passed",
    "not_tested": "not tested",
}


def endpoints_section(decision: Decision) -> Section | None:
    """Return every endpoint with its paired inference, and what its row must not be used for."""
    if not decision.endpoints:
        return None
    notes = tuple((plain_name(one.name), one.note) for one in decision.endpoints if one.note)
    tables = [_endpoints(decision)]
    if notes:
        columns = (Column(heading="Endpoint"), Column(heading="Note"))
        tables.append(Table(caption="What the rows above must be read with.", columns=columns, rows=notes))
    return Section(
        anchor="endpoints",
        title="Endpoints",
        paragraphs=(_ENDPOINTS_READ,),
        tables=tuple(tables),
    )


def sensitivity_section(decision: Decision) -> Section | None:
    """Return the primary difference analysed in other ways."""
    if not decision.sensitivity:
        return None
    columns = (
        Column(heading="Analysis"),
        Column(heading="Standing"),
        Column(heading="Tasks", kind="number"),
        Column(heading="Difference", kind="number"),
        Column(heading="Interval"),
        Column(heading="Exact p", kind="number"),
        Column(heading="Note"),
    )
    rows = tuple(_sensitivity(row, alpha=decision.alpha) for row in decision.sensitivity)
    return Section(
        anchor="sensitivity",
        title="The difference, analysed in other ways",
        tables=(Table(caption="Treatment minus control in share solved.", columns=columns, rows=rows),),
    )


def frontier_section(decision: Decision, figures: tuple[str, ...]) -> Section | None:
    """Return where each arm stands over the declared axes."""
    frontier = decision.frontier
    if frontier is None:
        return None
    return Section(
        anchor="frontier",
        title="Frontier",
        paragraphs=(
            _FRONTIER_READ,
            f"{_capital(frontier.note)}. {numbers.count(frontier.resamples)} resamples, seed {frontier.seed}.",
        ),
        figures=tuple(name for name in ("frontier",) if name in figures),
        tables=(_standings(decision, frontier), _axes(frontier)),
    )


def families_section(decision: Decision) -> Section | None:
    """Return the joint tests of three or more arms."""
    if not decision.families:
        return None
    return Section(
        anchor="families",
        title="Every pair of arms, tested together",
        tables=tuple(_family(family, alpha=decision.alpha) for family in decision.families),
    )


def plain_name(name: str) -> str:
    """Return a name as people read it."""
    return name.replace("_", " ")


def adjustment_words(row: EndpointResult) -> str:
    """Return the name of the adjustment that a row's adjusted p-value comes from."""
    return _ADJUSTMENTS.get(row.adjustment, plain_name(row.adjustment))


def contrast_words(row: EndpointResult) -> str:
    """Return treatment against control with its interval, or a dash."""
    if row.ratio is None and row.difference is None and row.interval is None:
        return NOTHING
    if row.difference is not None:
        return " ".join(part for part in (numbers.points(row.difference), _difference(row.interval)) if part)
    value = "" if row.ratio is None else f"\u00d7 {numbers.ratio(row.ratio)}"
    return " ".join(part for part in (value, _ratio(row.interval)) if part)


def value_words(value: float | None, unit: str, *, at_least: bool) -> str:
    """Return an arm's value; one that a time limit hides is only a lower bound."""
    written = numbers.quantity(value, unit)
    return f"\u2265 {written}" if at_least else written


def gate_words(row: EndpointResult) -> str:
    """Return how far the plan's sequence let an endpoint be tested; a dash where it stands in none."""
    return _GATES.get(row.gate, NOTHING)


def standing_words(arm: FrontierArm) -> str:
    """Return where an arm stands, and why."""
    return f"{arm.state}: {arm.reason}"


def standing_value(arm: FrontierArm, axis: FrontierAxis, place: int) -> str:
    """Return an arm's value on an axis; one that is ranked there was measured, so a missing value is undefined."""
    value = arm.values[place]
    return _UNDEFINED if value is None and arm.p_axis_rank else numbers.quantity(value, axis.unit)


def _endpoints(decision: Decision) -> Table:
    gated = any(row.gate for row in decision.endpoints)
    columns = (
        Column(heading="Endpoint"),
        Column(heading="Role"),
        Column(heading="Standing"),
        Column(heading=decision.treatment.name, kind="number"),
        Column(heading=decision.control.name, kind="number"),
        Column(heading="Treatment against control"),
        Column(heading="p", kind="number"),
        Column(heading="Adjusted p", kind="number"),
        *((Column(heading="Gate"), Column(heading="What may be said")) if gated else ()),
    )
    rows = tuple(tuple(_endpoint(row, decision, gated=gated)) for row in decision.endpoints)
    return Table(caption="Endpoints, treatment against control.", columns=columns, rows=rows)


def _endpoint(row: EndpointResult, decision: Decision, *, gated: bool) -> Iterator[str]:
    yield plain_name(row.name)
    yield row.role
    yield row.label
    yield _arm_value(row, row.treatment, decision.treatment, at_least=row.treatment_at_least)
    yield _arm_value(row, row.control, decision.control, at_least=row.control_at_least)
    yield contrast_words(row)
    yield _test_p(row, row.p, alpha=decision.alpha)
    yield _test_p(row, row.adjusted_p, alpha=decision.alpha)
    if gated:
        yield gate_words(row)
        yield ", ".join(words.NAMES[verdict] for verdict in (row.decision, *row.also)) if row.gate else NOTHING


def _arm_value(row: EndpointResult, value: float | None, arm: ArmSummary, *, at_least: bool) -> str:
    """Return an arm's value; what an arm that solved nothing costs per solved task is undefined, not unmeasured."""
    if value is None and row.name == _PER_SOLVED and arm.solved == 0:
        return _UNDEFINED
    return value_words(value, row.unit, at_least=at_least)


def _p(value: float | None, *, alpha: float) -> str:
    return NOTHING if value is None else numbers.p_value(value, alpha=alpha).removeprefix("p = ").removeprefix("p ")


def _test_p(row: EndpointResult, value: float | None, *, alpha: float) -> str:
    """Return a row's p-value, named where it is another kind than the others, and then as the result names it."""
    if value is None or not row.test.endswith(_MID_P):
        return _p(value, alpha=alpha)
    return named_p(value, "mid-p", alpha=alpha)


def named_p(value: float | None, name: str, *, alpha: float) -> str:
    """Return a p-value behind its name, a tiny one also in powers of ten."""
    small = numbers.small_p_value(value)
    return numbers.p_value(value, alpha=alpha, name=name) + (f" ({small})" if small else "")


def _difference(interval: ContrastInterval | None) -> str:
    if interval is None or interval.low is None or interval.high is None:
        return ""
    return f"{numbers.interval(max(-1, interval.low), min(1, interval.high))} ({numbers.level(interval.level)})"


def _ratio(interval: ContrastInterval | None) -> str:
    if interval is None:
        return ""
    return f"{numbers.ratio_interval(interval.low, interval.high)} ({numbers.level(interval.level)})"


def _sensitivity(row: SensitivityRow, *, alpha: float) -> tuple[str, ...]:
    kind, _, which = row.name.partition(":")
    return (
        f"{plain_name(kind)}: {which.replace('_', ' ') if which in _WHICH else which}" if which else plain_name(kind),
        row.label,
        NOTHING if row.n_tasks is None else numbers.count(row.n_tasks),
        NOTHING if row.difference is None else numbers.points(row.difference),
        _interval(row.interval),
        _p(row.p_exact, alpha=alpha),
        row.note or NOTHING,
    )


# Parts of a row's name that are words of ours; any other is a task's name and stays as it is.
_WHICH = frozenset({"tipping_point", "up_to_0.25"})


def _interval(interval: IntervalEstimate | None) -> str:
    if interval is None:
        return NOTHING
    written = numbers.interval(interval.low, interval.high)
    return f"{written} ({numbers.level(interval.level)}, {plain_name(interval.method)})"


def _standings(decision: Decision, frontier: FrontierResult) -> Table:
    columns = (
        Column(heading="Arm"),
        Column(heading=words.placed(decision)),
        Column(heading="Share non-dominated", kind="number"),
        Column(heading="Share dominated by"),
        *(Column(heading=plain_name(axis.name), kind="number") for axis in frontier.axes),
    )
    rows = tuple(
        (
            arm.arm,
            standing_words(arm),
            numbers.percent(arm.p_non_dominated),
            ", ".join(f"{other} {numbers.percent(share)}" for other, share in arm.p_dominated_by) or NOTHING,
            *(standing_value(arm, axis, place) for place, axis in enumerate(frontier.axes)),
        )
        for arm in frontier.arms
    )
    caption = f"The arms over {numbers.count(frontier.n_tasks)} tasks that all of them attempted."
    return Table(caption=caption, columns=columns, rows=rows)


def _axes(frontier: FrontierResult) -> Table:
    columns = (
        Column(heading="Axis"),
        Column(heading="Better"),
        Column(heading="Difference that matters", kind="number"),
        Column(heading="Floor", kind="number"),
        Column(heading="Share that meets the floor"),
    )
    rows = tuple(
        (
            plain_name(axis.name),
            axis.direction,
            _epsilon(axis.epsilon, axis.scale),
            "not set" if axis.floor is None else numbers.quantity(axis.floor, axis.unit),
            _floors(frontier, place),
        )
        for place, axis in enumerate(frontier.axes)
    )
    return Table(caption="The axes, as declared.", columns=columns, rows=rows)


def _epsilon(epsilon: float, scale: str) -> str:
    if epsilon == 0:
        return "any"
    return numbers.plain(epsilon) if scale == "difference" else f"{numbers.plain(epsilon * 100)}% of the value"


def _floors(frontier: FrontierResult, place: int) -> str:
    shares = [(arm.arm, arm.p_floor[place]) for arm in frontier.arms if arm.p_floor]
    return ", ".join(f"{arm} {numbers.percent(share)}" for arm, share in shares if share is not None) or NOTHING


def _family(family: Family, *, alpha: float) -> Table:
    columns = (
        Column(heading="Pair"),
        Column(heading="Difference", kind="number"),
        Column(heading="Exact p", kind="number"),
        Column(heading="Adjusted p", kind="number"),
    )
    rows = tuple(
        (
            f"{row.treatment} against {row.control}",
            numbers.points(row.difference),
            _p(row.p_exact, alpha=alpha),
            _p(row.adjusted_p, alpha=alpha),
        )
        for row in family.rows
    )
    drawn = "all sign patterns enumerated" if family.exact else f"{numbers.count(family.patterns)} patterns drawn"
    caption = f"{family.name}: {family.method} over {numbers.count(family.n_tasks)} common tasks, {drawn}."
    return Table(caption=_capital(caption), columns=columns, rows=rows)


def _capital(sentence: str) -> str:
    return f"{sentence[:1].upper()}{sentence[1:]}"
