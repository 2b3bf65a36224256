"""The only place that turns audited trials into what the evidence shows of each factor."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from analysis.audit import AuditedTrial, AuditedTrials
from analysis.identity import Measure, measure_of
from analysis.ledger import CONFLICT
from analysis.measure_arm_clocks import timed_of
from analysis.methods import FACTOR_OF, method_findings, selection_findings
from analysis.requested import observe_requests
from manifests.conditions import FACTORS, Factor, Observation, Status
from manifests.finding import Finding

COST_METHOD = "cost_method"
_TREATMENT_FACTOR = "harness_version"


def observe(audited: AuditedTrials, *, treatment: str, control: str) -> tuple[Observation, ...]:
    """Return one observation per factor that trials can show; run order is observed in analysis/order.py."""
    arms = (audited.of(treatment), audited.of(control))
    seen = [_observe(factor, arms) for factor in FACTORS if factor.scope != "design"]
    doubly_priced = {finding.where for finding in audited.findings if finding.code == CONFLICT}
    conflicts = sum(item.trial.where in doubly_priced for arm in arms for item in arm)
    seen = [_two_prices(one, conflicts) if conflicts and one.factor == COST_METHOD else one for one in seen]
    found = [*method_findings([item for arm in arms for item in arm]), *selection_findings(audited.selection_versions)]
    return tuple(
        observe_requests(
            tuple(_made_differently(seen, found)),
            treatment=timed_of(audited, treatment),
            control=timed_of(audited, control),
        )
    )


def _two_prices(seen: Observation, conflicts: int) -> Observation:
    detail = f"the ledger prices {conflicts} trials by another method than their own; prices are never combined"
    return replace(seen, verdict=Status.DIFFERS, detail=detail)


def _made_differently(seen: Sequence[Observation], findings: Sequence[Finding]) -> Iterator[Observation]:
    """Two equal spellings may stand for different things: a cap of 50 turns is not a cap of 50 tool calls."""
    differing = {FACTOR_OF[one.code]: one for one in findings if one.code in FACTOR_OF}
    for one in seen:
        finding = differing.get(one.factor)
        if finding is None:
            yield one
        else:
            detail = f"{finding.code.replace('_', ' ')}: {finding.detail}"
            yield replace(one, verdict=Status.DIFFERS, detail=detail)


def _observe(factor: Factor, arms: tuple[Sequence[AuditedTrial], Sequence[AuditedTrial]]) -> Observation:
    shown = [[(item.task, _value(item, factor.name)) for item in arm] for arm in arms]
    if factor.name == "task_digest":
        return _task_digest(arms)
    return Observation(
        factor=factor.name,
        treatment=_distinct(value for _, value in shown[0]),
        control=_distinct(value for _, value in shown[1]),
        mismatched=_mismatched(shown),
    )


def _value(item: AuditedTrial, factor: str) -> str | None:
    if factor == _TREATMENT_FACTOR:
        version = item.trial.agent_version
        return None if version is None else f"{item.trial.arm.agent} {version}"
    return dict(item.trial.conditions).get(factor)


def _task_digest(arms: tuple[Sequence[AuditedTrial], Sequence[AuditedTrial]]) -> Observation:
    """Judge the contents of the tasks by the one measure that pairs the study."""
    measure = measure_of([item.trial for arm in arms for item in arm])
    mismatched = _mismatched([[(item.task, item.task_digest) for item in arm] for arm in arms])
    tasks = len({item.task for arm in arms for item in arm})
    if measure is Measure.NAME:
        return Observation(factor="task_digest", verdict=Status.UNKNOWN, detail="no content digest on both sides")
    if mismatched:
        detail = f"{measure.value} differs on {mismatched} of {tasks} tasks"
        return Observation(factor="task_digest", verdict=Status.DIFFERS, detail=detail)
    return Observation(factor="task_digest", verdict=Status.HELD, detail=f"{measure.value} equal on {tasks} tasks")


def _mismatched(shown: Sequence[Sequence[tuple[str, str | None]]]) -> int:
    """Count the tasks on which the arms show different values; a trial that shows none contradicts nothing."""
    by_task: list[dict[str, set[str]]] = []
    for arm in shown:
        values: dict[str, set[str]] = defaultdict(set)
        for task, value in arm:
            if value is not None:
                values[task].add(value)
        by_task.append(values)
    ours, theirs = by_task
    return sum(ours[task] != theirs[task] for task in ours.keys() & theirs.keys())


def _distinct(values: Iterable[str | None]) -> tuple[str | None, ...]:
    found = set(values)
    return tuple(sorted(value for value in found if value is not None)) + ((None,) if None in found else ())
