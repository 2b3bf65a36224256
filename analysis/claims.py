"""The only place that turns numbers into words such as "superior", and that says what a comparison may be called."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date

from analysis.arm_clocks import ArmClocks
from analysis.audit import Arm, AuditedTrials
from analysis.compare import Comparison
from analysis.decision import Decision, Digests, EndpointResult, Label, SensitivityRow, Verdict
from analysis.drift import Drift
from analysis.families import with_families
from analysis.floors import broken_floors
from analysis.measure_arm_clocks import clock_findings, measure_arm_clocks
from analysis.measure_drift import CONCURRENCY, Reading, drift_findings, measure_drift, observe_concurrency
from analysis.methods import kept_apart
from analysis.observe import observe
from analysis.order import RunOrder, observe_order, order_findings, run_order, who_first
from analysis.promise import Promise
from analysis.promised import found_share, held_to_looks, look_findings, pinned_of, promise_of, score_of
from analysis.reruns import interventions_by_task, retries_by_task
from analysis.secondary import Secondary, Wishes, secondary
from analysis.sensitivity import PRIMARY, kind_of
from analysis.statistics.interval import Interval
from analysis.statistics.verdict import disagreement, verdict
from analysis.summary import count_findings, summarise, ungraded_trials
from analysis.warehouse import Warehouse
from manifests.conditions import Condition, judge, non_comparative
from manifests.finding import Finding
from manifests.manifest import Manifest
from preregistration.confirmatory import Conduct, LabelledRow, is_confirmatory, label_rows
from preregistration.plan import FrozenPlan, Plan, Role
from preregistration.rows import AGGREGATION

_PRIMARY_ROW = "endpoint:success"


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """What was promised, as far as it was given.

    Attributes:
        plan: The frozen plan; None makes the comparison exploratory.
        manifest_digest: Digest of the pinned manifest; None when none was given.
        declared: Factor to declared value, from the manifest.
        manifest: The manifest itself; None when none was given.
        scheduled: The recorded starts were held against a written schedule.
    """

    plan: FrozenPlan | None
    manifest_digest: str | None
    declared: Mapping[str, str]
    manifest: Manifest | None = None
    scheduled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """What the decision is called and when it was made: passed in, never looked up.

    Attributes:
        study: Name of the study.
        date: Date of the decision.
        commands: The exact commands that reproduce it.
    """

    study: str
    date: date
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Standing:
    """How a comparison stands, whatever its numbers say."""

    conditions: tuple[Condition, ...]
    label: Label
    labels: Mapping[str, str]
    findings: tuple[Finding, ...]
    drift: Drift | None
    promise: Promise | None
    clocks: ArmClocks | None


def decide(
    comparison: Comparison,
    audited: AuditedTrials,
    warehouse: Warehouse,
    *,
    arms: tuple[Arm, Arm],
    registration: Registration,
    occasion: Occasion,
    wishes: Wishes | None = None,
    notes: tuple[str, ...] = (),
) -> Decision:
    """Decide a comparison: judge the conditions, label it, and say what the frozen plan allows.

    Args:
        comparison: The numbers.
        audited: The trials they come from.
        warehouse: The same trials, for the totals.
        arms: Treatment, control.
        registration: Plan and manifest.
        occasion: Study, date and commands.
        wishes: What a person asked for beside what the plan holds.
        notes: Sentences of the caller's that a reader needs.
    """
    plan = _held_plan(comparison, registration)
    names = [arm.name for arm in arms]
    others = [arm.name for arm in audited.arms if arm.name not in names]
    beside = secondary(comparison, warehouse, arms=[*names, *others], plan=plan, wishes=wishes or Wishes())
    standing = _stand(comparison, audited, beside, arms=arms, registration=registration)
    first, also, disagreed = _verdict(comparison, standing.label, registration)
    totals = {str(row["arm"]): row for row in warehouse.rows("arm_totals")}
    summaries = [summarise(arm, totals[arm.name], apart=kept_apart(audited.of(arm.name))) for arm in arms]
    protocol = comparison.protocol
    decision = Decision(
        study=occasion.study,
        date=occasion.date,
        label=standing.label,
        treatment=summaries[0],
        control=summaries[1],
        n_tasks=len(comparison.sample.rows),
        attempts=comparison.sample.attempts,
        discordance=comparison.discordance,
        difference=comparison.difference,
        interval=comparison.interval,
        extra_intervals=comparison.extra,
        p_exact=comparison.p_exact,
        p_mid=comparison.p_mid,
        test=protocol.test,
        alpha=protocol.alpha,
        minimum_effect=protocol.minimum_effect,
        noninferiority_margin=protocol.noninferiority_margin,
        verdict=first,
        also=also,
        conditions=standing.conditions,
        findings=count_findings(standing.findings, audited.gravity),
        excluded=tuple(
            replace(item, label=standing.labels[f"exclusion:{item.task}"]) for item in comparison.sample.excluded
        ),
        ungraded=ungraded_trials(audited, names),
        endpoints=_endpoints(beside, standing, plan, verdicts=frozenset((first, *also))),
        tasks=comparison.sample.rows,
        not_selected=audited.not_selected,
        infrastructure=audited.infrastructure,
        notes=(*comparison.notes, *disagreed, *notes, *beside.notes),
        commands=occasion.commands,
        digests=_digests(audited, registration),
        sensitivity=tuple(replace(row, label=standing.labels[_row_of(row)]) for row in beside.sensitivity),
        frontier=beside.frontier,
        families=beside.families,
        seed=beside.seed,
        floors=beside.floors,
    )
    return _in_context(decision, audited, standing, registration=registration)


def _in_context(
    decision: Decision, audited: AuditedTrials, standing: _Standing, *, registration: Registration
) -> Decision:
    """Return a decision with what surrounds its numbers: time, promise, pins, retries, the promised score."""
    plan, manifest = registration.plan, registration.manifest
    arms = (decision.treatment.name, decision.control.name)
    retries = [retries_by_task(audited, arm) for arm in arms]
    stepped_in = [interventions_by_task(audited, arm) for arm in arms]
    label = standing.labels.get(AGGREGATION, "")
    return replace(
        decision,
        tasks=tuple(
            replace(
                row,
                treatment_retries=retries[0].get(row.task),
                control_retries=retries[1].get(row.task),
                treatment_interventions=stepped_in[0].get(row.task),
                control_interventions=stepped_in[1].get(row.task),
            )
            for row in decision.tasks
        ),
        drift=standing.drift,
        clocks=standing.clocks,
        promise=standing.promise,
        notes=(*decision.notes, *broken_floors(decision.floors)),
        pinned=None if manifest is None else pinned_of(manifest),
        score=None if plan is None else score_of(plan.plan, decision.endpoints, label=label),
    )


def _digests(audited: AuditedTrials, registration: Registration) -> Digests:
    return Digests(
        manifest=registration.manifest_digest,
        plan=registration.plan.digest if registration.plan else None,
        evidence=audited.evidence_digest,
    )


def _endpoints(
    beside: Secondary, standing: _Standing, plan: Plan | None, *, verdicts: frozenset[Verdict]
) -> tuple[EndpointResult, ...]:
    """Return every endpoint with the role that the plan gave it; one that no plan holds is exploratory."""
    roles = {endpoint.name: endpoint.role.value for endpoint in plan.endpoints} if plan else {}
    rows = [
        replace(row, role=roles.get(row.name, Role.EXPLORATORY.value), label=standing.labels[f"endpoint:{row.name}"])
        for row in beside.endpoints
    ]
    return with_families(rows, plan, verdicts=verdicts, comparative=standing.label.comparative)


def _row_of(row: SensitivityRow) -> str:
    """Return the labelled row that a sensitivity row stands on; the primary analysis is the endpoint itself."""
    return _PRIMARY_ROW if row.name == PRIMARY else f"sensitivity:{kind_of(row.name)}"


def _stand(
    comparison: Comparison,
    audited: AuditedTrials,
    beside: Secondary,
    *,
    arms: tuple[Arm, Arm],
    registration: Registration,
) -> _Standing:
    treatment, control = (arm.name for arm in arms)
    order = run_order(audited, treatment=treatment, control=control)
    drift = _drift(comparison, audited, order, seed=beside.seed, plan=registration.plan)
    observations = [
        *(
            observe_concurrency(one, drift) if one.factor == CONCURRENCY else one
            for one in observe(audited, treatment=treatment, control=control)
        ),
        observe_order(order, treatment=treatment, control=control),
    ]
    conditions = judge(observations, registration.declared)
    rows = _rows(audited, comparison, beside, registration=registration, order=order)
    promise = _promise(comparison, registration)
    clocks = measure_arm_clocks(audited, treatment=treatment, control=control)
    in_time = (
        *order_findings(order, treatment=treatment, control=control),
        *drift_findings(drift),
        *look_findings(promise),
        *clock_findings(clocks),
    )
    in_order, _ = audited.gravity.apply(in_time)
    return _Standing(
        conditions=conditions,
        label=_label(audited, conditions, rows=rows, frozen=registration.plan),
        labels={row.row: row.label.value for row in rows},
        findings=(*audited.findings, *in_order),
        drift=drift,
        promise=promise,
        clocks=clocks,
    )


def _promise(comparison: Comparison, registration: Registration) -> Promise | None:
    if registration.plan is None:
        return None
    found = comparison.sample.trials
    return promise_of(registration.plan, registration.manifest, found_trials=found, scheduled=registration.scheduled)


def _held_plan(comparison: Comparison, registration: Registration) -> Plan | None:
    """Return the plan as this analysis, a look or the final one, is held to it; None without one."""
    if registration.plan is None:
        return None
    plan = registration.plan.plan
    share = found_share(plan, registration.manifest, found_trials=comparison.sample.trials)
    return held_to_looks(plan, found_share=share)


def _drift(
    comparison: Comparison, audited: AuditedTrials, order: RunOrder, *, seed: int, plan: FrozenPlan | None
) -> Drift | None:
    reading = Reading(
        arms=order.arms,
        tasks=frozenset(row.task for row in comparison.sample.rows),
        policy=dict(plan.plan.missing) if plan else {},
        level=comparison.protocol.level,
        seed=seed,
    )
    return measure_drift(audited, order, reading=reading)


def _verdict(
    comparison: Comparison, label: Label, registration: Registration
) -> tuple[Verdict, tuple[Verdict, ...], tuple[str, ...]]:
    """Return the first verdict that holds, the others, and a note where test and interval disagree."""
    protocol, estimate = comparison.protocol, comparison.interval
    interval = Interval(low=estimate.low, high=estimate.high, level=estimate.level, method=estimate.method)
    notes = tuple(_disagreements(comparison, interval))
    if registration.plan is None or not label.comparative:
        return Verdict.NONE, (), notes
    first, others = verdict(
        interval.low,
        interval.high,
        minimum_effect=protocol.minimum_effect,
        margin=protocol.noninferiority_margin,
    )
    return first, others, notes


def _disagreements(comparison: Comparison, interval: Interval) -> Iterator[str]:
    """Yield where a p-value and the interval that decides say different things about zero."""
    for name, p in (("mid-p", comparison.p_mid), ("exact p", comparison.p_exact)):
        found = disagreement(p, interval, alpha=comparison.protocol.alpha)
        if found is not None:
            yield f"the {name} and the interval disagree: {found.reason}"


def _label(
    audited: AuditedTrials,
    conditions: tuple[Condition, ...],
    *,
    rows: tuple[LabelledRow, ...],
    frozen: FrozenPlan | None,
) -> Label:
    unlike = non_comparative(conditions)
    reasons = [f"non-comparative: {', '.join(unlike)} differ or are unknown"] if unlike else []
    primary = next(row for row in rows if row.row == _PRIMARY_ROW)
    if frozen is None:
        reasons.append("exploratory: no frozen plan")
    else:
        reasons += [f"{primary.label.value}: {reason}" for reason in primary.reasons]
    return Label(
        comparative=not unlike,
        confirmatory=frozen is not None and is_confirmatory(rows, frozen.plan),
        simulated=_simulated(audited),
        reasons=tuple(reasons),
    )


def _rows(
    audited: AuditedTrials,
    comparison: Comparison,
    beside: Secondary,
    *,
    registration: Registration,
    order: RunOrder,
) -> tuple[LabelledRow, ...]:
    """Label every row of the results; the mechanics are preregistration/confirmatory.py's."""
    starts = [item.trial.clock.started_at for item in audited.trials if item.arm is not None]
    known = [start for start in starts if start is not None]
    conduct = Conduct(
        endpoints=tuple(row.name for row in beside.endpoints),
        exclusions=tuple(item.task for item in comparison.sample.excluded),
        sensitivity=tuple(dict.fromkeys(kind_of(row.name) for row in beside.sensitivity)),
        aggregation=bool(registration.plan and registration.plan.plan.aggregation),
        # One unknown start is enough to leave open which trial was the first.
        first_started_at=min(known) if known and len(known) == len(starts) else None,
        manifest_digest=registration.manifest_digest,
        attempts=comparison.sample.attempts,
        run_order=order.rule,
        always_first=who_first(order, treatment=order.arms[0], control=order.arms[1]) if order.unbalanced else None,
        simulated=_simulated(audited),
    )
    return label_rows(registration.plan, conduct)


def _simulated(audited: AuditedTrials) -> bool:
    return any(item.trial.simulated for item in audited.trials if item.arm is not None)
