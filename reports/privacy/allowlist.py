"""The only place for what may leave: the typed shape of a decision, field by field.

Every string is an enum, a digest, a bounded identifier, a place inside the study, a command or a sentence of ours; what
does not fit is withheld and counted, never cut to fit. A sentence is ours when it is made of words that this program
uses itself, a few values apart; a reason is the plan's own, public by registration.
"""

import re
from collections import Counter
from dataclasses import dataclass, replace
from types import MappingProxyType

from analysis.arm_clocks import ArmClocks
from analysis.decision import ArmSummary, Decision, EndpointResult, Family, FrontierResult
from analysis.drift import Drift
from analysis.promise import Pinned, Promise, Score
from reports.privacy.paths import normalise
from reports.privacy.vocabulary import DECIDING, is_ours, own_words, words

WITHHELD = "[withheld]"
# What can happen to a value on its way out: it did not fit, a place or a name was taken out, no schema names its key.
CHANGES = ("withheld", "rewritten", "dropped")

# Words that are not ours: a sentence names a value or two, a condition what was seen and what was declared.
_STRANGE_WORDS = MappingProxyType({"sentence": 3, "detail": 8, "phrase": 2})
# What a person typed may hold a place on this machine; nobody else can use it, so only its last name stays.
_TYPED = frozenset({"command", "selector", "arm"})
_ABSOLUTE = re.compile(r"(?<![\w.~\]/])/(?:[^\s'\",/]+/)*(?P<name>[^\s'\",/]+)")

_ID = r"[A-Za-z0-9][A-Za-z0-9._@:+-]{0,79}"


def _few_words(first: str, rest: str, *, most: int) -> str:
    """Return a pattern for up to so many words: a name is no sentence."""
    return rf"{first}{rest}{{0,159}}(?: {rest}{{1,80}}){{0,{most - 1}}}"


_SIGN = r"[A-Za-z0-9._@:+~()=\[\],-]"
_PART = _few_words(_SIGN, _SIGN, most=3)
_PATTERNS = MappingProxyType(
    {
        "study": re.compile(r"[a-z0-9][a-z0-9-]{0,63}"),
        "task": re.compile(rf"{_ID}(?:/{_ID})?"),
        "arm": re.compile(_few_words(r"[A-Za-z0-9~*?\[]", r"[A-Za-z0-9._@:+/=,~*?\[\]-]", most=4)),
        "selector": re.compile(_few_words(r"[A-Za-z0-9]", r"[A-Za-z0-9._@:+/=,~*?\[\]-]", most=5)),
        "harness": re.compile(_few_words(r"[A-Za-z0-9]", r"[A-Za-z0-9._@:+/()-]", most=4)),
        "exception": re.compile(r"[A-Za-z][A-Za-z0-9_.]{0,79}"),
        "code": re.compile(r"[a-z][a-z0-9_]{0,63}"),
        "word": re.compile(r"[A-Za-z][A-Za-z0-9_. -]{0,63}"),
        # A method, a unit: a few words of ours with their commas and colons.
        "phrase": re.compile(r"[A-Za-z][A-Za-z0-9_.:, -]{0,119}"),
        "row": re.compile(rf"[a-z][a-z0-9_]{{0,63}}(?::{_ID})?"),
        "place": re.compile(rf"(?!/){_PART}(?:/{_PART}){{0,9}}"),
        "digest": re.compile(r"[0-9a-f]{64}"),
        "date": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}"),
        # One line of plain words and numbers: no braces of code, no back quotes, no mathematics.
        "sentence": re.compile(r"[^\x00-\x1f\x7f`{}\\$]{0,1000}"),
        "detail": re.compile(r"[^\x00-\x1f\x7f`{}\\$]{0,1000}"),
        "reason": re.compile(r"[^\x00-\x1f\x7f`{}\\$]{0,300}"),
        # What the author of a plan or a manifest wrote, public by registration: plain sentences.
        "promised": re.compile(r"[^\x00-\x1f\x7f`{}\\$]{0,600}"),
        "instant": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,15}Z"),
        "handle": re.compile(r"[a-z][a-z0-9._-]{1,63}"),
        "version": re.compile(r"[0-9]{1,4}(?:\.[0-9]{1,4}){0,3}(?:[a-z]{1,4}[0-9]{1,4})?(?:\+[0-9a-f.]{1,40})?"),
        "engine": re.compile(r"[a-z][a-z0-9-]{1,40}(?: [0-9]{1,4}(?:\.[0-9]{1,4}){0,3})?"),
        "kind": re.compile(r"[a-z][a-z_]{1,40}(?:\.[a-z][a-z_]{1,40}){0,2}"),
        "commit": re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}"),
        "revision": re.compile(r"[A-Za-z0-9][A-Za-z0-9._:+@/-]{0,159}"),
        "planned": re.compile(r"[a-z][a-z0-9_]{0,40}(?::[A-Za-z0-9][A-Za-z0-9._:-]{0,199})?"),
        # A floor such as success>=0.4 may stand in it; nothing else that a shell would act on.
        "command": re.compile(r"(?:evenhand|make) (?:[^\x00-\x1f\x7f`$;&|<>\\]|[<>]=(?=[0-9])){0,1500}"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """How many values of one kind were withheld or rewritten.

    Attributes:
        kind: Kind of the value, for instance exception.
        change: `withheld` when the value did not fit its kind, `rewritten` when a home path or a name was taken out,
            `dropped` when it stood in the evidence behind a key that nothing public is made of.
    """

    kind: str
    change: str
    count: int


class _Cleaner:
    """Cleans strings by kind and counts what it changed."""

    def __init__(self, identities: frozenset[str], names: str) -> None:
        self.identities = identities
        self.own = own_words(rooms=DECIDING) | words(names)
        self.counts: Counter[tuple[str, str]] = Counter()

    def text(self, kind: str, value: str) -> str:
        written = normalise(value, users=self.identities)
        if kind in _TYPED:
            written = _ABSOLUTE.sub(r"[path]/\g<name>", written)
        if written != value:
            self.counts[kind, "rewritten"] += 1
        if fits(kind, written) and is_ours(written, self.own, values=_STRANGE_WORDS.get(kind, len(written))):
            return written
        self.counts[kind, "withheld"] += 1
        return WITHHELD

    def maybe(self, kind: str, value: str | None) -> str | None:
        return None if value is None else self.text(kind, value)

    def texts(self, kind: str, values: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(self.text(kind, value) for value in values)

    def dropped(self) -> tuple[Dropped, ...]:
        return tuple(
            Dropped(kind=kind, change=change, count=count) for (kind, change), count in sorted(self.counts.items())
        )


def project(decision: Decision, *, identities: frozenset[str] = frozenset()) -> tuple[Decision, tuple[Dropped, ...]]:
    """Return the decision with every string cleaned to its kind, and what was withheld or rewritten.

    Args:
        decision: As decided; its numbers stay.
        identities: User, host and home-folder names; in a text they become `[user]`.
    """
    names = (decision.treatment.name, decision.control.name, decision.study)
    clean = _Cleaner(identities, " ".join(names))
    public = replace(
        _projected_beside(_projected_lists(decision, clean), clean),
        study=clean.text("study", decision.study),
        label=replace(decision.label, reasons=clean.texts("sentence", decision.label.reasons)),
        treatment=_arm(decision.treatment, clean),
        control=_arm(decision.control, clean),
        test=clean.text("code", decision.test),
        not_selected=clean.texts("place", decision.not_selected),
        infrastructure=clean.texts("sentence", decision.infrastructure),
        notes=clean.texts("sentence", decision.notes),
        commands=clean.texts("command", decision.commands),
    )
    return public, clean.dropped()


def fits(kind: str, text: str) -> bool:
    """Say whether a text is of a kind that may leave."""
    return _PATTERNS[kind].fullmatch(text) is not None


def _arm(arm: ArmSummary, clean: _Cleaner) -> ArmSummary:
    return replace(
        arm,
        name=clean.text("arm", arm.name),
        selector=clean.text("selector", arm.selector),
        harness=clean.texts("harness", arm.harness),
        cost_method=clean.maybe("phrase", arm.cost_method),
    )


def _projected_lists(decision: Decision, clean: _Cleaner) -> Decision:
    text, maybe, texts = clean.text, clean.maybe, clean.texts
    return replace(
        decision,
        conditions=tuple(
            replace(one, factor=text("code", one.factor), detail=text("detail", one.detail))
            for one in decision.conditions
        ),
        findings=tuple(
            replace(
                one,
                code=text("code", one.code),
                where=texts("place", one.where),
                detail=text("sentence", one.detail),
            )
            for one in decision.findings
        ),
        excluded=tuple(
            replace(
                one,
                task=text("task", one.task),
                reason=text("reason", one.reason),
            )
            for one in decision.excluded
        ),
        ungraded=tuple(
            replace(
                one,
                arm=text("arm", one.arm),
                task=text("task", one.task),
                exception_type=maybe("exception", one.exception_type),
            )
            for one in decision.ungraded
        ),
        tasks=tuple(
            replace(row, task=text("task", row.task), exceptions=texts("exception", row.exceptions))
            for row in decision.tasks
        ),
    )


def _projected_beside(decision: Decision, clean: _Cleaner) -> Decision:
    text = clean.text
    return replace(
        decision,
        endpoints=tuple(_endpoint(one, clean) for one in decision.endpoints),
        sensitivity=tuple(
            replace(
                row,
                name=text("row", row.name),
                note=text("sentence", row.note),
            )
            for row in decision.sensitivity
        ),
        frontier=None if decision.frontier is None else _frontier(decision.frontier, clean),
        families=tuple(_family(family, clean) for family in decision.families),
        drift=None if decision.drift is None else _drift(decision.drift, clean),
        promise=None if decision.promise is None else _promise(decision.promise, clean),
        pinned=None if decision.pinned is None else _pinned(decision.pinned, clean),
        floors=tuple(
            replace(one, metric=clean.text("code", one.metric), note=clean.text("sentence", one.note))
            for one in decision.floors
        ),
        score=None if decision.score is None else _score(decision.score, clean),
        clocks=None if decision.clocks is None else _clocks(decision.clocks, clean),
    )


def _endpoint(one: EndpointResult, clean: _Cleaner) -> EndpointResult:
    interval = one.interval
    return replace(
        one,
        name=clean.text("code", one.name),
        role=clean.text("word", one.role),
        unit=clean.text("phrase", one.unit),
        note=clean.text("sentence", one.note),
        test=clean.text("code", one.test) if one.test else "",
        adjustment=clean.text("code", one.adjustment) if one.adjustment else "",
        gate=clean.text("code", one.gate) if one.gate else "",
        interval=None if interval is None else replace(interval, method=clean.text("phrase", interval.method)),
    )


def _frontier(frontier: FrontierResult, clean: _Cleaner) -> FrontierResult:
    return replace(
        frontier,
        axes=tuple(
            replace(axis, name=clean.text("code", axis.name), unit=clean.text("phrase", axis.unit))
            for axis in frontier.axes
        ),
        arms=tuple(
            replace(
                arm,
                arm=clean.text("arm", arm.arm),
                reason=clean.text("sentence", arm.reason),
                p_dominated_by=tuple((clean.text("arm", other), share) for other, share in arm.p_dominated_by),
            )
            for arm in frontier.arms
        ),
        note=clean.text("sentence", frontier.note),
    )


def _drift(drift: Drift, clean: _Cleaner) -> Drift:
    return replace(
        drift,
        changes=tuple(
            replace(one, arm=clean.text("arm", one.arm), factor=clean.text("code", one.factor)) for one in drift.changes
        ),
    )


def _promise(promise: Promise, clean: _Cleaner) -> Promise:
    text = clean.text
    return replace(
        promise,
        question=text("promised", promise.question),
        cohort=text("promised", promise.cohort),
        inclusion=text("promised", promise.inclusion),
        endpoints=tuple(
            replace(
                one,
                name=text("code", one.name),
                role=text("code", one.role),
                test=text("code", one.test),
                interval=text("code", one.interval),
            )
            for one in promise.endpoints
        ),
        missing=tuple((text("code", kind), text("code", policy)) for kind, policy in promise.missing),
        exclusions=tuple((text("task", task), text("reason", reason)) for task, reason in promise.exclusions),
        sensitivity=clean.texts("code", promise.sensitivity),
        aggregation=clean.maybe("promised", promise.aggregation),
        frozen_at=text("instant", promise.frozen_at),
        commit=clean.maybe("commit", promise.commit),
        registration=clean.maybe("digest", promise.registration),
        amendments=tuple(
            replace(
                one,
                at=text("instant", one.at),
                reason=text("promised", one.reason),
                changed=clean.texts("planned", one.changed),
            )
            for one in promise.amendments
        ),
    )


def _pinned(pinned: Pinned, clean: _Cleaner) -> Pinned:
    return replace(
        pinned,
        dataset=clean.maybe("promised", pinned.dataset),
        revision=clean.maybe("revision", pinned.revision),
        declared=tuple((clean.text("code", name), clean.text("promised", value)) for name, value in pinned.declared),
        selection=clean.maybe("sentence", pinned.selection),
    )


def _score(score: Score, clean: _Cleaner) -> Score:
    return replace(
        score,
        name=clean.text("promised", score.name),
        parts=tuple(replace(part, endpoint=clean.text("code", part.endpoint)) for part in score.parts),
    )


def _clocks(clocks: ArmClocks, clean: _Cleaner) -> ArmClocks:
    text, texts = clean.text, clean.texts
    return replace(
        clocks,
        arms=tuple(
            replace(
                one,
                arm=text("arm", one.arm),
                recorded_as=text("arm", one.recorded_as),
                harness=text("harness", one.harness),
                cap_units=texts("code", one.cap_units),
                cap_unit_sources=texts("code", one.cap_unit_sources),
                notes=texts("sentence", one.notes),
            )
            for one in clocks.arms
        ),
        notes=texts("sentence", clocks.notes),
    )


def _family(family: Family, clean: _Cleaner) -> Family:
    return replace(
        family,
        name=clean.text("phrase", family.name),
        method=clean.text("phrase", family.method),
        rows=tuple(
            replace(row, treatment=clean.text("arm", row.treatment), control=clean.text("arm", row.control))
            for row in family.rows
        ),
    )
