"""The only place for the shape of a decision: what compare returns, reports print and readers parse.

Schema `evenhand-decision-1`. Keys that stand in the command's contract are never renamed; None means not measured.
"""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum

from analysis.arm_clocks import ArmClocks
from analysis.drift import Drift
from analysis.promise import FloorResult, Pinned, Promise, Score
from manifests.conditions import Condition

SCHEMA = "evenhand-decision-1"


class Verdict(StrEnum):
    """What may be said of the primary endpoint; the first that holds is the verdict, others stand in `also`."""

    SUPERIOR = "superior"
    INFERIOR = "inferior"
    SUPERIOR_SIZE_UNPROVEN = "superior_size_unproven"
    WORSE_SIZE_UNPROVEN = "worse_size_unproven"
    EQUIVALENT = "equivalent"
    NONINFERIOR = "noninferior"
    INCONCLUSIVE = "inconclusive"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """What kind of comparison this is; no option can change it.

    Attributes:
        comparative: Every factor that must be held is held or declared.
        confirmatory: A frozen plan came before the data and was followed.
        simulated: The evidence was generated, or a simulated model answered.
        reasons: One sentence for each thing that took a property away.
    """

    comparative: bool
    confirmatory: bool
    simulated: bool
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """A sum over an arm's trials.

    Attributes:
        value: The sum; None as soon as one part is unknown.
        known: How many trials have the part.
        trials: How many trials there are.
        known_sum: Sum of the known parts, for the sentence that says what is missing; None when none is known, or when
            they may not be added up.
        reason: Why the known parts may not be added up; "" when they may.
    """

    value: Decimal | float | int | None
    known: int
    trials: int
    known_sum: Decimal | float | int | None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmSummary:
    """One arm in numbers.

    Attributes:
        name: The arm's name.
        selector: The selector that named it.
        harness: Agent name and version as the evidence has them, sorted and distinct.
        trials: Trials counted.
        solved: Trials solved.
        ungraded: Trials without a grade, counted as unsolved unless the plan says otherwise.
        errored: Trials with an exception or failure mode.
        cost_usd: Total cost in US dollars.
        cost_method: Who priced it; None when the cost is unknown.
        input_tokens, cache_tokens, output_tokens: Token totals.
        wall_ms, agent_ms: Time totals in milliseconds.
    """

    name: str
    selector: str
    harness: tuple[str, ...]
    trials: int
    solved: int
    ungraded: int
    errored: int
    cost_usd: Total
    cost_method: str | None
    input_tokens: Total
    cache_tokens: Total
    output_tokens: Total
    wall_ms: Total
    agent_ms: Total


@dataclass(frozen=True, slots=True, kw_only=True)
class Discordance:
    """Tasks where the treatment did better, worse, the same."""

    ahead: int
    behind: int
    ties: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalEstimate:
    """A confidence interval for treatment minus control, as proportions in [-1, 1]."""

    low: float
    high: float
    level: float
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingCount:
    """How often a finding occurred, and where (at most ten places inside the study, sorted)."""

    code: str
    count: int
    where: tuple[str, ...]
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Excluded:
    """A task left out of both arms; the label says whether that was promised before the data."""

    task: str
    reason: str
    label: str = "exploratory"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContrastInterval:
    """A confidence interval of an endpoint's contrast.

    Attributes:
        scale: ratio (treatment over control; no difference is 1) or difference (treatment minus control; 0).
        low, high: Limits; None where the set is open on that side: a time limit, or nothing solved, hides the end.
        level: Confidence level in (0, 1).
        method: Name of the method.
    """

    scale: str
    low: float | None
    high: float | None
    level: float
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointResult:
    """One endpoint, with paired inference over tasks where the data allow it.

    Attributes:
        name: Endpoint name.
        role: primary, secondary or exploratory; a plan that does not hold the endpoint makes it exploratory.
        label: confirmatory, post hoc or exploratory: what the row may be used for.
        unit: Unit of the two arm values.
        treatment, control: The arms' values; None when not measured.
        treatment_at_least, control_at_least: The value is only known to be at least this: a time limit hides the rest.
        ratio: Treatment over control; None when undefined, or when the contrast is a difference.
        difference: Treatment minus control; None when undefined, or when the contrast is a ratio.
        interval: Of the ratio or the difference; None when the data allow none.
        test: Name of the test; "" when there is none, as for figures that are conditional on the outcome.
        p: Two-sided p-value; None when the data allow none.
        adjusted_p: p-value within its family; None outside a family, or behind an endpoint without a p-value.
        adjustment: fixed_sequence, holm, benjamini_hochberg, or "" outside a family.
        gate: passed, stopped, failed or not_tested for a secondary endpoint, else "".
        decision: What the frozen plan allows to be said of a secondary endpoint; lower is better for all of them.
        also: Verdicts that co-occur.
        conditional: The figure is conditional on the outcome: it describes, and decides nothing.
        note: Words of ours: why a value is missing, or what it must not be used for.
    """

    name: str
    role: str
    unit: str
    treatment: float | None
    control: float | None
    note: str = ""
    label: str = "exploratory"
    treatment_at_least: bool = False
    control_at_least: bool = False
    ratio: float | None = None
    difference: float | None = None
    interval: ContrastInterval | None = None
    test: str = ""
    p: float | None = None
    adjusted_p: float | None = None
    adjustment: str = ""
    gate: str = ""
    decision: Verdict = Verdict.NONE
    also: tuple[Verdict, ...] = ()
    conditional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitivityRow:
    """The difference in proportion solved, analysed in another way.

    Attributes:
        name: Kind of row, and after a colon which one of its kind.
        label: confirmatory, post hoc or exploratory: whether the plan promised the row before the data.
        n_tasks: Tasks that it stands on; None when it was not computed.
        difference: Treatment minus control, in [-1, 1]; None when it was not computed.
        interval: None when the data allow none.
        p_exact: Exact two-sided p-value of the task-level sign-flip test; None for a row with another test or none.
        note: Words of ours: what was done, or why there is no number.
    """

    name: str
    label: str = "exploratory"
    n_tasks: int | None
    difference: float | None
    interval: IntervalEstimate | None
    p_exact: float | None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierAxis:
    """One axis of the frontier.

    Attributes:
        name: Its name.
        unit: Unit of its values.
        direction: higher or lower: which way is better.
        epsilon: Smallest difference that matters: an amount, or a share of the value (scale ratio).
        scale: difference or ratio.
        floor: Value that must be met; None when there is none.
    """

    name: str
    unit: str
    direction: str
    epsilon: float
    scale: str
    floor: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierArm:
    """Where one arm stands; tuples over axes follow the frontier's axes.

    Attributes:
        arm: Its name.
        state: on, off or undetermined.
        reason: Why, in words of ours.
        values: Its value per axis; None where unknown or undefined.
        low, high: Percentile limits of the value per axis over the same resamples; None where unknown.
        p_non_dominated: Share of resamples in which it meets every floor and no arm that does dominates it; None for
            an arm that is unknown on an axis.
        p_dominated_by: Other arm, and the share in which that arm meets every floor and dominates this one.
        p_floor: Share in which it meets the axis's floor; None where there is none.
        p_front: Share in which it lies on the first, second, ... front.
        p_axis_rank: Per axis, the share in which it ranks first, second, ...
    """

    arm: str
    state: str
    reason: str
    values: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    p_non_dominated: float | None
    p_dominated_by: tuple[tuple[str, float], ...]
    p_floor: tuple[float | None, ...]
    p_front: tuple[float, ...]
    p_axis_rank: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierResult:
    """The arms placed over the declared axes, all from one joint bootstrap over tasks.

    Attributes:
        axes: Axes on which at least two arms are known.
        arms: One per arm, treatment first, control second.
        n_tasks: Tasks that every arm attempted.
        alpha: Error allowed for each arm's state.
        resamples: Resamples drawn.
        seed: Seed of the draws.
        note: Words of ours: what the shares are not, axes that are unknown.
    """

    axes: tuple[FrontierAxis, ...]
    arms: tuple[FrontierArm, ...]
    n_tasks: int
    alpha: float
    resamples: int
    seed: int
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyRow:
    """One of several comparisons that were tested together.

    Attributes:
        treatment, control: Arms, the first minus the second.
        difference: Mean over the common tasks, in [-1, 1].
        p_exact: Its own exact two-sided p-value.
        adjusted_p: p-value adjusted for all comparisons of the family.
    """

    treatment: str
    control: str
    difference: float
    p_exact: float
    adjusted_p: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Comparisons of three or more arms, tested together.

    Attributes:
        name: What is compared.
        method: How the p-values are adjusted.
        n_tasks: Tasks that every arm attempted.
        exact: All sign patterns were enumerated.
        patterns: Sign patterns looked at.
        rows: One per pair of arms.
    """

    name: str
    method: str
    n_tasks: int
    exact: bool
    patterns: int
    rows: tuple[FamilyRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRow:
    """One task on both sides.

    Attributes:
        task: Public task name.
        treatment_solved, treatment_trials, treatment_ungraded: The treatment's counts.
        control_solved, control_trials, control_ungraded: The control's counts.
        difference: Treatment minus control in proportion solved, in [-1, 1].
        exceptions: Distinct exception types on either side, sorted.
        treatment_cost_usd, control_cost_usd: Sum over the task's trials; None when a part is unknown.
        treatment_wall_ms, control_wall_ms: Sum over the task's trials; None when a part is unknown.
        treatment_input_tokens, control_input_tokens, treatment_output_tokens, control_output_tokens: Likewise.
        treatment_retries, control_retries: Attempts that the recorder deleted and ran again; None when not counted.
        treatment_interventions, control_interventions: Times a person stepped in; None when not counted.
    """

    task: str
    treatment_solved: int
    treatment_trials: int
    treatment_ungraded: int
    control_solved: int
    control_trials: int
    control_ungraded: int
    difference: float
    exceptions: tuple[str, ...] = ()
    treatment_cost_usd: Decimal | None = None
    control_cost_usd: Decimal | None = None
    treatment_wall_ms: float | None = None
    control_wall_ms: float | None = None
    treatment_input_tokens: int | None = None
    control_input_tokens: int | None = None
    treatment_output_tokens: int | None = None
    control_output_tokens: int | None = None
    treatment_retries: int | None = None
    control_retries: int | None = None
    treatment_interventions: int | None = None
    control_interventions: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ungraded:
    """A trial without a grade: which task and arm, and the recorded exception type (None when there was none)."""

    arm: str
    task: str
    exception_type: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Digests:
    """What the decision stands on; None where there was no such document."""

    manifest: str | None
    plan: str | None
    evidence: str
    decision: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A paired comparison of two arms, decided.

    Attributes:
        difference: Mean over tasks of the difference in proportion solved, treatment minus control, in [-1, 1].
        interval: The primary interval; None when the data allow none.
        extra_intervals: Intervals asked for beside it; never used for the verdict.
        p_exact, p_mid: Two-sided p-values of the task-level sign-flip test.
        notes: Sentences of ours a reader needs (test and interval disagree, low discordance, ...).
        sensitivity: The primary endpoint analysed in other ways.
        frontier: Where the arms stand; None with fewer than two known axes.
        families: Joint tests of three or more arms.
        seed: Seed of every random step; None when there was none.
        drift: What the times of the trials show; None when an arm has no start times.
        promise: What the frozen plan promised; None without one.
        pinned: What the manifest fixed; None without one.
        floors: The plan's floors, and whether the treatment keeps them.
        score: The one aggregation that the plan promised; None when it promises none.
        clocks: Where both arms' wall clocks went; None when no runner timed the turns of either.
    """

    study: str
    date: date
    label: Label
    treatment: ArmSummary
    control: ArmSummary
    n_tasks: int
    attempts: int | None
    discordance: Discordance
    difference: float
    interval: IntervalEstimate | None
    extra_intervals: tuple[IntervalEstimate, ...]
    p_exact: float | None
    p_mid: float | None
    test: str
    alpha: float
    minimum_effect: float | None
    noninferiority_margin: float | None
    verdict: Verdict
    also: tuple[Verdict, ...]
    conditions: tuple[Condition, ...]
    findings: tuple[FindingCount, ...]
    excluded: tuple[Excluded, ...]
    ungraded: tuple[Ungraded, ...]
    endpoints: tuple[EndpointResult, ...]
    tasks: tuple[TaskRow, ...]
    not_selected: tuple[str, ...]
    infrastructure: tuple[str, ...]
    notes: tuple[str, ...]
    commands: tuple[str, ...]
    digests: Digests
    sensitivity: tuple[SensitivityRow, ...] = ()
    frontier: FrontierResult | None = None
    families: tuple[Family, ...] = ()
    seed: int | None = None
    drift: Drift | None = None
    promise: Promise | None = None
    pinned: Pinned | None = None
    floors: tuple[FloorResult, ...] = ()
    score: Score | None = None
    clocks: ArmClocks | None = None
