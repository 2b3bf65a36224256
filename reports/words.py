"""The only place for the sentences that stand for a verdict and for a label.

A result that is not significant is never called an absence of difference, and a comparison that is not comparative has
no verdict sentence at all.
"""

from collections.abc import Mapping
from types import MappingProxyType

from analysis.decision import Decision, Verdict
from manifests.conditions import Status
from reports import numbers

SIMULATED = "SIMULATED"
# A real harness ran, and a simulated model answered it.
SIMULATED_MODEL = "SIMULATED MODEL"
NON_COMPARATIVE = "NON-COMPARATIVE"
EXPLORATORY = "EXPLORATORY"
# What stands before the list of what a report lacks, in its label's reasons.
INCOMPLETE = "incomplete contract: "
# What stands before a label's reason when a frozen plan does not make the primary endpoint confirmatory.
PLAN_BROKEN = frozenset({"post hoc", "exploratory"})
NO_CONCLUSION = "No conclusion may be drawn"

NAMES = MappingProxyType(
    {
        Verdict.SUPERIOR: "superior",
        Verdict.INFERIOR: "inferior",
        Verdict.SUPERIOR_SIZE_UNPROVEN: "superior, size unproven",
        Verdict.WORSE_SIZE_UNPROVEN: "worse, size unproven",
        Verdict.EQUIVALENT: "equivalent",
        Verdict.NONINFERIOR: "non-inferior",
        Verdict.INCONCLUSIVE: "inconclusive",
        Verdict.NONE: "none",
    }
)

WORDS = MappingProxyType(
    {
        Verdict.SUPERIOR: "{treatment} solved more than {control}: the whole interval lies above the minimum effect "
        "of {minimum_effect}.",
        Verdict.INFERIOR: "{treatment} solved less than {control}: the whole interval lies below a loss of the "
        "minimum effect, {minimum_effect}.",
        Verdict.SUPERIOR_SIZE_UNPROVEN: "{treatment} solved more than {control}, but it is not shown that the gain "
        "reaches the minimum effect of {minimum_effect}.",
        Verdict.WORSE_SIZE_UNPROVEN: "{treatment} solved less than {control}, but it is not shown that the loss "
        "reaches the minimum effect of {minimum_effect}.",
        Verdict.EQUIVALENT: "{treatment} and {control} differ by less than the minimum effect of {minimum_effect} "
        "in either direction: the whole interval lies inside it.",
        Verdict.NONINFERIOR: "{treatment} loses less than the margin of {margin} against {control}: the whole "
        "interval lies above it.",
        Verdict.INCONCLUSIVE: "The data neither show a difference between {treatment} and {control} nor rule out one "
        "that matters. This is not evidence that they are equal.",
        Verdict.NONE: "No conclusion may be drawn.",
    }
)

STATUS = MappingProxyType(
    {
        Status.HELD: "held",
        Status.DIFFERS: "differs",
        Status.DECLARED: "declared only, not verified",
        Status.UNKNOWN: "unknown",
    }
)


class WordsError(Exception):
    """A decision claims more than its own label allows."""


def tags(decision: Decision) -> tuple[str, ...]:
    """Return the labels that every page, figure and title of this decision must carry, in order."""
    label = decision.label
    held = (
        (label.simulated, simulated_word(decision)),
        (not label.comparative, NON_COMPARATIVE),
        (not label.confirmatory, EXPLORATORY),
    )
    return tuple(word for applies, word in held if applies)


def simulated_word(decision: Decision) -> str:
    """Return what a simulated decision is called: a model was simulated, or the trials themselves were generated."""
    clocks = decision.clocks
    ran = clocks is not None and any(clock.simulated for clock in clocks.arms)
    return SIMULATED_MODEL if ran else SIMULATED


def simulated_word_in(document: Mapping[str, object]) -> str:
    """Return the same from a decision's JSON value; one from before the clocks were kept has none."""
    clocks = document.get("clocks")
    arms = clocks.get("arms") if isinstance(clocks, Mapping) else None
    ran = isinstance(arms, list) and any(isinstance(arm, Mapping) and arm.get("simulated") for arm in arms)
    return SIMULATED_MODEL if ran else SIMULATED


def headline(decision: Decision) -> str:
    """Return the first line of every output: labels first, then what may be concluded.

    Raises:
        WordsError: When the decision holds a verdict that its label forbids.
    """
    verdict = verdict_name(decision)
    label = decision.label
    parts = [f"{simulated_word(decision)}: no real model ran; nothing here measures one."] if label.simulated else []
    if not label.comparative:
        parts.append(f"{NON_COMPARATIVE}: {why_non_comparative(decision)}. Numbers are descriptive.")
    if not label.confirmatory:
        parts.append(f"{EXPLORATORY}: {_why_exploratory(decision)}.")
    parts.append(f"{NO_CONCLUSION}." if verdict is None else f"Verdict: {verdict}.")
    return " ".join(parts)


def verdict_name(decision: Decision) -> str | None:
    """Return the verdict as people read it, or None when no conclusion is allowed.

    Raises:
        WordsError: When a decision that is not comparative holds a verdict.
    """
    if not decision.label.comparative and (decision.verdict is not Verdict.NONE or decision.also):
        raise WordsError(f"verdict={decision.verdict.value} in a non-comparative decision; expected none")
    return None if decision.verdict is Verdict.NONE else NAMES[decision.verdict]


def standing(decision: Decision) -> tuple[str, ...]:
    """Return one sentence for each of the three properties of a label."""
    label = decision.label
    return (
        "Comparative: every factor that must be the same is held or declared."
        if label.comparative
        else _why_not(decision),
        "Confirmatory: a frozen plan came before the data and was followed."
        if label.confirmatory
        else "Exploratory: no frozen plan came before the data, or it was not followed. This may suggest a hypothesis; "
        "it confirms none.",
        f"{simulated_word(decision).capitalize()}: no real model ran."
        if label.simulated
        else "Recorded: the trials were run.",
    )


def why_non_comparative(decision: Decision) -> str:
    """Return the factors that make a comparison non-comparative, else what its report lacks."""
    differs = _named(decision, Status.DIFFERS)
    unknown = _named(decision, Status.UNKNOWN)
    parts = (
        f"{', '.join(differs)} {'differs' if len(differs) == 1 else 'differ'}" if differs else "",
        f"{', '.join(unknown)} {'is' if len(unknown) == 1 else 'are'} unknown" if unknown else "",
    )
    return "; ".join(part for part in parts if part) or _lacks(decision) or "the reasons stand below"


def sentence(verdict: Verdict, decision: Decision) -> str:
    """Return what a verdict says of these two arms."""
    # Beside a gain that was shown, the caveat would be untrue.
    caveat = " A gain is not shown." if verdict is decision.verdict is Verdict.NONINFERIOR else ""
    said = WORDS[verdict].format(
        treatment=decision.treatment.name,
        control=decision.control.name,
        minimum_effect=numbers.threshold(decision.minimum_effect),
        margin=numbers.threshold(decision.noninferiority_margin),
    )
    return said + caveat


def broken(decision: Decision) -> tuple[str, ...]:
    """Return every reason that took a frozen plan's promise away; none without a plan."""
    if decision.digests.plan is None:
        return ()
    return tuple(reason for reason in decision.label.reasons if reason.partition(": ")[0] in PLAN_BROKEN)


def placed(decision: Decision) -> str:
    """Return the heading for where an arm stands on a frontier; without a conclusion its place is a description."""
    return "Where it stands" if decision.label.comparative else "Where it would stand; descriptive"


def _why_exploratory(decision: Decision) -> str:
    """Return what took the plan's promise away: the first reason of the label, and how many more there are."""
    if decision.digests.plan is None:
        return "no frozen plan"
    reasons = tuple(reason.partition(": ")[2] for reason in broken(decision))
    if not reasons:
        return "the frozen plan does not cover this as it was run"
    more = len(reasons) - 1
    return reasons[0] + (f" (and {numbers.count(more)} more reason{'s' if more > 1 else ''}, below)" if more else "")


def _why_not(decision: Decision) -> str:
    if _named(decision, Status.DIFFERS) or _named(decision, Status.UNKNOWN):
        return "Non-comparative: a factor differs or is unknown, so a difference cannot be put down to the harness."
    return "Non-comparative: this report does not carry all that a comparative one must."


def _lacks(decision: Decision) -> str:
    lists = [reason.removeprefix(INCOMPLETE) for reason in decision.label.reasons if reason.startswith(INCOMPLETE)]
    return f"the report lacks {'; '.join(lists)}" if lists else ""


def _named(decision: Decision, status: Status) -> tuple[str, ...]:
    return tuple(one.factor.replace("_", " ") for one in decision.conditions if one.status is status)
