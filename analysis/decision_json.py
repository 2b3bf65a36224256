"""The only place for a decision as JSON, schema `evenhand-decision-1`, and for the digest it carries.

The digest is that of the canonical bytes (RFC 8785) with `digests.decision` null, so that a reader can check it with
the file alone. Keys of the command's contract come first and are never renamed; further keys may follow.
"""

from collections.abc import Mapping
from decimal import Decimal

from analysis.context_json import context_json
from analysis.decision import SCHEMA, ArmSummary, Decision, TaskRow, Total
from analysis.secondary_json import endpoint_json, family_json, frontier_json, interval_json, sensitivity_json
from manifests.digest import digest_value

Json = dict[str, object]


def decision_json(decision: Decision) -> Json:
    """Return the JSON value of a decision, its own digest filled in; None stays null, costs are plain numbers."""
    document = _head(decision) | _statistics(decision) | _lists(decision) | _beyond_contract(decision)
    document["digests"] = _digests(decision, None)
    document["digests"] = _digests(decision, decision_digest(document))
    return document


def decision_digest(document: Mapping[str, object]) -> str:
    """Return the digest of a decision's JSON value, whatever stands in `digests.decision`.

    Raises:
        DigestError: When the document has no canonical bytes.
    """
    digests = document.get("digests")
    blank = {**digests, "decision": None} if isinstance(digests, Mapping) else digests
    return digest_value({**document, "digests": blank})


def _head(decision: Decision) -> Json:
    label = decision.label
    return {
        "schema": SCHEMA,
        "study": decision.study,
        "date": decision.date.isoformat(),
        "label": {
            "comparative": label.comparative,
            "confirmatory": label.confirmatory,
            "simulated": label.simulated,
            "reasons": list(label.reasons),
        },
        "treatment": _arm(decision.treatment),
        "control": _arm(decision.control),
        "n_tasks": decision.n_tasks,
        "attempts": decision.attempts,
    }


def _statistics(decision: Decision) -> Json:
    counts = decision.discordance
    return {
        "discordance": {"ahead": counts.ahead, "behind": counts.behind, "ties": counts.ties},
        "difference": decision.difference,
        "interval": None if decision.interval is None else interval_json(decision.interval),
        "p_exact": decision.p_exact,
        "p_mid": decision.p_mid,
        "test": decision.test,
        "alpha": decision.alpha,
        "minimum_effect": decision.minimum_effect,
        "noninferiority_margin": decision.noninferiority_margin,
        "verdict": decision.verdict.value,
        "also": [verdict.value for verdict in decision.also],
    }


def _lists(decision: Decision) -> Json:
    return {
        "conditions": [
            {"factor": one.factor, "status": one.status.value, "detail": one.detail} for one in decision.conditions
        ],
        "findings": [
            {"code": one.code, "count": one.count, "where": list(one.where), "detail": one.detail}
            for one in decision.findings
        ],
        "excluded": [{"task": one.task, "reason": one.reason, "label": one.label} for one in decision.excluded],
        "endpoints": [endpoint_json(one) for one in decision.endpoints],
        "frontier": frontier_json(decision.frontier),
        "sensitivity": [sensitivity_json(row) for row in decision.sensitivity],
    }


def _beyond_contract(decision: Decision) -> Json:
    return {
        "extra_intervals": [interval_json(one) for one in decision.extra_intervals],
        "ungraded": [
            {"arm": one.arm, "task": one.task, "exception_type": one.exception_type} for one in decision.ungraded
        ],
        "tasks": [_task(row) for row in decision.tasks],
        "not_selected": list(decision.not_selected),
        "infrastructure": list(decision.infrastructure),
        "notes": list(decision.notes),
        "commands": list(decision.commands),
        "families": [family_json(family) for family in decision.families],
        "seed": decision.seed,
        "drift": context_json(decision.drift),
        "promise": context_json(decision.promise),
        "pinned": context_json(decision.pinned),
        "floors": context_json(decision.floors),
        "score": context_json(decision.score),
        "clocks": context_json(decision.clocks),
    }


def _digests(decision: Decision, own: str | None) -> Json:
    digests = decision.digests
    return {"manifest": digests.manifest, "plan": digests.plan, "evidence": digests.evidence, "decision": own}


def _arm(arm: ArmSummary) -> Json:
    return {
        "name": arm.name,
        "trials": arm.trials,
        "solved": arm.solved,
        "ungraded": arm.ungraded,
        "errored": arm.errored,
        "selector": arm.selector,
        "harness": list(arm.harness),
        "cost_usd": _total(arm.cost_usd),
        "cost_method": arm.cost_method,
        "input_tokens": _total(arm.input_tokens),
        "cache_tokens": _total(arm.cache_tokens),
        "output_tokens": _total(arm.output_tokens),
        "wall_ms": _total(arm.wall_ms),
        "agent_ms": _total(arm.agent_ms),
    }


def _total(total: Total) -> Json:
    return {
        "value": _number(total.value),
        "known": total.known,
        "trials": total.trials,
        "known_sum": _number(total.known_sum),
        "reason": total.reason,
    }


def _task(row: TaskRow) -> Json:
    return {
        "task": row.task,
        "treatment": {
            "solved": row.treatment_solved,
            "trials": row.treatment_trials,
            "ungraded": row.treatment_ungraded,
            "cost_usd": _number(row.treatment_cost_usd),
            "wall_ms": row.treatment_wall_ms,
            "input_tokens": row.treatment_input_tokens,
            "output_tokens": row.treatment_output_tokens,
            "retries": row.treatment_retries,
            "interventions": row.treatment_interventions,
        },
        "control": {
            "solved": row.control_solved,
            "trials": row.control_trials,
            "ungraded": row.control_ungraded,
            "cost_usd": _number(row.control_cost_usd),
            "wall_ms": row.control_wall_ms,
            "input_tokens": row.control_input_tokens,
            "output_tokens": row.control_output_tokens,
            "retries": row.control_retries,
            "interventions": row.control_interventions,
        },
        "difference": row.difference,
        "exceptions": list(row.exceptions),
    }


def _number(value: Decimal | float | None) -> float | int | None:
    # float(Decimal("4.8812")) is spelled 4.8812 again: the shortest spelling carries no binary noise.
    return float(value) if isinstance(value, Decimal) else value
