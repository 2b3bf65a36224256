"""How attempts end: the contract's table, and laws over every combination of facts."""

import itertools

import pytest

from harness.statuses import INHERITED, Category, Facts, Status, final_status


@pytest.mark.parametrize(
    ("facts", "status"),
    [
        (Facts(passed=True), Status.SUCCESS),
        (Facts(passed=False), Status.FAILURE),
        (Facts(), Status.NOT_GRADED),
        (Facts(passed=True, exhausted=True), Status.SUCCESS),
        (Facts(passed=False, exhausted=True), Status.MAX_TURNS_EXHAUSTED),
        (Facts(exhausted=True), Status.NOT_GRADED),
        (Facts(happened=frozenset({Status.ERROR}), passed=True), Status.ERROR),
        (Facts(happened=frozenset({Status.TIMEOUT, Status.ERROR}), passed=True), Status.TIMEOUT),
        (Facts(happened=frozenset({Status.COST_BUDGET_EXCEEDED}), passed=False), Status.COST_BUDGET_EXCEEDED),
    ],
)
def test_l5_the_table_of_endings(facts: Facts, status: Status) -> None:
    assert final_status(facts) is status


def test_the_categories_are_the_contracts() -> None:
    by_category = {category: {status for status in Status if status.category is category} for category in Category}
    assert by_category[Category.SUCCEEDED] == {Status.SUCCESS}
    assert by_category[Category.ERROR] == {Status.ERROR, Status.BUILD_FAILED}
    assert by_category[Category.UNGRADED] == {Status.NOT_GRADED}
    assert len(by_category[Category.FAILED]) == 5


def test_l4_a_capped_attempt_is_graded_and_is_never_an_error() -> None:
    endings = {final_status(Facts(passed=passed, exhausted=True)).category for passed in (True, False)}
    assert endings == {Category.SUCCEEDED, Category.FAILED}


def test_nothing_that_happened_is_undone_by_a_pass() -> None:
    for happened in (frozenset(some) for size in (1, 2) for some in itertools.combinations(INHERITED, size)):
        for passed, exhausted in itertools.product((True, False, None), (True, False)):
            found = final_status(Facts(happened=happened, passed=passed, exhausted=exhausted))
            assert found in happened


def test_what_only_grading_can_tell_cannot_happen() -> None:
    with pytest.raises(ValueError, match="INHERITED"):
        final_status(Facts(happened=frozenset({Status.SUCCESS})))
