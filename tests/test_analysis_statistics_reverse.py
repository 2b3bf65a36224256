"""Can the printed numbers of a study all be true at once?"""

import math
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from analysis.statistics.binomial_test import fair_coin_p
from analysis.statistics.published_numbers import counts_behind, unrounded
from analysis.statistics.reverse import (
    Held,
    PrintedArm,
    PrintedStratum,
    PrintedStudy,
    StratumCounts,
    Table,
    audit_claim,
)
from analysis.statistics.sample import SampleError
from analysis.statistics.task_squares import Discordant, standard_error_range


def percent(number: str) -> PrintedArm:
    return PrintedArm(percent=Decimal(number))


def stratum(name: str, tasks: int, treatment: str, control: str) -> PrintedStratum:
    return PrintedStratum(name=name, tasks=tasks, treatment=percent(treatment), control=percent(control))


# A public report of 88 tasks x 3: totals, interval, task wins and strata as printed.
PUBLIC = PrintedStudy(
    tasks=88,
    attempts=3,
    treatment=PrintedArm(solved=200),
    control=PrintedArm(solved=189),
    difference_pp=Decimal("4.2"),
    interval_pp=(Decimal("-1.9"), Decimal("10.2")),
    wins=22,
    losses=14,
    ties=52,
    strata=(
        stratum("medium", 55, "81.8", "77.0"),
        stratum("hard", 30, "64.4", "62.2"),
        stratum("easy", 3, "77.8", "66.7"),
    ),
)


def test_the_public_report_is_coherent() -> None:
    audit = audit_claim(PUBLIC)
    assert audit.coherent
    assert {check.held for check in audit.checks} == {Held.HELD}
    assert audit.solved == ((200, 189),)
    assert audit.standard_error_pp == pytest.approx(3.09, abs=0.005)
    assert audit.sign_test_p == pytest.approx(0.243, abs=5e-4)
    assert audit.detectable_pp == pytest.approx(8.6, abs=0.05)


def test_its_strata_have_one_whole_number_reading() -> None:
    assert audit_claim(PUBLIC).strata == (
        StratumCounts(name="medium", treatment=(135,), control=(127,)),
        StratumCounts(name="hard", treatment=(58,), control=(56,)),
        StratumCounts(name="easy", treatment=(7,), control=(6,)),
    )


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ({"treatment": PrintedArm(solved=200, percent=Decimal("75.0"))}, "arms"),
        ({"treatment": PrintedArm(solved=265)}, "arms"),
        ({"treatment": PrintedArm(solved=201), "difference_pp": None}, "strata"),
        ({"strata": (stratum("medium", 55, "81.8", "77.0"),)}, "strata"),
        ({"difference_pp": Decimal("4.3")}, "difference"),
        ({"ties": 50}, "discordance"),
        ({"wins": 80, "ties": None}, "discordance"),
        ({"wins": 40, "losses": 1, "ties": 47}, "discordance"),
        ({"interval_pp": (Decimal("3.9"), Decimal("4.4"))}, "interval"),
        ({"interval_pp": (Decimal("-16.0"), Decimal("25.0"))}, "interval"),
        ({"interval_pp": (Decimal("5.0"), Decimal("17.1"))}, "interval"),
    ],
)
def test_one_changed_number_is_found(change: dict[str, Any], broken: str) -> None:
    audit = audit_claim(replace(PUBLIC, **change))
    assert not audit.coherent
    assert broken in {check.name for check in audit.checks if check.held is Held.BROKEN}
    assert audit.solved == ()


def test_percentages_alone_are_enough() -> None:
    study = replace(PUBLIC, treatment=percent("75.8"), control=percent("71.6"), strata=())
    assert audit_claim(study).solved == ((200, 189),)


def test_strata_alone_are_enough() -> None:
    audit = audit_claim(replace(PUBLIC, treatment=PrintedArm(), control=PrintedArm()))
    assert audit.coherent
    assert audit.solved == ((200, 189),)


def test_what_is_not_printed_is_not_checked() -> None:
    nothing = PrintedArm()
    audit = audit_claim(PrintedStudy(tasks=10, attempts=1, treatment=nothing, control=nothing, wins=3, losses=2))
    assert audit.coherent
    assert {check.held for check in audit.checks} == {Held.NOT_PRINTED}
    assert (audit.standard_error_pp, audit.possible_standard_error_pp, audit.detectable_pp) == (None, None, None)
    assert audit.sign_test_p == 1.0
    half = PrintedStratum(name="all", tasks=10, treatment=percent("50"), control=nothing)
    study = PrintedStudy(tasks=10, attempts=1, treatment=nothing, control=nothing, strata=(half,))
    assert len(audit_claim(study).solved) == 11


def test_one_trial_per_task_gives_the_table() -> None:
    study = PrintedStudy(
        tasks=24, attempts=1, treatment=percent("54.2"), control=percent("58.3"), wins=2, losses=3, ties=19
    )
    audit = audit_claim(study)
    assert audit.coherent
    assert audit.tables == (Table(n11=11, n10=2, n01=3, n00=8),)


def point(_: Table) -> tuple[float, float]:
    return 0.0, 0.0


def wald(table: Table) -> tuple[float, float]:
    n = table.n11 + table.n10 + table.n01 + table.n00
    difference = (table.n10 - table.n01) / n
    reach = 1.959964 * math.sqrt((table.n10 + table.n01) / n - difference**2) / math.sqrt(n)
    return difference - reach, difference + reach


def test_an_interval_finds_the_table_and_the_method_that_printed_it() -> None:
    study = PrintedStudy(
        tasks=24,
        attempts=1,
        treatment=PrintedArm(solved=13),
        control=PrintedArm(solved=14),
        interval_pp=(Decimal("-22.4"), Decimal("14.0")),
    )
    audit = audit_claim(study, methods={"wald": wald, "point": point})
    assert audit.methods == ("wald",)
    assert audit.tables == (Table(n11=11, n10=2, n01=3, n00=8),)
    unmatched = audit_claim(study, methods={"point": point})
    assert unmatched.methods == ()
    assert len(unmatched.tables) > 1


def test_wins_that_no_table_has_are_found() -> None:
    study = PrintedStudy(
        tasks=24, attempts=1, treatment=PrintedArm(solved=13), control=PrintedArm(solved=14), wins=3, losses=3
    )
    audit = audit_claim(study)
    assert {check.name for check in audit.checks if check.held is Held.BROKEN} == {"discordance", "table"}


@pytest.mark.parametrize(("tasks", "attempts", "what"), [(1_000_000, 5, "pairs of counts"), (100_000, 1, "tables")])
def test_more_readings_than_can_be_searched_are_refused_by_number(tasks: int, attempts: int, what: str) -> None:
    study = PrintedStudy(tasks=tasks, attempts=attempts, treatment=percent("50.0"), control=percent("40.0"))
    with pytest.raises(SampleError, match=f"[0-9]+ {what} fit what is printed, expected at most 500000"):
        audit_claim(study)
    counted = [PrintedArm(solved=tasks * attempts // part, percent=None) for part in (2, 4)]
    assert audit_claim(replace(study, treatment=counted[0], control=counted[1], wins=tasks // 3, losses=0)).checks


def test_one_task_has_no_spread_degenerate() -> None:
    study = PrintedStudy(
        tasks=1,
        attempts=3,
        treatment=PrintedArm(solved=2),
        control=PrintedArm(solved=1),
        interval_pp=(Decimal(10), Decimal(60)),
    )
    assert audit_claim(study).possible_standard_error_pp is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tasks": 0}, "tasks=0"),
        ({"attempts": 0}, "attempts=0"),
        ({"wins": -1}, "wins=-1"),
        ({"level": 95}, "level=95"),
        ({"interval_pp": (Decimal(3), Decimal(1))}, "not in order"),
        ({"treatment": PrintedArm(percent=Decimal("NaN"))}, "must be finite"),
    ],
)
def test_what_no_study_can_have_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(SampleError, match=message):
        audit_claim(replace(PUBLIC, **change))


@given(st.integers(1, 400), st.integers(0, 3), st.data())
def test_every_count_is_found_behind_its_own_percentage(trials: int, decimals: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, trials))
    printed = round(Decimal(100 * count) / Decimal(trials), decimals)
    behind = counts_behind(printed, trials=trials)
    assert count in behind
    assert all(Fraction(100 * c, trials) in unrounded(printed) for c in behind)


def test_trailing_zeros_say_more() -> None:
    assert unrounded(Decimal("81.80")).high - unrounded(Decimal("81.80")).low == Fraction(1, 100)
    assert counts_behind(Decimal("81.8"), trials=165) == (135,)
    assert counts_behind(Decimal("81.9"), trials=165) == ()
    with pytest.raises(SampleError, match="trials=0"):
        counts_behind(Decimal(50), trials=0)


def differences(tasks: int, attempts: int) -> Iterator[tuple[tuple[int, int], ...]]:
    cells = [(a, b) for a in range(attempts + 1) for b in range(attempts + 1)]
    return product(cells, repeat=tasks)


@pytest.mark.parametrize(("tasks", "attempts"), [(3, 1), (3, 2), (2, 3), (4, 1)])
def test_the_spread_lies_in_its_range_against_enumeration(tasks: int, attempts: int) -> None:
    seen: dict[tuple[int, int, int, int], list[float]] = {}
    for study in differences(tasks, attempts):
        change = [a - b for a, b in study]
        key = (
            sum(a for a, _ in study),
            sum(b for _, b in study),
            sum(d > 0 for d in change),
            sum(d < 0 for d in change),
        )
        mean = sum(change) / tasks
        variance = sum((d - mean) ** 2 for d in change) / (tasks - 1)
        seen.setdefault(key, []).append(100 / attempts * math.sqrt(variance / tasks))
    for (a, b, wins, losses), errors in seen.items():
        discordant = Discordant(wins=wins, losses=losses)
        assert discordant.allows(a, b, trials=tasks * attempts, attempts=attempts)
        known = standard_error_range(a - b, solved=a + b, tasks=tasks, attempts=attempts, discordant=discordant)
        free = standard_error_range(a - b, solved=a + b, tasks=tasks, attempts=attempts, discordant=None)
        assert known is not None
        assert free is not None
        assert known[0] == pytest.approx(min(errors)) or known[0] < min(errors)
        assert known[1] == pytest.approx(max(errors)) or known[1] > max(errors)
        assert free[0] <= known[0] + 1e-9
        assert free[1] >= max(errors) - 1e-9


def test_no_differences_have_an_impossible_net_count_degenerate() -> None:
    impossible = standard_error_range(5, solved=9, tasks=9, attempts=1, discordant=Discordant(wins=2, losses=1))
    assert impossible is None


@pytest.mark.parametrize(("heads", "tails"), [(22, 14), (2, 3), (0, 9), (5, 5), (7, 8), (1, 0)])
def test_the_fair_coin_against_scipy(heads: int, tails: int) -> None:
    assert fair_coin_p(heads, tails) == pytest.approx(stats.binomtest(heads, heads + tails).pvalue)


def test_no_toss_says_nothing_degenerate() -> None:
    assert fair_coin_p(0, 0) == 1.0
    with pytest.raises(SampleError, match="heads=-1"):
        fair_coin_p(-1, 0)
