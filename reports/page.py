"""The only place for what a report says and in which order; templates only choose the mark-up.

Every cell is a finished string: numbers come from reports/numbers.py, sentences from reports/words.py.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType

from analysis.decision import ArmSummary, Decision, FindingCount, IntervalEstimate, Total
from analysis.ledger import price_label
from reports import numbers, words
from reports.contract import contract_section
from reports.layout import NOTHING, Column, Page, Section, Table
from reports.page_clocks import clocks_section
from reports.page_promise import promise_section
from reports.page_secondary import (
    endpoints_section,
    families_section,
    frontier_section,
    named_p,
    sensitivity_section,
)
from reports.page_tasks import tasks_section
from reports.page_time import time_section
from reports.privacy.allowlist import Dropped

NO_MEANINGS: Mapping[str, str] = MappingProxyType({})
_PLACES = 3


def page(
    decision: Decision,
    *,
    figures: tuple[str, ...],
    meanings: Mapping[str, str] = NO_MEANINGS,
    dropped: tuple[Dropped, ...] = (),
) -> Page:
    """Lay out a decision.

    Args:
        decision: Already projected to the allowlist.
        figures: Names of the figures that exist.
        meanings: Finding code to its plain meaning.
        dropped: What the projection withheld or rewrote.
    """
    built = (
        _result(decision, figures),
        _standing(decision),
        promise_section(decision),
        _conditions(decision),
        time_section(decision),
        clocks_section(decision, figures),
        _resources(decision, figures),
        endpoints_section(decision),
        sensitivity_section(decision),
        frontier_section(decision, figures),
        families_section(decision),
        _left_out(decision),
        _findings(decision, meanings),
        tasks_section(decision, figures),
        _surroundings(decision),
        _privacy(dropped),
        _reproduce(decision),
        contract_section(decision),
    )
    return Page(
        title=f"{decision.treatment.name} (treatment) against {decision.control.name} (control)",
        subtitle=f"Study {decision.study}, {decision.date.isoformat()}",
        headline=words.headline(decision),
        tags=words.tags(decision),
        sections=tuple(section for section in built if section is not None),
    )


def interval_words(interval: IntervalEstimate | None) -> str:
    """Return an interval with its level and method, or why there is none."""
    if interval is None:
        return "no interval: the data allow none"
    written = numbers.interval(interval.low, interval.high)
    return f"{written} ({numbers.level(interval.level)}, {interval.method.replace('_', ' ')})"


def p_words(decision: Decision) -> tuple[str, str]:
    """Return the exact and the mid p-value, tiny ones also in powers of ten."""
    pairs = ((decision.p_exact, "p"), (decision.p_mid, "mid-p"))
    return (named_p(*pairs[0], alpha=decision.alpha), named_p(*pairs[1], alpha=decision.alpha))


def _result(decision: Decision, figures: tuple[str, ...]) -> Section:
    sentences = [words.sentence(decision.verdict, decision)]
    sentences += [f"Also holds: {words.sentence(verdict, decision)}" for verdict in decision.also]
    return Section(
        anchor="result",
        title="Result",
        paragraphs=tuple(sentences),
        tables=(_arms(decision), _comparison(decision)),
        figures=_present(figures, "difference"),
    )


def _arms(decision: Decision) -> Table:
    heads = ("Trials", "Solved", "Share solved", "Ungraded", "Errored")
    return Table(
        caption="The two arms. Ungraded trials count as unsolved unless the plan says otherwise.",
        columns=(Column(heading="Arm"), Column(heading="Harness"), *(Column(heading=h, kind="number") for h in heads)),
        rows=(_arm_row(decision.treatment, "treatment"), _arm_row(decision.control, "control")),
    )


def _arm_row(arm: ArmSummary, side: str) -> tuple[str, ...]:
    share = numbers.percent(arm.solved / arm.trials) if arm.trials else numbers.NOT_MEASURED
    counts = (numbers.count(arm.trials), numbers.share(arm.solved, arm.trials), share)
    harness = ", ".join(arm.harness) or numbers.NOT_MEASURED
    return (f"{arm.name} ({side})", harness, *counts, numbers.count(arm.ungraded), numbers.count(arm.errored))


def _comparison(decision: Decision) -> Table:
    counts = decision.discordance
    exact, mid = p_words(decision)
    attempts = "unequal" if decision.attempts is None else numbers.count(decision.attempts)
    rows = [
        ("Verdict", words.verdict_name(decision) or "none: no conclusion may be drawn"),
        ("Tasks", numbers.count(decision.n_tasks)),
        ("Attempts per task and arm", attempts),
        ("Tasks where the treatment is ahead / behind / tied", f"{counts.ahead} / {counts.behind} / {counts.ties}"),
        ("Difference in share solved, treatment minus control", numbers.points(decision.difference)),
        ("Interval", interval_words(decision.interval)),
        *(("Further interval, not used for the verdict", interval_words(one)) for one in decision.extra_intervals),
        (f"Exact test ({decision.test.replace('_', ' ')} over tasks, two-sided)", exact),
        ("The same test, mid-p", mid),
        ("Alpha", numbers.alpha(decision.alpha)),
        ("Minimum effect", numbers.threshold(decision.minimum_effect)),
        ("Non-inferiority margin", numbers.threshold(decision.noninferiority_margin)),
    ]
    return Table(
        caption="The comparison. The task is the unit; a positive difference favours the treatment.",
        columns=_columns("Quantity", "Value"),
        rows=tuple(rows),
    )


def _standing(decision: Decision) -> Section:
    return Section(
        anchor="standing",
        title="What kind of comparison this is",
        items=words.standing(decision) + decision.label.reasons + decision.notes,
    )


def _conditions(decision: Decision) -> Section | None:
    rows = tuple(
        (one.factor.replace("_", " "), words.STATUS[one.status], one.detail or NOTHING) for one in decision.conditions
    )
    if not rows:
        return None
    columns = (*_columns("Factor", "Judgement"), Column(heading="What was seen or declared", kind="long"))
    caption = "Factors that must be the same on both sides. One that differs or is unknown forbids a conclusion."
    return Section(
        anchor="conditions",
        title="Conditions",
        tables=(Table(caption=caption, columns=columns, rows=rows),),
    )


def _resources(decision: Decision, figures: tuple[str, ...]) -> Section:
    pair = (decision.treatment, decision.control)
    measures: tuple[tuple[str, Callable[[ArmSummary], Total], Callable[..., str]], ...] = (
        ("Cost", lambda arm: arm.cost_usd, numbers.usd),
        ("Input tokens, cache reads included", lambda arm: arm.input_tokens, numbers.count),
        ("Input tokens read from a cache", lambda arm: arm.cache_tokens, numbers.count),
        ("Output tokens", lambda arm: arm.output_tokens, numbers.count),
        ("Wall time of the trials", lambda arm: arm.wall_ms, numbers.duration),
        ("Time of the agents", lambda arm: arm.agent_ms, numbers.duration),
    )
    rows = [(name, *(total_words(pick(arm), write) for arm in pair)) for name, pick, write in measures]
    rows.insert(1, ("Who priced it", *(pricer_words(arm) for arm in pair)))
    return Section(
        anchor="resources",
        title="Cost, tokens and time",
        paragraphs=("Sums over all trials of an arm. As soon as one part is unknown the sum is unknown.",),
        tables=(Table(caption="Totals of the two arms.", columns=_sides(decision, "Total"), rows=tuple(rows)),),
        figures=_present(figures, "totals"),
    )


def pricer_words(arm: ArmSummary) -> str:
    """Return who priced an arm, and what such a price is worth."""
    if arm.cost_method is None:
        return numbers.NOT_MEASURED
    return f"{arm.cost_method} ({price_label(arm.cost_method)})"


def total_words(total: Total, write: Callable[..., str]) -> str:
    """Return a sum, or what is known of it; a sum of the known parts is never called a total."""
    if total.value is not None:
        return write(total.value)
    if total.reason:
        return f"no sum: {total.reason}"
    if total.known_sum is None or total.known == 0:
        return numbers.NOT_MEASURED
    known = numbers.share(total.known, total.trials)
    return f"{numbers.NOT_MEASURED}; known for {known} trials (sum of known: {write(total.known_sum)})"


def _left_out(decision: Decision) -> Section:
    tables = []
    if decision.excluded:
        rows = tuple((one.task, one.reason, one.label) for one in decision.excluded)
        caption = "Tasks left out of both arms."
        tables.append(Table(caption=caption, columns=_columns("Task", "Reason", "Standing"), rows=rows))
    if decision.ungraded:
        caption = "Trials without a grade; they count as unsolved unless the plan says otherwise."
        headings = (*_columns("Task", "Arm", "Recorded exception"), Column(heading="Trials", kind="number"))
        tables.append(Table(caption=caption, columns=headings, rows=_ungraded(decision)))
    said = "" if tables else "No task was left out and every trial has a grade."
    return Section(
        anchor="left-out",
        title="Excluded tasks and ungraded trials",
        paragraphs=(said,) if said else (),
        tables=tuple(tables),
    )


def _ungraded(decision: Decision) -> tuple[tuple[str, ...], ...]:
    counts = Counter((one.task, one.arm, one.exception_type or "none recorded") for one in decision.ungraded)
    return tuple((*cells, numbers.count(count)) for cells, count in counts.items())


def _findings(decision: Decision, meanings: Mapping[str, str]) -> Section:
    rows = tuple(
        (one.code, numbers.count(one.count), _meaning(one, meanings), places_words(one)) for one in decision.findings
    )
    if not rows:
        return Section(anchor="findings", title="Findings", paragraphs=("The audit found nothing.",))
    columns = (
        Column(heading="Code"),
        Column(heading="Count", kind="number"),
        Column(heading="Meaning"),
        Column(heading="Where", kind="long"),
    )
    table = Table(caption="What the readers and the audit found in the evidence.", columns=columns, rows=rows)
    return Section(anchor="findings", title="Findings", tables=(table,))


def _meaning(finding: FindingCount, meanings: Mapping[str, str]) -> str:
    known = meanings.get(finding.code, "")
    if known and finding.detail:
        return f"{known.rstrip('.')}: {finding.detail}"
    return known or finding.detail or NOTHING


def places_words(finding: FindingCount) -> str:
    """Return where a finding was made: the first places, and whether there are more."""
    shown = ", ".join(finding.where[:_PLACES]) or "the study as a whole"
    return f"{shown}, and more" if max(len(finding.where), finding.count) > _PLACES and finding.where else shown


def _surroundings(decision: Decision) -> Section | None:
    items = decision.infrastructure + tuple(f"Not selected: {place}" for place in decision.not_selected)
    if not items:
        return None
    return Section(
        anchor="surroundings",
        title="Present, and no result",
        paragraphs=("The evidence also holds what no selector names, and infrastructure. Neither is a result.",),
        items=items,
    )


def _privacy(dropped: tuple[Dropped, ...]) -> Section | None:
    if not dropped:
        return None
    rows = tuple((one.kind, one.change, numbers.count(one.count)) for one in dropped)
    columns = (*_columns("Kind of value", "What was done"), Column(heading="Times", kind="number"))
    return Section(
        anchor="privacy",
        title="Left out for privacy",
        paragraphs=("A withheld value did not fit its kind; a rewritten one held a home path or a name.",),
        tables=(Table(caption="Changes made before this page was written.", columns=columns, rows=rows),),
    )


def _reproduce(decision: Decision) -> Section:
    digests = decision.digests
    named = (
        ("Manifest", digests.manifest, "none: the tasks and arms were not pinned"),
        ("Plan", digests.plan, "none: nothing was registered"),
        ("Evidence", digests.evidence, ""),
        ("Decision", digests.decision, ""),
        ("Treatment selector", decision.treatment.selector, ""),
        ("Control selector", decision.control.selector, ""),
    )
    rows = tuple((name, value or otherwise) for name, value, otherwise in named)
    columns = (*_columns("Document"), Column(heading="SHA-256, or selector", kind="long"))
    return Section(
        anchor="reproduce",
        title="How to reproduce it",
        paragraphs=(
            (
                "The same evidence, manifest and plan give the same bytes. The command names files and folders by "
                "their last names: put the evidence, the manifest, the plan and the ledger side by side and run it."
            ),
        ),
        tables=(Table(caption="What this report stands on.", columns=columns, rows=rows),),
        commands=decision.commands,
    )


def _columns(*headings: str) -> tuple[Column, ...]:
    return tuple(Column(heading=heading) for heading in headings)


def _sides(decision: Decision, first: str) -> tuple[Column, ...]:
    sides = (f"{decision.treatment.name} (treatment)", f"{decision.control.name} (control)")
    return (Column(heading=first), *(Column(heading=side, kind="number") for side in sides))


def _present(figures: tuple[str, ...], name: str) -> tuple[str, ...]:
    return (name,) if name in figures else ()
