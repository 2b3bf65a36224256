"""The only place for a decision as a few lines of plain text, for terminals and logs."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from analysis.decision import ArmSummary, Decision, EndpointResult, FindingCount, Verdict
from analysis.endpoint_rows import LOG_RATIO
from analysis.ledger import price_label
from manifests.conditions import NEITHER, Condition, Status
from reports import numbers, words
from reports.contract import missing
from reports.page import interval_words, p_words, places_words, total_words
from reports.page_clocks import arm_words, cap_words, reached_words
from reports.page_promise import bound_words, floor_words, score_words
from reports.page_secondary import adjustment_words, contrast_words, gate_words, plain_name, standing_words
from reports.page_time import concurrency_words, first_words, order_words

_WIDTH = 22
_NO_VERDICT = "Verdict: none; no conclusion may be drawn."
_GEOMETRIC = ", geometric mean of the tasks' ratios"


def render_text(decision: Decision) -> str:
    """Return a decision as text; the first line says labels and verdict, every line ends with a newline."""
    blocks = (
        (words.headline(decision),),
        _verdict(decision),
        ("", f"{decision.study}, {decision.date.isoformat()}"),
        (*_arm("treatment", decision.treatment), *_arm("control", decision.control)),
        _statistics(decision),
        _resources(decision),
        _endpoints(decision),
        _frontier(decision),
        _families(decision),
        _promise(decision),
        _time(decision),
        _clocks(decision),
        _concerns(decision),
    )
    return "".join(f"{line}\n" for block in blocks for line in block)


def _clocks(decision: Decision) -> tuple[str, ...]:
    """Say the one time that compares across harnesses and the turn caps; the buckets stand in the report."""
    clocks = decision.clocks
    if clocks is None:
        return ()
    rows = (
        ("to the first delta", lambda clock: numbers.duration(clock.to_first_delta_first.median)),
        ("turn cap", cap_words),
        ("ended at it", reached_words),
    )
    sides = [(arm_words(clock, clocks), clock) for clock in clocks.arms]
    return ("", *(_row(name, "; ".join(f"{arm} {pick(clock)}" for arm, clock in sides)) for name, pick in rows))


def _verdict(decision: Decision) -> tuple[str, ...]:
    if decision.verdict is Verdict.NONE:
        return (_NO_VERDICT,)
    return tuple(words.sentence(verdict, decision) for verdict in (decision.verdict, *decision.also))


def _arm(side: str, arm: ArmSummary) -> tuple[str, ...]:
    share = f" ({numbers.percent(arm.solved / arm.trials)})" if arm.trials else ""
    harness = f", {', '.join(arm.harness)}" if arm.harness else ""
    more = f"; {numbers.count(arm.ungraded)} ungraded, counted as unsolved" if arm.ungraded else ""
    return (
        _row(side, f"{arm.name}{harness}"),
        _row("", f"{numbers.share(arm.solved, arm.trials)} solved{share}{more}"),
    )


def _statistics(decision: Decision) -> tuple[str, ...]:
    counts = decision.discordance
    attempts = (
        "unequal attempts" if decision.attempts is None else f"{numbers.count(decision.attempts)} attempt(s) each"
    )
    return (
        _row("tasks", f"{numbers.count(decision.n_tasks)}, {attempts}"),
        _row("ahead / behind / ties", f"{counts.ahead} / {counts.behind} / {counts.ties}"),
        _row("difference", f"{numbers.points(decision.difference)}, treatment minus control"),
        _row("interval", interval_words(decision.interval)),
        *(_row("further interval", interval_words(one)) for one in decision.extra_intervals),
        _row(decision.test.replace("_", " "), ", ".join(p_words(decision))),
        _row("minimum effect", numbers.threshold(decision.minimum_effect)),
        _row("margin", numbers.threshold(decision.noninferiority_margin)),
    )


def _resources(decision: Decision) -> tuple[str, ...]:
    pair = (decision.treatment, decision.control)
    priced = dict.fromkeys(price_label(arm.cost_method) for arm in pair if arm.cost_method)
    worth = f" ({', '.join(priced)})" if priced else ""
    return (
        _row("cost", " against ".join(total_words(arm.cost_usd, numbers.usd) for arm in pair) + worth),
        _row("output tokens", " against ".join(total_words(arm.output_tokens, numbers.count) for arm in pair)),
        _row("wall time", " against ".join(total_words(arm.wall_ms, numbers.duration) for arm in pair)),
    )


def _endpoints(decision: Decision) -> tuple[str, ...]:
    """Say what was tested beside the verdict or only bounded; what is only described stands in the report."""
    lines = [
        _row(f"  {plain_name(row.name)}", _endpoint_words(row, decision))
        for row in decision.endpoints
        if row.name != "success" and (row.p is not None or row.gate or _is_bound(row))
    ]
    return ("", "endpoints, treatment against control, lower is better for resources", *lines) if lines else ()


def _is_bound(row: EndpointResult) -> bool:
    """Tell whether an arm's value is undefined and the data bound the ratio all the same: it solved nothing."""
    return row.interval is not None and None in (row.treatment, row.control)


def _endpoint_words(row: EndpointResult, decision: Decision) -> str:
    adjusted = numbers.p_value(row.adjusted_p, alpha=decision.alpha, name=f"{adjustment_words(row)} p")
    tested = f"no test ({row.note})" if row.p is None else numbers.p_value(row.p, alpha=decision.alpha)
    said = f", {words.NAMES[row.decision]}" if row.decision is not Verdict.NONE else ""
    more = f", {adjusted}" if row.adjusted_p is not None else ""
    stands = f"; {row.label}{f', {gate_words(row)}' if row.gate else ''}"
    return f"{contrast_words(row)}{_GEOMETRIC * (row.test == LOG_RATIO)}, {tested}{more}{said}{stands}"


def _frontier(decision: Decision) -> tuple[str, ...]:
    frontier = decision.frontier
    if frontier is None:
        return ()
    axes = ", ".join(plain_name(axis.name) for axis in frontier.axes)
    lines = []
    for arm in frontier.arms:
        share = "" if arm.p_non_dominated is None else f", non-dominated in {numbers.percent(arm.p_non_dominated)}"
        lines.append(_row(f"  {arm.arm}", f"{standing_words(arm)}{share}"))
    how = "" if decision.label.comparative else f" ({words.placed(decision)})"
    return ("", f"frontier over {axes}{how}: shares of resamples, not confidence levels", *lines)


def _families(decision: Decision) -> tuple[str, ...]:
    lines = []
    for family in decision.families:
        lines += ["", f"{family.name}: {family.method}, {numbers.count(family.n_tasks)} common tasks"]
        lines += [
            _row(
                f"  {row.treatment} against {row.control}",
                f"{numbers.points(row.difference)}, "
                + numbers.p_value(row.adjusted_p, alpha=decision.alpha, name="adjusted p"),
            )
            for row in family.rows
        ]
    return tuple(lines)


def _promise(decision: Decision) -> tuple[str, ...]:
    """Say whether the plan's floors are kept, and the one score that it promised."""
    lines = [
        _row(f"{floor.kind} floor", f"{plain_name(floor.metric)} {bound_words(floor)}: {floor_words(floor)}")
        for floor in decision.floors
    ]
    if decision.score is not None:
        lines.append(_row(f"{decision.score.name}", score_words(decision.score)))
    return ("", *lines) if lines else ()


def _time(decision: Decision) -> tuple[str, ...]:
    drift = decision.drift
    if drift is None:
        return ("", _row("run order", "not measured: the evidence records no start times for an arm"))
    p = numbers.p_value(drift.p_first, alpha=decision.alpha)
    return (
        "",
        _row("run order", order_words(drift)),
        _row("pairs started first", f"{first_words(decision, drift)}; {p}"),
        _row("most at once", concurrency_words(decision, drift)),
    )


def _concerns(decision: Decision) -> tuple[str, ...]:
    lines = [
        *(f"  {reason}" for reason in words.broken(decision)),
        *_open_factors(decision),
        *(
            f"  finding {one.code} ({numbers.count(one.count)}){f': {one.detail}' if one.detail else ''}{_places(one)}"
            for one in decision.findings
        ),
        *(f"  excluded {one.task} ({one.label}): {one.reason}" for one in decision.excluded),
        *_ungraded(decision),
        *(f"  a report of this could not call itself comparative: it lacks {one}" for one in _lacking(decision)),
        *(f"  {note}" for note in (*decision.notes, *decision.infrastructure)),
        *(f"  not selected: {place}" for place in decision.not_selected),
    ]
    return ("", *lines) if lines else ()


def _open_factors(decision: Decision) -> Iterator[str]:
    """Yield what differs, a line each, then what is unknown, each with its gap, and what is only declared."""
    for one in decision.conditions:
        if one.status is Status.DIFFERS:
            yield f"  {one.factor}: {one.status.value}{f', {one.detail}' if one.detail else ''}"
    unknown = [_gap(one) for one in decision.conditions if one.status is Status.UNKNOWN]
    if unknown:
        yield f"  unknown, {NEITHER}: {', '.join(unknown)}"
    declared = [one.factor for one in decision.conditions if one.status is Status.DECLARED]
    if declared:
        yield f"  {words.STATUS[Status.DECLARED]}: {', '.join(declared)}"


def _gap(one: Condition) -> str:
    said = one.detail.removeprefix(NEITHER).strip().removeprefix("(").removesuffix(")")
    return f"{one.factor} ({said})" if said else one.factor


def _places(finding: FindingCount) -> str:
    return f", in {places_words(finding)}" if finding.where else ""


def _ungraded(decision: Decision) -> Iterator[str]:
    """Yield every trial without a grade, a line for each arm and recorded exception, a task once with its count."""
    groups: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for one in decision.ungraded:
        groups[one.arm, one.exception_type or "no exception"][one.task] += 1
    for (arm, exception), tasks in groups.items():
        named = ", ".join(f"{task} \u00d7 {count}" if count > 1 else task for task, count in tasks.items())
        yield f"  ungraded {arm}, {exception} ({numbers.count(tasks.total())}): {named}"


def _lacking(decision: Decision) -> tuple[str, ...]:
    lacking = missing(decision) if decision.label.comparative else ()
    return (", ".join(lacking),) if lacking else ()


def _row(name: str, value: str) -> str:
    return f"{name:<{_WIDTH}} {value}".rstrip()
