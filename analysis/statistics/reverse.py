"""The only place for the reverse audit: can the printed numbers of a paired study all be true at once?

From what a summary prints, the whole-number tables behind it are searched. Each check narrows the candidates; a check
that leaves none is broken, and the summary is incoherent. What is not printed is not checked, and says so. Coherent
means possible, not true.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from itertools import product

from scipy.special import ndtri

from analysis.statistics.binomial_test import fair_coin_p
from analysis.statistics.power_formulas import minimum_detectable_effect
from analysis.statistics.published_numbers import counts_behind, unrounded
from analysis.statistics.sample import SampleError, open_unit
from analysis.statistics.task_squares import Discordant, standard_error_range

# Interval methods differ in width by about this share: t against z, regularised against plain.
WIDTH_TOLERANCE = 0.10
# Pairs of counts, or tables, that are searched: more take minutes and gigabytes, and say nothing that helps.
MOST_READINGS = 500_000


class Held(StrEnum):
    """What became of a check."""

    HELD = "held"
    BROKEN = "broken"
    NOT_PRINTED = "not_printed"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedArm:
    """What is printed of one arm.

    Attributes:
        solved: Trials solved; None when not printed.
        percent: Percentage solved as printed, of all trials; None when not printed.
    """

    solved: int | None = None
    percent: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedStratum:
    """What is printed of one stratum.

    Attributes:
        name: Its name.
        tasks: Tasks in it, >= 1.
        treatment, control: What is printed of the arms, of the stratum's trials.
    """

    name: str
    tasks: int
    treatment: PrintedArm
    control: PrintedArm


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedStudy:
    """What is printed of a paired study.

    Attributes:
        tasks: Tasks, >= 1.
        attempts: Trials per task and arm, >= 1.
        treatment, control: The arms.
        difference_pp: Treatment minus control in percentage points; None when not printed.
        interval_pp: Its two limits; None when not printed.
        level: Confidence level of the interval, in (0, 1).
        wins, losses, ties: Tasks where the treatment did better, worse, the same; None when not printed.
        strata: Strata that make up all tasks; empty when not printed.
    """

    tasks: int
    attempts: int
    treatment: PrintedArm
    control: PrintedArm
    difference_pp: Decimal | None = None
    interval_pp: tuple[Decimal, Decimal] | None = None
    level: float = 0.95
    wins: int | None = None
    losses: int | None = None
    ties: int | None = None
    strata: tuple[PrintedStratum, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check.

    Attributes:
        name: arms, strata, difference, discordance, interval or table.
        held: What became of it.
        detail: Numbers and words of ours.
    """

    name: str
    held: Held
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StratumCounts:
    """Whole counts behind one stratum.

    Attributes:
        name: Its name.
        treatment, control: Every count of solved trials that fits what is printed, ascending.
    """

    name: str
    treatment: tuple[int, ...]
    control: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One 2x2 table of a study with one trial per task: both, treatment only, control only, neither."""

    n11: int
    n10: int
    n01: int
    n00: int


IntervalMethod = Callable[[Table], tuple[float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimAudit:
    """Whether the printed numbers can all be true.

    Attributes:
        coherent: No check is broken.
        checks: All checks, in order.
        solved: Every pair of solved trials, treatment and control, that fits everything.
        strata: Whole counts behind each stratum.
        tables: With one trial per task, every 2x2 table that fits.
        methods: With one trial per task, the interval methods that give the printed interval for some table.
        standard_error_pp: Implied by the interval's width, in percentage points; None when not printed.
        possible_standard_error_pp: Least and largest that the task differences allow; None when incoherent.
        detectable_pp: Effect that such a study finds in 80 % of cases at two-sided 5 %; None without an interval.
        sign_test_p: Exact, from wins and losses; None when they are not printed.
    """

    coherent: bool
    checks: tuple[Check, ...]
    solved: tuple[tuple[int, int], ...]
    strata: tuple[StratumCounts, ...]
    tables: tuple[Table, ...]
    methods: tuple[str, ...]
    standard_error_pp: float | None
    possible_standard_error_pp: tuple[float, float] | None
    detectable_pp: float | None
    sign_test_p: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    """The study and the pairs of solved trials that still fit; None when the arms are not printed."""

    study: PrintedStudy
    pairs: tuple[tuple[int, int], ...] | None

    @property
    def trials(self) -> int:
        return self.study.tasks * self.study.attempts

    @property
    def discordant(self) -> Discordant | None:
        if self.study.wins is None or self.study.losses is None:
            return None
        return Discordant(wins=self.study.wins, losses=self.study.losses)


Step = tuple[Check, _Search]


def audit_claim(study: PrintedStudy, *, methods: Mapping[str, IntervalMethod] | None = None) -> ClaimAudit:
    """Search the whole-number tables behind a printed study and say whether any fits all that is printed.

    Args:
        study: What is printed.
        methods: Interval methods by name, giving limits in [-1, 1] for a 2x2 table; used with one trial per task to
            name those that give the printed interval. None tries none.

    Raises:
        SampleError: A number that no study can have: no task, negative counts, limits that are not in order; or more
            than half a million whole-number readings, which are too many to search.
    """
    _refuse_impossible(study)
    search = _Search(study=study, pairs=None)
    checks: list[Check] = []
    for step in (_check_arms, _check_strata, _check_difference, _check_discordance, _check_interval):
        check, search = step(search)
        checks.append(check)
    tables: tuple[Table, ...] = ()
    matching: tuple[str, ...] = ()
    if study.attempts == 1 and search.pairs is not None:
        tables, matching = _find_tables(search, methods or {})
        checks = [_given_by(check, matching) for check in checks]
        checks.append(_check_tables(tables))
    coherent = all(check.held is not Held.BROKEN for check in checks)
    error = _implied_error(study)
    return ClaimAudit(
        coherent=coherent,
        checks=tuple(checks),
        solved=search.pairs or () if coherent else (),
        strata=tuple(_stratum_counts(stratum, study.attempts) for stratum in study.strata),
        tables=tables,
        methods=matching,
        standard_error_pp=error,
        possible_standard_error_pp=_possible_errors(search),
        detectable_pp=None if error is None else minimum_detectable_effect(error, alpha=0.05, power=0.8),
        sign_test_p=None if search.discordant is None else fair_coin_p(*search.discordant.counts),
    )


def _refuse_impossible(study: PrintedStudy) -> None:
    open_unit(study.level, name="level")
    counts = {"tasks": study.tasks, "attempts": study.attempts} | {s.name: s.tasks for s in study.strata}
    for name, count in counts.items():
        if count < 1:
            raise SampleError(f"{name}={count} must be at least 1")
    for name, number in (("wins", study.wins), ("losses", study.losses), ("ties", study.ties)):
        if number is not None and number < 0:
            raise SampleError(f"{name}={number} must be at least 0")
    if study.interval_pp is not None and study.interval_pp[0] > study.interval_pp[1]:
        raise SampleError(f"interval {study.interval_pp[0]}..{study.interval_pp[1]} is not in order")


def _refuse_too_many(readings: int, what: str) -> None:
    if readings > MOST_READINGS:
        raise SampleError(
            f"{readings} {what} fit what is printed, expected at most {MOST_READINGS}; print counts or more digits"
        )


def _counts(arm: PrintedArm, trials: int) -> tuple[int, ...] | None:
    """Return every count that fits what is printed of an arm; None when nothing is printed."""
    if arm.percent is None:
        if arm.solved is None:
            return None
        return (arm.solved,) if 0 <= arm.solved <= trials else ()
    behind = counts_behind(arm.percent, trials=trials)
    return behind if arm.solved is None else tuple(count for count in behind if count == arm.solved)


def _narrow(search: _Search, name: str, pairs: tuple[tuple[int, int], ...], *, detail: str) -> Step:
    """Return the step that leaves these pairs: broken when there is none."""
    check = Check(name=name, held=Held.HELD if pairs else Held.BROKEN, detail=detail)
    # A broken check keeps the candidates it found, so that later checks speak for themselves.
    return check, _Search(study=search.study, pairs=pairs or search.pairs)


def _not_printed(name: str, search: _Search) -> Step:
    return Check(name=name, held=Held.NOT_PRINTED, detail="nothing to check it against"), search


def _check_arms(search: _Search) -> Step:
    study = search.study
    treatment, control = (_counts(arm, search.trials) for arm in (study.treatment, study.control))
    if treatment is None or control is None:
        return _not_printed("arms", search)
    detail = f"{_list(treatment)} and {_list(control)} of {search.trials} trials"
    _refuse_too_many(len(treatment) * len(control), "pairs of counts")
    return _narrow(search, "arms", tuple(product(treatment, control)), detail=detail)


def _check_strata(search: _Search) -> Step:
    study = search.study
    if not study.strata:
        return _not_printed("strata", search)
    if sum(stratum.tasks for stratum in study.strata) != study.tasks:
        return _narrow(search, "strata", (), detail=f"strata do not add up to {study.tasks} tasks")
    counts = [_stratum_counts(stratum, study.attempts) for stratum in study.strata]
    sums = _sums([stratum.treatment for stratum in counts]), _sums([stratum.control for stratum in counts])
    detail = f"strata add up to {_list(sums[0])} and {_list(sums[1])}"
    if search.pairs is None:
        _refuse_too_many(len(sums[0]) * len(sums[1]), "pairs of counts")
    pairs = tuple(product(*sums)) if search.pairs is None else search.pairs
    return _narrow(search, "strata", tuple((t, c) for t, c in pairs if t in sums[0] and c in sums[1]), detail=detail)


def _stratum_counts(stratum: PrintedStratum, attempts: int) -> StratumCounts:
    trials = stratum.tasks * attempts
    treatment, control = (
        tuple(range(trials + 1)) if counts is None else counts
        for counts in (_counts(arm, trials) for arm in (stratum.treatment, stratum.control))
    )
    return StratumCounts(name=stratum.name, treatment=treatment, control=control)


def _sums(parts: list[tuple[int, ...]]) -> tuple[int, ...]:
    """Return every sum of one count from each part, ascending."""
    sums = {0}
    for part in parts:
        sums = {total + count for total in sums for count in part}
    return tuple(sorted(sums))


def _check_difference(search: _Search) -> Step:
    printed = search.study.difference_pp
    if printed is None or search.pairs is None:
        return _not_printed("difference", search)
    allowed = unrounded(printed)
    pairs = tuple((t, c) for t, c in search.pairs if Fraction(100 * (t - c), search.trials) in allowed)
    found = sorted({float(Fraction(100 * (t - c), search.trials)) for t, c in search.pairs})
    return _narrow(
        search, "difference", pairs, detail=f"{found[0]:.3f} to {found[-1]:.3f} points possible, {printed} printed"
    )


def _check_discordance(search: _Search) -> Step:
    study, discordant = search.study, search.discordant
    if discordant is None:
        return _not_printed("discordance", search)
    ties = study.tasks - discordant.wins - discordant.losses
    if ties < 0 or (study.ties is not None and study.ties != ties):
        return _narrow(search, "discordance", (), detail=f"wins, losses and ties do not add up to {study.tasks} tasks")
    if search.pairs is None:
        return _not_printed("discordance", search)
    pairs = tuple(
        (t, c) for t, c in search.pairs if discordant.allows(t, c, trials=search.trials, attempts=study.attempts)
    )
    detail = f"{discordant.wins} wins and {discordant.losses} losses with up to {study.attempts} trials a task"
    return _narrow(search, "discordance", pairs, detail=detail)


def _check_interval(search: _Search) -> Step:
    study = search.study
    if study.interval_pp is None or search.pairs is None:
        return _not_printed("interval", search)
    implied = _implied_error(study) or 0.0
    low, high = (unrounded(limit) for limit in study.interval_pp)
    pairs = tuple(
        (t, c)
        for t, c in search.pairs
        if low.low <= Fraction(100 * (t - c), search.trials) <= high.high
        and _error_fits(search, implied, net=t - c, solved=t + c)
    )
    return _narrow(search, "interval", pairs, detail=f"its width implies a standard error of {implied:.2f} points")


def _given_by(check: Check, methods: tuple[str, ...]) -> Check:
    """Let an interval stand that a method prints exactly so: at few tasks no width in standard errors judges it."""
    if check.name != "interval" or check.held is not Held.BROKEN or not methods:
        return check
    return replace(check, held=Held.HELD, detail=f"{check.detail}; {', '.join(methods)} gives exactly these limits")


def _error_fits(search: _Search, implied: float, *, net: int, solved: int) -> bool:
    """Tell whether task differences can have the spread that the interval's width implies."""
    possible = _error_range(search, net, solved)
    if possible is None:
        return True
    return possible[0] * (1 - WIDTH_TOLERANCE) <= implied <= possible[1] * (1 + WIDTH_TOLERANCE)


def _error_range(search: _Search, net: int, solved: int) -> tuple[float, float] | None:
    return standard_error_range(
        net, solved=solved, tasks=search.study.tasks, attempts=search.study.attempts, discordant=search.discordant
    )


def _possible_errors(search: _Search) -> tuple[float, float] | None:
    """Return the least and largest standard error over all pairs that still fit, in percentage points."""
    ranges = [_error_range(search, t - c, t + c) for t, c in search.pairs or ()]
    known = [bounds for bounds in ranges if bounds is not None]
    return (min(low for low, _ in known), max(high for _, high in known)) if known else None


def _implied_error(study: PrintedStudy) -> float | None:
    """Return half the interval's width over the normal quantile."""
    if study.interval_pp is None:
        return None
    width = float(study.interval_pp[1] - study.interval_pp[0])
    return width / 2 / float(-ndtri((1 - study.level) / 2))


def _find_tables(search: _Search, methods: Mapping[str, IntervalMethod]) -> tuple[tuple[Table, ...], tuple[str, ...]]:
    """Return every 2x2 table that fits, narrowed to those whose interval some method prints so, and those methods."""
    _refuse_too_many(sum(len(_gains(search, t, c)) for t, c in search.pairs or ()), "tables")
    tables = [table for t, c in search.pairs or () for table in _tables_of(search, t, c)]
    if search.study.interval_pp is None or not methods:
        return tuple(tables), ()
    matches = [
        (table, name) for table in tables for name, method in methods.items() if _gives(method, table, search.study)
    ]
    if not matches:
        return tuple(tables), ()
    return tuple(dict.fromkeys(table for table, _ in matches)), tuple(sorted({name for _, name in matches}))


def _tables_of(search: _Search, treatment: int, control: int) -> list[Table]:
    """Return every table with these margins, and these wins when they are printed."""
    n = search.study.tasks
    tables = [
        Table(n11=treatment - n10, n10=n10, n01=n10 - treatment + control, n00=n - control - n10)
        for n10 in _gains(search, treatment, control)
    ]
    discordant = search.discordant
    return tables if discordant is None else [t for t in tables if (t.n10, t.n01) == discordant.counts]


def _gains(search: _Search, treatment: int, control: int) -> range:
    """Return how many tasks the treatment alone may have solved."""
    possible = range(max(0, treatment - control), min(treatment, search.study.tasks - control) + 1)
    if search.discordant is None:
        return possible
    wins = search.discordant.wins
    return range(wins, wins + 1) if wins in possible else range(0)


def _gives(method: IntervalMethod, table: Table, study: PrintedStudy) -> bool:
    """Tell whether the method prints the study's interval for this table."""
    printed = study.interval_pp or ()
    limits = zip(method(table), printed, strict=True)
    return all(Fraction(100 * limit) in unrounded(number) for limit, number in limits)


def _check_tables(tables: tuple[Table, ...]) -> Check:
    held = Held.HELD if tables else Held.BROKEN
    return Check(name="table", held=held, detail=f"{len(tables)} whole-number tables fit")


def _list(counts: tuple[int, ...]) -> str:
    """Return counts as words: few as a list, many as a range."""
    if not counts:
        return "no count"
    return ", ".join(map(str, counts)) if len(counts) <= 4 else f"{counts[0]} to {counts[-1]}"
