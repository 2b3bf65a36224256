"""The only place for the typed shapes of decision.json and provenance.json: every key, and what may stand behind it.

The projection makes a decision fit; this check trusts nothing and looks at the final bytes again.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from analysis.buckets import ATTEMPT_BUCKETS, TURN_BUCKETS
from analysis.decision import SCHEMA, Verdict
from manifests.conditions import Status
from preregistration.confirmatory import RowLabel
from preregistration.plan import FLOOR_KINDS, RUN_ORDERS
from reports.privacy.allowlist import CHANGES, WITHHELD, fits

Rule = Callable[[object], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfit:
    """A key or value that may not leave: where it stands, and of which kind the fault is; never the value."""

    kind: str
    where: str


def misfits(document: object) -> tuple[Misfit, ...]:
    """Return every key of a decision that is not named and every value that does not fit, in document order."""
    return tuple(_walk(document, _SHAPE, "$"))


def provenance_misfits(document: object) -> tuple[Misfit, ...]:
    """Return every key of a provenance.json that is not named and every value that does not fit, in document order."""
    return tuple(_walk(document, _PROVENANCE, "$"))


def _walk(value: object, shape: object, where: str) -> Iterator[Misfit]:
    if isinstance(shape, dict):
        yield from _object(value, shape, where)
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield Misfit(kind="wrong_type", where=where)
            return
        for place, item in enumerate(value):
            yield from _walk(item, shape[0], f"{where}[{place}]")
    elif not (callable(shape) and shape(value)):
        yield Misfit(kind="wrong_value", where=where)


def _object(value: object, shape: Mapping[str, object], where: str) -> Iterator[Misfit]:
    if not isinstance(value, dict):
        yield Misfit(kind="wrong_type", where=where)
        return
    # The name of an unknown key may itself be private: only its parent is named.
    if value.keys() - shape.keys():
        yield Misfit(kind="unknown_key", where=where)
    for key, inner in shape.items():
        if key not in value:
            yield Misfit(kind="missing_key", where=f"{where}.{key}")
        else:
            yield from _walk(value[key], inner, f"{where}.{key}")


def _text(kind: str) -> Rule:
    return lambda value: isinstance(value, str) and (value == WITHHELD or fits(kind, value))


def _pair(first: str, second: str) -> Rule:
    rules = (_text(first), _text(second))
    return lambda value: (
        isinstance(value, list) and len(value) == 2 and all(rule(item) for rule, item in zip(rules, value, strict=True))
    )


def _one_of(*allowed: str) -> Rule:
    return lambda value: isinstance(value, str) and value in allowed


def _or_null(rule: Rule) -> Rule:
    return lambda value: value is None or rule(value)


def _number(low: float, high: float = math.inf) -> Rule:
    return lambda value: (
        isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and low <= value <= high
    )


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _flag(value: object) -> bool:
    return isinstance(value, bool)


def _fits(shape: object) -> Rule:
    return lambda value: not tuple(_walk(value, shape, ""))


def _text_or_nothing(kind: str) -> Rule:
    rule = _text(kind)
    return lambda value: value == "" or rule(value)


_LABELS = _one_of(*(label.value for label in RowLabel))
_VERDICTS = _one_of(*(verdict.value for verdict in Verdict))
_DIGESTS: dict[str, object] = {
    "manifest": _or_null(_text("digest")),
    "plan": _or_null(_text("digest")),
    "evidence": _text("digest"),
    "decision": _text("digest"),
}
_TOTAL = {
    "value": _or_null(_number(0)),
    "known": _whole,
    "trials": _whole,
    "known_sum": _or_null(_number(0)),
    "reason": _text("sentence"),
}
_ARM: dict[str, object] = {
    "name": _text("arm"),
    "trials": _whole,
    "solved": _whole,
    "ungraded": _whole,
    "errored": _whole,
    "selector": _text("selector"),
    "harness": [_text("harness")],
    "cost_usd": _TOTAL,
    "cost_method": _or_null(_text("phrase")),
    "input_tokens": _TOTAL,
    "cache_tokens": _TOTAL,
    "output_tokens": _TOTAL,
    "wall_ms": _TOTAL,
    "agent_ms": _TOTAL,
}
_INTERVAL = {"low": _number(-1, 1), "high": _number(-1, 1), "level": _number(0, 1), "method": _text("code")}
_SIDE = {
    "solved": _whole,
    "trials": _whole,
    "ungraded": _whole,
    "cost_usd": _or_null(_number(0)),
    "wall_ms": _or_null(_number(0)),
    "input_tokens": _or_null(_whole),
    "output_tokens": _or_null(_whole),
    "retries": _or_null(_whole),
    "interventions": _or_null(_whole),
}
_ANY_NUMBER = _or_null(_number(-math.inf))
_P = _or_null(_number(0, 1))
_SCALE = _one_of("ratio", "difference")
_CONTRAST = {
    "scale": _SCALE,
    "low": _ANY_NUMBER,
    "high": _ANY_NUMBER,
    "level": _number(0, 1),
    "method": _text("phrase"),
}
_ENDPOINT: dict[str, object] = {
    "name": _text("code"),
    "role": _text("word"),
    "label": _LABELS,
    "unit": _text("phrase"),
    "treatment": _ANY_NUMBER,
    "control": _ANY_NUMBER,
    "treatment_at_least": _flag,
    "control_at_least": _flag,
    "ratio": _or_null(_number(0)),
    "difference": _ANY_NUMBER,
    "interval": _or_null(_fits(_CONTRAST)),
    "test": _text_or_nothing("code"),
    "p": _P,
    "adjusted_p": _P,
    "adjustment": _text_or_nothing("code"),
    "gate": _text_or_nothing("code"),
    "decision": _VERDICTS,
    "also": [_VERDICTS],
    "conditional": _flag,
    "note": _text("sentence"),
}
_FRONTIER: dict[str, object] = {
    "axes": [
        {
            "name": _text("code"),
            "unit": _text("phrase"),
            "direction": _one_of("higher", "lower"),
            "scale": _SCALE,
            "epsilon": _number(0),
            "floor": _ANY_NUMBER,
        }
    ],
    "arms": [
        {
            "arm": _text("arm"),
            "state": _one_of("on", "off", "undetermined"),
            "reason": _text("sentence"),
            "p_non_dominated": _P,
            "p_dominated_by": [{"arm": _text("arm"), "p": _number(0, 1)}],
            "p_front": [_number(0, 1)],
            "axes": [
                {
                    "axis": _text("code"),
                    "value": _ANY_NUMBER,
                    "low": _ANY_NUMBER,
                    "high": _ANY_NUMBER,
                    "p_floor": _P,
                    "p_rank": [_number(0, 1)],
                }
            ],
        }
    ],
    "n_tasks": _whole,
    "alpha": _number(0, 1),
    "resamples": _whole,
    "seed": _whole,
    "note": _text("sentence"),
}
_DRIFT: dict[str, object] = {
    "rule": _one_of(*RUN_ORDERS),
    "block_order": _flag,
    "runs": _whole,
    "expected_runs": _number(0),
    "treatment_first": _whole,
    "control_first": _whole,
    "together": _whole,
    "p_first": _P,
    "median_lag_s": _or_null(_number(0)),
    "largest_lag_s": _or_null(_number(0)),
    "overlapping": _whole,
    "timed_pairs": _whole,
    "peak_treatment": _or_null(_whole),
    "peak_control": _or_null(_whole),
    "peak_together": _or_null(_whole),
    "untimed": _whole,
    "order_effect": {
        "value": _or_null(_number(-2, 2)),
        "low": _ANY_NUMBER,
        "high": _ANY_NUMBER,
        "p": _P,
        "design": _text_or_nothing("code"),
        "reason": _text("sentence"),
    },
    "rounds": {
        "differences": [_number(-1, 1)],
        "p_values": [_number(0, 1)],
        "heterogeneity_p": _P,
        "reason": _text("sentence"),
    },
    "trend": {"rank_correlation": _or_null(_number(-1, 1)), "p": _P, "runs_p": _P, "reason": _text("sentence")},
    "changes": [{"arm": _text("arm"), "factor": _text("code"), "values": _whole, "switches": _whole}],
}
_PROMISE: dict[str, object] = {
    "question": _text("promised"),
    "cohort": _text("promised"),
    "inclusion": _text("promised"),
    "unit": _text("code"),
    "attempts": _whole,
    "unequal_attempts": _flag,
    "run_order": _one_of(*RUN_ORDERS),
    "scheduled": _flag,
    "seed": _whole,
    "stop": {
        "looks": _whole,
        "spending": _text("code"),
        "nominal_p": [_P],
        "promised_trials": _or_null(_whole),
        "found_trials": _whole,
    },
    "multiplicity": _text("code"),
    "endpoints": [
        {
            "name": _text("code"),
            "role": _text("code"),
            "test": _text("code"),
            "alpha": _number(0, 1),
            "interval": _text("code"),
            "level": _number(0, 1),
            "minimum_effect": _P,
            "noninferiority_margin": _P,
        }
    ],
    "missing": [_pair("code", "code")],
    "exclusions": [_pair("task", "reason")],
    "sensitivity": [_text("code")],
    "aggregation": _or_null(_text("promised")),
    "frozen_at": _text("instant"),
    "clock": _text("code"),
    "commit": _or_null(_text("commit")),
    "registration": _or_null(_text("digest")),
    "amendments": [
        {"number": _whole, "at": _text("instant"), "reason": _text("promised"), "changed": [_text("planned")]}
    ],
}
_PINNED: dict[str, object] = {
    "dataset": _or_null(_text("promised")),
    "revision": _or_null(_text("revision")),
    "tasks": _whole,
    "digests": _whole,
    "attempts": _or_null(_whole),
    "declared": [_pair("code", "promised")],
    "selection": _or_null(_text("sentence")),
}
_FLOOR: dict[str, object] = {
    "kind": _one_of(*FLOOR_KINDS),
    "metric": _text("code"),
    "at_least": _ANY_NUMBER,
    "at_most": _ANY_NUMBER,
    "unit": _text_or_nothing("phrase"),
    "observed": _ANY_NUMBER,
    "met": _or_null(_flag),
    "share": _P,
    "note": _text("sentence"),
}
_SCORE: dict[str, object] = {
    "name": _text("promised"),
    "value": _ANY_NUMBER,
    "parts": [{"endpoint": _text("code"), "weight": _number(0, 1), "gain": _ANY_NUMBER}],
    "label": _LABELS,
}
_MS = _or_null(_number(0))
_SPREAD = {"n": _whole, "median": _MS}
_CLOCKS: dict[str, object] = {
    "arms": [
        {
            "side": _one_of("treatment", "control"),
            "arm": _text("arm"),
            "recorded_as": _text("arm"),
            "harness": _text("harness"),
            "attempts": _whole,
            "turns": _whole,
            "buckets": [
                {
                    "name": _one_of(*TURN_BUCKETS, *ATTEMPT_BUCKETS),
                    "scope": _one_of("turn", "attempt"),
                    "of": _whole,
                    "measured": _whole,
                    "total_ms": _ANY_NUMBER,
                    "known_ms": _ANY_NUMBER,
                    "turn_median_ms": _ANY_NUMBER,
                    "attempts": _whole,
                    "attempt_median_ms": _ANY_NUMBER,
                }
            ],
            "to_first_delta_first": _SPREAD,
            "to_first_delta_later": _SPREAD,
            "cap_units": [_text("code")],
            "cap_limits": [_whole],
            "cap_unit_sources": [_text("code")],
            "capped": _whole,
            "cap_flagged": _flag,
            "jobs": [_whole],
            "at_once": _or_null(_whole),
            "gated": _whole,
            "beyond": _whole,
            "disagreeing": _whole,
            "simulated": _whole,
            "notes": [_text("sentence")],
        }
    ],
    "one_harness": _flag,
    "max_residual_pct": _number(0, 100),
    "notes": [_text("sentence")],
}
_SHAPE: dict[str, object] = {
    "schema": _one_of(SCHEMA),
    "study": _text("study"),
    "date": _text("date"),
    "label": {"comparative": _flag, "confirmatory": _flag, "simulated": _flag, "reasons": [_text("sentence")]},
    "treatment": _ARM,
    "control": _ARM,
    "n_tasks": _whole,
    "attempts": _or_null(_whole),
    "discordance": {"ahead": _whole, "behind": _whole, "ties": _whole},
    "difference": _number(-1, 1),
    "interval": _or_null(_fits(_INTERVAL)),
    "p_exact": _P,
    "p_mid": _P,
    "test": _text("code"),
    "alpha": _number(0, 1),
    "minimum_effect": _or_null(_number(0, 1)),
    "noninferiority_margin": _or_null(_number(0, 1)),
    "verdict": _VERDICTS,
    "also": [_VERDICTS],
    "conditions": [
        {"factor": _text("code"), "status": _one_of(*(one.value for one in Status)), "detail": _text("detail")}
    ],
    "findings": [{"code": _text("code"), "count": _whole, "where": [_text("place")], "detail": _text("sentence")}],
    "excluded": [{"task": _text("task"), "reason": _text("reason"), "label": _LABELS}],
    "endpoints": [_ENDPOINT],
    "frontier": _or_null(_fits(_FRONTIER)),
    "sensitivity": [
        {
            "name": _text("row"),
            "label": _LABELS,
            "n_tasks": _or_null(_whole),
            "difference": _or_null(_number(-1, 1)),
            "interval": _or_null(_fits(_INTERVAL)),
            "p_exact": _P,
            "note": _text("sentence"),
        }
    ],
    "digests": _DIGESTS,
    "extra_intervals": [_INTERVAL],
    "ungraded": [{"arm": _text("arm"), "task": _text("task"), "exception_type": _or_null(_text("exception"))}],
    "tasks": [
        {
            "task": _text("task"),
            "treatment": _SIDE,
            "control": _SIDE,
            "difference": _number(-1, 1),
            "exceptions": [_text("exception")],
        }
    ],
    "not_selected": [_text("place")],
    "infrastructure": [_text("sentence")],
    "notes": [_text("sentence")],
    "commands": [_text("command")],
    "drift": _or_null(_fits(_DRIFT)),
    "promise": _or_null(_fits(_PROMISE)),
    "pinned": _or_null(_fits(_PINNED)),
    "floors": [_FLOOR],
    "score": _or_null(_fits(_SCORE)),
    "clocks": _or_null(_fits(_CLOCKS)),
    "families": [
        {
            "name": _text("phrase"),
            "method": _text("phrase"),
            "n_tasks": _whole,
            "exact": _flag,
            "patterns": _whole,
            "comparisons": [
                {
                    "treatment": _text("arm"),
                    "control": _text("arm"),
                    "difference": _number(-1, 1),
                    "p_exact": _number(0, 1),
                    "adjusted_p": _number(0, 1),
                }
            ],
        }
    ],
    "seed": _or_null(_whole),
}
_PROVENANCE: dict[str, object] = {
    "schema": _one_of("evenhand-provenance-1"),
    "study": _text("study"),
    "date": _text("date"),
    "author": {"principal": _or_null(_text("handle")), "identity": _or_null(_text("digest"))},
    "software": {"name": _one_of("evenhand"), "version": _text("version")},
    "gates": {"engines": [_text("engine")], "rules_sha256": _text("digest"), "paths_policy": _text("engine")},
    "dropped": [{"kind": _text("kind"), "change": _one_of(*CHANGES), "count": _whole}],
    "digests": _DIGESTS,
}
