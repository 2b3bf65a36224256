"""The only place for how an attempt at a task ends, in coder_eval's words, and what each ending counts as."""

from dataclasses import dataclass
from enum import Enum


class Category(Enum):
    """What an ending counts as."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    ERROR = "error"
    UNGRADED = "ungraded"


class Status(Enum):
    """How an attempt ended."""

    SUCCESS = "SUCCESS"
    FAILURE = "FAILURE"
    ERROR = "ERROR"
    BUILD_FAILED = "BUILD_FAILED"
    TIMEOUT = "TIMEOUT"
    MAX_TURNS_EXHAUSTED = "MAX_TURNS_EXHAUSTED"
    TOKEN_BUDGET_EXCEEDED = "TOKEN_BUDGET_EXCEEDED"  # noqa: S105  # a budget of tokens, no password
    COST_BUDGET_EXCEEDED = "COST_BUDGET_EXCEEDED"
    NOT_GRADED = "NOT_GRADED"

    @property
    def category(self) -> Category:
        """What it counts as; whatever is no success, no error and was graded has failed."""
        match self:
            case Status.SUCCESS:
                return Category.SUCCEEDED
            case Status.ERROR | Status.BUILD_FAILED:
                return Category.ERROR
            case Status.NOT_GRADED:
                return Category.UNGRADED
            case _:
                return Category.FAILED


# What happened while the attempt ran stands whatever its checks say, the first of these first.
INHERITED = (
    Status.BUILD_FAILED,
    Status.TIMEOUT,
    Status.ERROR,
    Status.TOKEN_BUDGET_EXCEEDED,
    Status.COST_BUDGET_EXCEEDED,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of an attempt that is over.

    Attributes:
        happened: Endings that running it brought about, of INHERITED.
        passed: Whether its checks passed; None when it was not graded.
        exhausted: Whether a turn ended at its cap.
    """

    happened: frozenset[Status] = frozenset()
    passed: bool | None = None
    exhausted: bool = False


def final_status(facts: Facts) -> Status:
    """Return how an attempt ended: a capped one that passes its checks has succeeded.

    Raises:
        ValueError: When something is said to have happened that only grading can tell.
    """
    if not facts.happened <= frozenset(INHERITED):
        raise ValueError("only endings of INHERITED can happen while an attempt runs")
    for status in INHERITED:
        if status in facts.happened:
            return status
    if facts.passed is None:
        return Status.NOT_GRADED
    if facts.passed:
        return Status.SUCCESS
    return Status.MAX_TURNS_EXHAUSTED if facts.exhausted else Status.FAILURE
