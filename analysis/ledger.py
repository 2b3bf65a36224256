"""The only place that joins a ledger to recorded trials: by declared key, never by time, and never two prices into one.

A trial that has a price of its own keeps it; that the ledger names another is a finding, and the comparison's cost
method then differs. Token counts of the ledger fill what a trial lacks only where both sources, wherever both counted,
agree to the last token.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from analysis.evidence.ledger import Ledger, LedgerRow
from analysis.evidence.trial import Evidence, Trial, Usage
from manifests.finding import Finding

RECORDED_IDENTITY = "trial_id"
CONFLICT = "ledger_conflict"

_TOKENS = ("input_tokens", "cache_tokens", "output_tokens")
_COUNTS = ("requests", "requests_failed", "tool_calls")
# Name of the ledger's cost column to what the price is worth.
_PRICES = {"api_equiv_usd": "API-equivalent, not billed", "billed_usd": "billed"}
_Pair = tuple[Trial, LedgerRow]
_Side = tuple[str | None, str | None, tuple[tuple[str, str], ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPrice:
    """What one arm or harness that the ledger names did cost.

    Attributes:
        name: As the ledger has it.
        known_usd: Sum of the prices that are known.
        priced: Trials whose price is known.
        unpriced: Trials without a row of their own, or whose row has no price. A trial without a row counts for the
            groups that rows of its agent, model and arguments name, and for every group where none does.
    """

    name: str
    known_usd: Decimal
    priced: int
    unpriced: int

    @property
    def total_usd(self) -> Decimal | None:
        """Return the sum; None where one price is unknown, for the rest is no total."""
        return None if self.unpriced else self.known_usd


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How far a ledger and the trials cover each other.

    Attributes:
        key: Column and argument that joined them.
        method: Who priced the cells.
        trials: Trials that take part.
        joined: Trials that a row was joined to.
        unattributed: Rows that no trial answers to.
        duplicated: Rows whose key stands in another row too.
        ambiguous: Trials whose key another trial has too, or whose row names another task.
        missing: Trials that no row answers to.
        conflicts: Joined trials that already had a price by another method.
        groups: Prices by the arm or harness that the ledger names, sorted. Empty when the ledger names none.
    """

    key: str
    method: str
    trials: int
    joined: int
    unattributed: int
    duplicated: int
    ambiguous: int
    missing: int
    conflicts: int
    groups: tuple[GroupPrice, ...]

    @property
    def totals(self) -> tuple[tuple[str, Decimal | None], ...]:
        """Return the sum of each group; None where one price is unknown."""
        return tuple((group.name, group.total_usd) for group in self.groups)

    @property
    def sentence(self) -> str:
        """Return the coverage as one sentence."""
        gaps = [
            f"{number} {what}"
            for number, what in (
                (self.unattributed, "rows unattributed"),
                (self.duplicated, "rows with a duplicated key"),
                (self.ambiguous, "trials ambiguous"),
                (self.missing, "trials without a row"),
                (self.conflicts, "trials already priced by another method"),
            )
            if number
        ]
        return f"ledger: {self.joined} of {self.trials} cells joined by {self.key}" + "".join(
            f", {gap}" for gap in gaps
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """Evidence with a ledger joined to it."""

    evidence: Evidence
    coverage: Coverage


def join_ledger(evidence: Evidence, ledger: Ledger, *, takes_part: Callable[[Trial], bool]) -> Joined:
    """Join a ledger to the trials that take part.

    Args:
        evidence: What the readers found.
        ledger: What the ledger says.
        takes_part: Whether a trial belongs to the study; the others are left as they are.
    """
    chosen = [trial for trial in evidence.trials if takes_part(trial)]
    pairs, findings = _pair(chosen, ledger)
    differing = _differing_tokens(pairs)
    findings += [_tokens_finding(name, places) for name, places in differing.items()]
    findings += [_finding(CONFLICT, trial) for trial, row in pairs if _conflicts(trial, row)]
    filled = {
        trial.trial_id: _filled(trial, row, method=ledger.method, tokens=[t for t in _TOKENS if t not in differing])
        for trial, row in pairs
    }
    joined = replace(
        evidence,
        trials=tuple(filled.get(trial.trial_id, trial) for trial in evidence.trials),
        findings=(*evidence.findings, *ledger.findings, *findings),
        identities=evidence.identities | ledger.identities,
        attachments=(*evidence.attachments, ledger.sha256),
    )
    return Joined(evidence=joined, coverage=_coverage(chosen, pairs, findings, ledger=ledger))


def key_of(trial: Trial, key: str) -> str | None:
    """Return the value that a trial declares under a key: its recorder's identity, or an argument of its agent."""
    return trial.trial_id if key == RECORDED_IDENTITY else dict(trial.arm.kwargs).get(key)


def price_label(method: str) -> str:
    """Return what a price is worth, in words: a price that a ledger computed was not necessarily billed.

    Args:
        method: Who priced it, as Usage.cost_method has it.
    """
    if not method.startswith("ledger:"):
        return "as recorded"
    return _PRICES.get(method.removeprefix("ledger:"), "as the ledger prices it; whether it was billed is not known")


def _pair(trials: Sequence[Trial], ledger: Ledger) -> tuple[list[_Pair], list[Finding]]:
    """Return the pairs that are beyond doubt, and a finding for everything else."""
    by_key: dict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        by_key[key_of(trial, ledger.key) or ""].append(trial)
    rows: dict[str, list[LedgerRow]] = defaultdict(list)
    for row in ledger.rows:
        rows[row.key].append(row)
    # A trial or a row without a key belongs to nobody.
    keyless, nameless = by_key.pop("", []), rows.pop("", [])
    findings = [_finding("ledger_missing", trial) for trial in keyless]
    findings += [Finding(code="ledger_unattributed", where=row.place, detail="the key is empty") for row in nameless]
    pairs: list[_Pair] = []
    for key in {**by_key, **rows}:
        found, doubts = _one_key(by_key.get(key, []), rows.get(key, []))
        pairs += found
        findings += doubts
    return pairs, findings


def _one_key(trials: Sequence[Trial], rows: Sequence[LedgerRow]) -> tuple[list[_Pair], list[Finding]]:
    findings = [Finding(code="ledger_duplicated", where=row.place) for row in rows if len(rows) > 1]
    if len(trials) > 1:
        findings += [_finding("ledger_ambiguous", trial) for trial in trials]
    if not trials:
        findings += [Finding(code="ledger_unattributed", where=row.place) for row in rows if len(rows) == 1]
    if not rows:
        findings += [_finding("ledger_missing", trial) for trial in trials if len(trials) == 1]
    if len(trials) != 1 or len(rows) != 1:
        return [], findings
    trial, row = trials[0], rows[0]
    if row.task is not None and row.task != trial.task.name:
        return [], [*findings, _finding("ledger_ambiguous", trial, detail="the row names another task")]
    return [(trial, row)], findings


def _differing_tokens(pairs: Sequence[_Pair]) -> Mapping[str, int]:
    """Return the token counts that the two sources do not count alike, and on how many trials."""
    found = Counter(
        name
        for trial, row in pairs
        for name in _TOKENS
        if getattr(trial.usage, name) is not None
        and getattr(row, name) is not None
        and getattr(trial.usage, name) != getattr(row, name)
    )
    return dict(sorted(found.items()))


def _conflicts(trial: Trial, row: LedgerRow) -> bool:
    return trial.usage.cost_usd is not None and row.cost_usd is not None


def _filled(trial: Trial, row: LedgerRow, *, method: str, tokens: Sequence[str]) -> Trial:
    own = trial.usage
    taken = {name: getattr(row, name) for name in (*tokens, *_COUNTS) if getattr(own, name) is None}
    if own.cost_usd is not None or row.cost_usd is None:
        return replace(trial, usage=replace(own, **taken))
    usage: Usage = replace(own, cost_usd=row.cost_usd, cost_method=method, **taken)
    shown = {**dict(trial.conditions), "cost_method": method}
    return replace(trial, usage=usage, conditions=tuple(shown.items()))


def _coverage(
    trials: Sequence[Trial], pairs: Sequence[_Pair], findings: Sequence[Finding], *, ledger: Ledger
) -> Coverage:
    count = Counter(finding.code for finding in findings)
    return Coverage(
        key=ledger.key,
        method=ledger.method,
        trials=len(trials),
        joined=len(pairs),
        unattributed=count["ledger_unattributed"],
        duplicated=count["ledger_duplicated"],
        ambiguous=count["ledger_ambiguous"],
        missing=count["ledger_missing"],
        conflicts=count[CONFLICT],
        groups=_groups(trials, pairs, key=ledger.key),
    )


def _groups(trials: Sequence[Trial], pairs: Sequence[_Pair], *, key: str) -> tuple[GroupPrice, ...]:
    prices: dict[str, list[Decimal | None]] = defaultdict(list)
    of_side: dict[_Side, set[str]] = defaultdict(set)
    for trial, row in pairs:
        if row.group is not None:
            prices[row.group].append(row.cost_usd)
            of_side[_side(trial, key)].add(row.group)
    paired = {trial.trial_id for trial, _ in pairs}
    for trial in trials:
        if trial.trial_id not in paired:
            # Whose cost it was may not be known for certain: a total that might lack it is no total.
            for group in of_side.get(_side(trial, key), prices.keys()):
                prices[group].append(None)
    return tuple(_group(name, prices[name]) for name in sorted(prices))


def _side(trial: Trial, key: str) -> _Side:
    """Return what the trials of one harness have in common: everything that names it but the key of the cell."""
    kwargs = tuple(sorted((name, value) for name, value in trial.arm.kwargs if name != key))
    return trial.arm.agent, trial.arm.model, kwargs


def _group(name: str, prices: Sequence[Decimal | None]) -> GroupPrice:
    known = [price for price in prices if price is not None]
    return GroupPrice(name=name, known_usd=sum(known, Decimal(0)), priced=len(known), unpriced=len(prices) - len(known))


def _finding(code: str, trial: Trial, *, detail: str = "") -> Finding:
    return Finding(code=code, where=trial.where, task=trial.task.name, detail=detail)


def _tokens_finding(name: str, trials: int) -> Finding:
    return Finding(code="ledger_tokens_differ", detail=f"{name}: {trials} trials")
