"""The only place for what a plan promises before anyone looks: its values and the closed sets they come from.

How a plan is read from TOML is in parse.py; how it is registered is in registry.py.
"""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from manifests.digest import digest_value

SCHEMA = "evenhand-plan-1"

# Intervals for the success endpoint; auto becomes AUTO_SINGLE or AUTO_REPEATED with the number of attempts.
SUCCESS_INTERVALS = (
    "auto", "tango", "newcombe10", "bonett_price", "agresti_min", "wald", "fay_lumbard", "task_score", "mj_floor",
    "pseudo_task_t", "percentile", "bca",
)  # fmt: skip
AUTO_SINGLE = "tango"
AUTO_REPEATED = "task_score"
# These are made for a 2x2 table of tasks: one attempt a task and arm.
SINGLE_ATTEMPT_INTERVALS = ("tango", "newcombe10", "bonett_price", "agresti_min", "wald", "fay_lumbard")
RESOURCE_INTERVALS = ("auto", "log_ratio_t", "ratio_of_sums", "percentile", "bca")

# Endpoint name to the tests that it may be decided by.
ENDPOINTS: dict[str, tuple[str, ...]] = {
    "success": ("sign_flip",),
    "cost_per_solved": ("ratio_of_sums",),
    "total_cost": ("log_ratio_t", "ratio_of_sums"),
    "input_tokens": ("log_ratio_t", "ratio_of_sums"),
    "output_tokens": ("log_ratio_t", "ratio_of_sums"),
    "wall_time": ("log_ratio_t", "ratio_of_sums"),
    "agent_time": ("log_ratio_t", "ratio_of_sums"),
}
MISSING_KINDS: dict[str, str] = {
    "agent_timeout": "the agent's clock ran out",
    "agent_crash": "the agent ended with an error or a bad exit code",
    "refusal": "the model or the agent declined the task",
    "provider_error": "the model's provider failed: rate limit, overload, outage",
    "infrastructure_error": "the environment failed: it did not start, was cancelled, lost its machine",
    "verifier_failure": "the verifier failed or left no readable grade",
    "contamination": "the trial saw the solution, or reached what it must not reach",
    "ungraded": "there is no grade and the evidence does not say why",
}
MISSING_POLICIES: dict[str, str] = {
    "unsolved": "counts as unsolved, whatever grade stands there; its cost and time are kept",
    "as_graded": "the recorded grade counts; a trial without one counts as unsolved",
    "exclude_task": "the task leaves both arms; the row that keeps it is shown beside",
    "retry_declared": "run again in the same task and attempt slot, every try kept; a slot still empty is unsolved",
}
RUN_ORDERS: dict[str, str] = {
    "interleaved": "pairs adjacent, order of the arms randomised and counterbalanced, as `evenhand schedule` writes it",
    "blocked": "all trials of one arm, then all of the other: drift cannot be told from the treatment",
    "unspecified": "somebody else ran it; the order is only described",
}
SPENDING: dict[str, str] = {
    "none": "no look before the end",
    "obrien_fleming": "Lan-DeMets spending of O'Brien-Fleming type",
    "pocock": "Lan-DeMets spending of Pocock type",
}
MULTIPLICITY: dict[str, str] = {
    "fixed_sequence": "secondary endpoints are tested in the plan's order; the first that fails ends the sequence",
    "holm": "secondary endpoints are tested together, adjusted by Holm",
}
FLOOR_KINDS = ("safety", "regression")
SENSITIVITY_ROWS: dict[str, str] = {
    "raw": "every trial as recorded, nothing excluded",
    "each_exclusion": "one row for each declared exclusion, undone",
    "per_protocol": "only trials that kept every condition of the protocol",
    "fixed_suite": "the tasks as the whole population: within-task variance only",
    "leave_one_task_out": "the largest and the smallest difference when one task is left out",
    "missing_bounds": "best and worst case for trials without a grade, with the tipping point",
    "harbor_grading": "Harbor's own mean over trials, by its rule up to 0.25 and by its rule from 0.26 on",
    "model": "a logistic model with the task as cluster, fitted by statsmodels; its warnings are recorded",
}


class Role(StrEnum):
    """What an endpoint may be used for."""

    PRIMARY = "primary"
    SECONDARY = "secondary"
    EXPLORATORY = "exploratory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One thing that will be measured, and how it will be decided.

    Attributes:
        name: A key of ENDPOINTS: success, cost_per_solved, input_tokens, output_tokens, wall_time, agent_time, ...
        role: Primary (exactly one), secondary in the plan's order, or exploratory.
        test: Name of the test, for instance sign_flip.
        alpha: Two-sided significance level in (0, 1).
        interval: Name of the interval method, for instance tango or task_score, or auto.
        level: Confidence level in (0, 1), at least 1 - alpha.
        minimum_effect: Smallest difference that matters, > 0: a proportion for success, a share of the control's
            value for the others; None when the plan sets none.
        noninferiority_margin: Largest loss that is tolerated, same unit, > 0; None when the plan sets none.
    """

    name: str
    role: Role
    test: str
    alpha: float
    interval: str
    level: float
    minimum_effect: float | None = None
    noninferiority_margin: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusion:
    """A task that is left out of both arms by declaration."""

    task: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """A bound that the treatment must keep, whatever else it wins.

    Attributes:
        kind: safety or regression.
        metric: Name of the measured quantity.
        at_least: Smallest allowed value; None when only a largest one is set.
        at_most: Largest allowed value; None when only a smallest one is set.
    """

    kind: str
    metric: str
    at_least: float | None = None
    at_most: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregation:
    """The one way in which several dimensions may be made one score; without it there is no overall score.

    Attributes:
        name: Name of the score.
        weights: Endpoint and weight, in (0, 1], summing to 1, sorted by endpoint.
    """

    name: str
    weights: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What was promised.

    Attributes:
        study: Name of the study, `[a-z0-9][a-z0-9-]{0,63}`.
        question: The question in one sentence.
        cohort: Name of the cohort.
        inclusion: Its inclusion rule.
        manifest_digest: Digest of the pinned manifest: the population.
        unit: Unit of inference; always the task.
        endpoints: In the plan's order.
        missing: Kind of missing or errored trial to policy, one row for each of MISSING_KINDS, sorted by kind.
        exclusions: Declared exclusions.
        attempts: Trials per task and arm, >= 1.
        unequal_attempts: True when unequal attempts are declared.
        run_order: A key of RUN_ORDERS.
        seed: Seed of every random step, 0..2^32 - 1.
        looks: Interim looks before the final analysis, >= 0.
        spending: A key of SPENDING.
        multiplicity: A key of MULTIPLICITY.
        floors: Safety and regression floors.
        sensitivity: Rows of the sensitivity table, keys of SENSITIVITY_ROWS.
        aggregation: How dimensions become one score; None when no output may print an overall score.
    """

    study: str
    question: str
    cohort: str
    inclusion: str
    manifest_digest: str
    unit: str = "task"
    endpoints: tuple[Endpoint, ...]
    missing: tuple[tuple[str, str], ...]
    exclusions: tuple[Exclusion, ...] = ()
    attempts: int
    unequal_attempts: bool = False
    run_order: str = "interleaved"
    seed: int
    looks: int = 0
    spending: str = "none"
    multiplicity: str = "fixed_sequence"
    floors: tuple[Floor, ...] = ()
    sensitivity: tuple[str, ...] = ()
    aggregation: Aggregation | None = None

    @property
    def primary(self) -> Endpoint:
        """The one endpoint that the verdict is about."""
        return next(endpoint for endpoint in self.endpoints if endpoint.role is Role.PRIMARY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Amendment:
    """One registered change of a plan.

    Attributes:
        number: 1, 2, ...
        at: UTC instant of registration.
        clock: system or given, as for the plan.
        reason: Why.
        changed: Rows of the plan that it changes, sorted.
    """

    number: int
    at: datetime
    clock: str
    reason: str
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenPlan:
    """A plan that was registered: the witness that nobody can have changed it since.

    Attributes:
        plan: The promises, with every registered amendment applied.
        digest: SHA-256 of the plan's canonical form.
        frozen_at: UTC instant of registration.
        commit: Git commit at registration, or None outside a repository.
        clock: system when the computer's clock gave that instant, given when a person did.
        amendments: UTC instants of the registered amendments, in order.
        history: The amendments themselves, in order.
        registration: Digest of the last entry of the chain: to name it is to name the plan and its whole history;
            None for a plan that was never on a shelf.
    """

    plan: Plan
    digest: str
    frozen_at: datetime
    commit: str | None = None
    clock: str = "system"
    amendments: tuple[datetime, ...] = field(default=())
    history: tuple[Amendment, ...] = ()
    registration: str | None = None


def resolve_interval(endpoint: Endpoint, *, attempts: int) -> str:
    """Return the interval method that an endpoint is decided by, with auto resolved."""
    if endpoint.interval != "auto":
        return endpoint.interval
    if endpoint.name == "success":
        return AUTO_SINGLE if attempts == 1 else AUTO_REPEATED
    return endpoint.test


def missing_policy(plan: Plan, kind: str) -> str:
    """Return the policy for one kind of missing or errored trial; a kind that is not named is as ungraded."""
    policies = dict(plan.missing)
    return policies.get(kind, policies.get("ungraded", "unsolved"))


def plan_value(plan: Plan) -> dict[str, object]:
    """Return the JSON value of a plan: the same shape as its TOML, with every default written out."""
    value: dict[str, object] = {
        "schema": SCHEMA,
        "study": plan.study,
        "question": plan.question,
        "manifest_sha256": plan.manifest_digest,
        "unit": plan.unit,
        "attempts": plan.attempts,
        "unequal_attempts": plan.unequal_attempts,
        "run_order": plan.run_order,
        "seed": plan.seed,
        "multiplicity": plan.multiplicity,
        "sensitivity": list(plan.sensitivity),
        "cohort": {"name": plan.cohort, "inclusion": plan.inclusion},
        "stop": {"looks": plan.looks, "spending": plan.spending},
        "endpoint": [endpoint_value(endpoint) for endpoint in plan.endpoints],
        "missing": dict(plan.missing),
        "exclusion": [{"task": exclusion.task, "reason": exclusion.reason} for exclusion in plan.exclusions],
        "floor": [floor_value(floor) for floor in plan.floors],
    }
    if plan.aggregation is not None:
        value["aggregation"] = {"name": plan.aggregation.name, "weights": dict(plan.aggregation.weights)}
    return value


def plan_digest(plan: Plan) -> str:
    """Return the SHA-256 of a plan's canonical form."""
    return digest_value(plan_value(plan))


def endpoint_value(endpoint: Endpoint) -> dict[str, object]:
    """Return the JSON value of an endpoint."""
    value: dict[str, object] = {
        "name": endpoint.name,
        "role": endpoint.role.value,
        "test": endpoint.test,
        "alpha": endpoint.alpha,
        "interval": endpoint.interval,
        "level": endpoint.level,
        "minimum_effect": endpoint.minimum_effect,
        "noninferiority_margin": endpoint.noninferiority_margin,
    }
    return {key: item for key, item in value.items() if item is not None}


def floor_value(floor: Floor) -> dict[str, object]:
    """Return the JSON value of a floor."""
    value: dict[str, object] = {
        "kind": floor.kind, "metric": floor.metric, "at_least": floor.at_least, "at_most": floor.at_most,
    }  # fmt: skip
    return {key: item for key, item in value.items() if item is not None}
