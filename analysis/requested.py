"""The only place for what the recorders say of a request that a harness did not honour, as a condition of a comparison.

A field that one arm honours and the other ignores is a difference, whatever the values were. One that both ignore is
the same on both sides, and the report says that neither kept to it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from analysis.evidence.timed_run import TimedTrial
from harness.run_folder import DEFAULT_LIMIT
from manifests.conditions import Observation, Status

# Field of a request to the factor that it sets; any other grants or denies something to the agent.
FACTOR_OF_FIELD: Mapping[str, str] = {
    "context_tokens": "model_configuration",
    "effort": "model_configuration",
    "max_output_tokens": "model_configuration",
    "max_turns": "budget",
    "model": "model",
    "native_budget_usd": "budget",
    "session": "prompt_digest",
    "system_prompt": "prompt_digest",
}
_OTHERWISE = "tool_permissions"
_CONCURRENCY = "concurrency"
_OUTPUT_LIMIT = "model_configuration"

Trials = Sequence[TimedTrial]


def observe_requests(seen: Sequence[Observation], *, treatment: Trials, control: Trials) -> Iterator[Observation]:
    """Yield the observations with what the requests of both arms' timed trials add to them."""
    ignored = _ignored(treatment), _ignored(control)
    for one in seen:
        found = one
        if one.factor == _OUTPUT_LIMIT:
            found = _output_limit(one, treatment, control)
        elif one.factor == _CONCURRENCY:
            found = _concurrency(one, treatment, control)
        fields = [None if names is None else _of_factor(names, one.factor) for names in ignored]
        yield _with_ignored(found, fields[0], fields[1])


def _ignored(trials: Trials) -> frozenset[str] | None:
    """Return the fields that an arm's harness ignored; None when no trial says so."""
    said = [trial.ignored_fields for trial in trials if trial.ignored_fields is not None]
    return frozenset(name for names in said for name in names) if said else None


def _of_factor(fields: frozenset[str], factor: str) -> frozenset[str]:
    return frozenset(name for name in fields if FACTOR_OF_FIELD.get(name, _OTHERWISE) == factor)


def _with_ignored(seen: Observation, treatment: frozenset[str] | None, control: frozenset[str] | None) -> Observation:
    if not treatment and not control:
        return seen
    if treatment is None or control is None:
        side, fields = ("treatment", treatment) if control is None else ("control", control)
        detail = f"the {side} ignores {_names(fields or ())}; of the other arm nothing is recorded"
        return replace(seen, verdict=Status.UNKNOWN, detail=detail)
    alone = (("treatment", treatment - control), ("control", control - treatment))
    parts = [f"the {side} ignores {_names(fields)} and the other arm does not" for side, fields in alone if fields]
    both = [f"both arms ignore {_names(treatment & control)}"] if treatment & control else []
    detail = "; ".join((*parts, *both, *([seen.detail] if seen.detail else [])))
    if parts:
        return replace(seen, verdict=Status.DIFFERS, detail=detail)
    # What neither arm kept to is the same on both sides, unless something else about the factor was seen.
    shown = seen.verdict is not None or any(value is not None for value in (*seen.treatment, *seen.control))
    return seen if shown else replace(seen, verdict=Status.HELD, detail=detail)


def _output_limit(seen: Observation, treatment: Trials, control: Trials) -> Observation:
    """Judge the output limit of a request: a provider's default that nobody verified is no known value."""
    limits = [
        {trial.max_output_tokens for trial in trials if trial.output_limit_standing is not None}
        for trials in (treatment, control)
    ]
    if not all(limits) or not any(None in side for side in limits):
        return seen
    if limits[0] != limits[1]:
        said = "; ".join(
            f"{arm} {_limit_words(side)}" for arm, side in zip(("treatment", "control"), limits, strict=True)
        )
        return replace(seen, verdict=Status.DIFFERS, detail=f"output limit of a request: {said}")
    return replace(seen, verdict=Status.UNKNOWN, detail=f"output limit of a request: {_limit_words(limits[0])}")


def _concurrency(seen: Observation, treatment: Trials, control: Trials) -> Observation:
    """Hold what ran at once against what was allowed: equal allowances do not make equal loads."""
    most = [max((trial.at_once for trial in trials if trial.at_once), default=None) for trials in (treatment, control)]
    if seen.verdict is not None or None in most or most[0] == most[1]:
        return seen
    allowed = sorted({str(trial.jobs) for trial in (*treatment, *control) if trial.jobs is not None})
    detail = (
        f"most attempts at once: treatment {most[0]}; control {most[1]}; allowed {', '.join(allowed) or 'not recorded'}"
    )
    return replace(seen, verdict=Status.DIFFERS, detail=detail)


def _limit_words(limits: set[int | None]) -> str:
    asked = [f"{limit} tokens" for limit in sorted(limit for limit in limits if limit is not None)]
    return ", ".join((*asked, *([DEFAULT_LIMIT] if None in limits else [])))


def _names(fields: Iterable[str]) -> str:
    return ", ".join(name.replace("_", " ") for name in sorted(fields))
