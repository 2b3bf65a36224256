"""The only place that says when a turn no longer waits for a background command.

antigravity moves a command of more than 10 s to the background, lets the model go on and keeps its stream open. So
nothing need be asked again: every line is handled, and counted towards the cap, as it comes. What has not ended at the
bound is recorded unresolved, and the turn is graded as it stands.
"""

from collections.abc import Callable
from dataclasses import dataclass

from harness.clock import Deadline
from harness.limits import background_wait_s

_NS_PER_S = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundBound:
    """How long an unresolved background command holds a turn.

    Attributes:
        seconds: The bound, positive.
        since_idle: Whether it runs from the model's last word; else from the turn's start.
    """

    seconds: float
    since_idle: bool


def background_bound(turn_timeout_s: float | None) -> BackgroundBound:
    """Return the bound of a turn: a share of its own limit, or a number of polls after the model's last word."""
    return BackgroundBound(seconds=background_wait_s(turn_timeout_s), since_idle=turn_timeout_s is None)


class BackgroundWait:
    """One turn's wait. It is made when the turn starts."""

    def __init__(self, bound: BackgroundBound | None, *, monotonic_ns: Callable[[], int]) -> None:
        self._bound = bound
        self._monotonic_ns = monotonic_ns
        self._deadline = None if bound is None or bound.since_idle else self._begin(bound)

    def over(self, waiting: tuple[str, ...]) -> bool:
        """Tell whether what is still waited for has used up its time; nothing to wait for is never over."""
        bound = self._bound
        if bound is None:
            return False
        if not waiting:
            self._deadline = None if bound.since_idle else self._deadline
            return False
        if self._deadline is None:
            self._deadline = self._begin(bound)
        return self._deadline.passed()

    def _begin(self, bound: BackgroundBound) -> Deadline:
        return Deadline(limit_ns=round(bound.seconds * _NS_PER_S), monotonic_ns=self._monotonic_ns)
