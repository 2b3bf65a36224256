"""The only place for the fields of a plan: what each is called, means, may hold, and what stands when it is left out.

The reader takes its messages from this table, `evenhand plan new` its template and docs/plan.md its rows; so the three
cannot disagree.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from preregistration.plan import (
    ENDPOINTS,
    MISSING_KINDS,
    MISSING_POLICIES,
    MULTIPLICITY,
    RESOURCE_INTERVALS,
    RUN_ORDERS,
    SCHEMA,
    SENSITIVITY_ROWS,
    SPENDING,
    SUCCESS_INTERVALS,
    Role,
)

_DIGEST = "64 lower-case hex digits, as `evenhand manifest show` prints them"
_POLICY = f"one of {', '.join(MISSING_POLICIES)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanField:
    """One field.

    Attributes:
        section: Table it stands in, "" for the top; `[[name]]` tables may stand several times.
        key: Its name.
        expected: What it may hold, as messages say it.
        meaning: What is promised by it.
        default: TOML of the value that stands when it is left out; None when it must be written.
        example: TOML of the value that a new plan starts with; "" when a new plan leaves it out.
        optional: True when it may be left out and then nothing stands.
    """

    section: str
    key: str
    expected: str
    meaning: str
    default: str | None = None
    example: str = ""
    optional: bool = False

    @property
    def name(self) -> str:
        """Full name, as in messages."""
        return f"{self.section}.{self.key}" if self.section else self.key


FIELDS: tuple[PlanField, ...] = (
    PlanField(section="", key="schema", expected=SCHEMA, meaning="Schema of this file.", example=f'"{SCHEMA}"'),
    PlanField(
        section="",
        key="study",
        expected="lower-case letters, digits and hyphens, at most 64",
        meaning="Name of the study; the registered file is named after it.",
        example='""',
    ),
    PlanField(
        section="",
        key="question",
        expected="one sentence",
        meaning="The question that the study answers.",
        example='""',
    ),
    PlanField(
        section="",
        key="manifest_sha256",
        expected=_DIGEST,
        meaning="Digest of the pinned manifest: the population. May be left to `plan freeze --manifest`.",
        example='""',
    ),
    PlanField(
        section="",
        key="unit",
        expected="task",
        meaning="Unit of inference. Attempts at one task are not independent, so it is the task.",
        default='"task"',
    ),
    PlanField(
        section="",
        key="attempts",
        expected="a whole number from 1 to 1000",
        meaning="Trials per task and arm.",
        example="1",
    ),
    PlanField(
        section="",
        key="unequal_attempts",
        expected="true or false",
        meaning="Declares that the number of attempts may differ between tasks or arms.",
        default="false",
    ),
    PlanField(
        section="",
        key="run_order",
        expected=f"one of {', '.join(RUN_ORDERS)}",
        meaning="Rule of the run order; the audit compares it with the recorded start times.",
        default='"interleaved"',
    ),
    PlanField(
        section="",
        key="seed",
        expected="a whole number from 0 to 4294967295",
        meaning="Seed of the run order and of every random step of the analysis.",
        example="1",
    ),
    PlanField(
        section="",
        key="multiplicity",
        expected=f"one of {', '.join(MULTIPLICITY)}",
        meaning="How several secondary endpoints share one alpha. Must be written as soon as there are two.",
        default='"fixed_sequence"',
    ),
    PlanField(
        section="",
        key="sensitivity",
        expected=f"a list of {', '.join(SENSITIVITY_ROWS)}",
        meaning="Rows of the sensitivity table that belong to the plan; any other row is post hoc.",
        default="[]",
        example='["missing_bounds", "leave_one_task_out"]',
    ),
    PlanField(
        section="cohort",
        key="name",
        expected="a name",
        meaning="Name of the cohort that is compared.",
        example='""',
    ),
    PlanField(
        section="cohort",
        key="inclusion",
        expected="the rule in words",
        meaning="Rule by which a harness or a task belongs to the cohort, fixed before execution.",
        example='""',
    ),
    PlanField(
        section="[endpoint]",
        key="name",
        expected=f"one of {', '.join(ENDPOINTS)}",
        meaning="What is measured. The primary endpoint is success.",
        example='"success"',
    ),
    PlanField(
        section="[endpoint]",
        key="role",
        expected=f"one of {', '.join(Role)}",
        meaning="Exactly one is primary; secondary ones stand in the order in which they are tested.",
        example='"primary"',
    ),
    PlanField(
        section="[endpoint]",
        key="test",
        expected="sign_flip for success; ratio_of_sums for cost_per_solved; log_ratio_t or ratio_of_sums otherwise",
        meaning="Test of no difference.",
        example='"sign_flip"',
    ),
    PlanField(
        section="[endpoint]",
        key="alpha",
        expected="a number strictly between 0 and 1",
        meaning="Two-sided significance level.",
        example="0.05",
    ),
    PlanField(
        section="[endpoint]",
        key="interval",
        expected=f"{', '.join(SUCCESS_INTERVALS)} for success; {', '.join(RESOURCE_INTERVALS)} for the others",
        meaning="Interval method; the verdict is decided by it. auto is tango for one attempt and task_score for "
        "several; for the others it is the interval of their test.",
        example='"auto"',
    ),
    PlanField(
        section="[endpoint]",
        key="level",
        expected="a number from 1 - alpha to below 1",
        meaning="Confidence level. The verdict rests on the interval: below 1 - alpha it would spend more than alpha.",
        example="0.95",
    ),
    PlanField(
        section="[endpoint]",
        key="minimum_effect",
        expected="a number above 0 and below 1",
        meaning="Smallest difference that matters: a proportion for success (0.05 is five percentage points), a share "
        "of the control's value for the others. Must be written for the primary endpoint.",
        example="0.05",
        optional=True,
    ),
    PlanField(
        section="[endpoint]",
        key="noninferiority_margin",
        expected="a number above 0 and below 1",
        meaning="Largest loss that is tolerated, same unit. Must be written for the primary endpoint.",
        example="0.05",
        optional=True,
    ),
    PlanField(
        section="missing",
        key="default",
        expected=_POLICY,
        meaning="Policy for every kind that is not named here.",
        example='"unsolved"',
        optional=True,
    ),
    *(
        PlanField(
            section="missing",
            key=kind,
            expected=_POLICY,
            meaning=f"Policy when {meaning}. Must be written when missing.default is not.",
            optional=True,
        )
        for kind, meaning in MISSING_KINDS.items()
    ),
    PlanField(
        section="[exclusion]",
        key="task",
        expected="a task name",
        meaning="Task that leaves both arms.",
    ),
    PlanField(
        section="[exclusion]",
        key="reason",
        expected="the reason in words",
        meaning="Why, without looking at outcomes.",
    ),
    PlanField(
        section="stop",
        key="looks",
        expected="a whole number from 0 to 20",
        meaning="Interim looks before the final analysis.",
        default="0",
    ),
    PlanField(
        section="stop",
        key="spending",
        expected=f"one of {', '.join(SPENDING)}",
        meaning="How alpha is spent over the looks. Must be written, and not none, when there are looks.",
        default='"none"',
    ),
    PlanField(
        section="[floor]",
        key="kind",
        expected="one of safety, regression",
        meaning="What the floor protects.",
    ),
    PlanField(
        section="[floor]",
        key="metric",
        expected="lower-case letters, digits and underscores",
        meaning="Measured quantity of the treatment that must keep the bound.",
    ),
    PlanField(
        section="[floor]",
        key="at_least",
        expected="a number; exactly one of at_least and at_most",
        meaning="Smallest allowed value.",
        optional=True,
    ),
    PlanField(
        section="[floor]",
        key="at_most",
        expected="a number; exactly one of at_least and at_most",
        meaning="Largest allowed value.",
        optional=True,
    ),
    PlanField(
        section="aggregation",
        key="name",
        expected="a name",
        meaning="Name of the one score. Without this table no output prints an overall score.",
    ),
    PlanField(
        section="aggregation",
        key="weights",
        expected="a table of endpoint and weight, weights above 0 that sum to 1",
        meaning="Weight of each endpoint in the score.",
    ),
)

_INTRO = """# The plan, field by field

A plan is a TOML file. `evenhand plan new` writes a first one, `evenhand plan check` lists every fault at once,
`evenhand plan freeze` registers it. A field without a default must be written; `[[name]]` tables may stand several
times or, where the plan has nothing to say, not at all.
"""
_SETS = (
    ("Kinds of missing or errored trials", MISSING_KINDS),
    ("Policies for them", MISSING_POLICIES),
    ("Run orders", RUN_ORDERS),
    ("Spending functions", SPENDING),
    ("Multiplicity", MULTIPLICITY),
    ("Rows of the sensitivity table", SENSITIVITY_ROWS),
)


def plan_reference() -> str:
    """Return docs/plan.md."""
    parts = [_INTRO]
    for section in _sections():
        parts.append(f"## {_heading(section) or 'Top level'}\n")
        rows = [_row(field) for field in FIELDS if field.section == section]
        parts.append("| field | expected | when left out | meaning |\n|---|---|---|---|\n" + "\n".join(rows) + "\n")
    for title, words in _SETS:
        rows = [f"| `{word}` | {meaning} |" for word, meaning in words.items()]
        parts.append(f"## {title}\n\n| word | meaning |\n|---|---|\n" + "\n".join(rows) + "\n")
    return "\n".join(parts)


def plan_template(answers: Mapping[str, str]) -> str:
    """Return the TOML of a new plan, with a comment above each field.

    Args:
        answers: Full name of a field to the TOML of its value, for the fields that are already known.
    """
    parts = ["# A plan for evenhand. Fill what is empty, then: evenhand plan check FILE\n"]
    for section in _sections():
        fields = [field for field in FIELDS if field.section == section and (field.example or field.name in answers)]
        if not fields:
            continue
        if section:
            parts.append(f"{_heading(section)}\n")
        for field in fields:
            value = answers.get(field.name, field.example)
            parts.append(f"# {field.meaning}\n# Expected: {field.expected}.\n{field.key} = {value}\n")
    return "\n".join(parts)


def expected(name: str) -> str:
    """Return what a field may hold, by its full name."""
    return next(field.expected for field in FIELDS if field.name == name)


def keys(section: str) -> tuple[str, ...]:
    """Return the keys that may stand in a section; at the top, the tables too."""
    own = tuple(field.key for field in FIELDS if field.section == section)
    return own if section else (*own, *(name.strip("[]") for name in _sections() if name))


def _sections() -> tuple[str, ...]:
    return tuple(dict.fromkeys(field.section for field in FIELDS))


def _heading(section: str) -> str:
    return f"[{section}]" if section else ""


def _row(field: PlanField) -> str:
    left_out = "nothing stands" if field.optional else f"`{field.default}`" if field.default else "a fault"
    return f"| `{field.key}` | {field.expected} | {left_out} | {field.meaning} |"
