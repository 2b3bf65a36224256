"""The only place that decides an early stop: armed checks, made at each tool call while the agent works.

A verdict that has passed stands, whatever the agent does later. A check that cannot be made takes the right to stop
away from all of them, and the attempt runs to its own end. An attempt that was stopped is graded by the armed checks.
"""

from collections.abc import Callable, Iterable

from harness.events import Event, ToolEnd, ToolStart
from harness.kinds import ToolStatus
from harness.task import EarlyStop
from harness.tasks.task import ArmedCriterion, FileContains, FileExists, JsonCheck, SkillTriggered

# Looks at a check of the work that stands at that moment.
Check = Callable[[FileExists | FileContains | JsonCheck], bool]


class Watcher:
    """Watches one attempt, through its turns and repetitions; told every event, it says whether to stop."""

    def __init__(self, armed: Iterable[ArmedCriterion], check: Check) -> None:
        self._armed = tuple(armed)
        self._check = check
        self._passed: set[int] = set()
        self._skills: set[str] = set()
        self._disarmed = False

    def __call__(self, event: Event) -> bool:
        """Make the checks at a tool call; tell whether every armed one has passed."""
        if self._disarmed or not self._armed or not _is_call(event):
            return False
        if isinstance(event, ToolEnd) and event.call.status is ToolStatus.OK:
            self._skills.update(event.call.skills)
        try:
            self._passed.update(
                place
                for place, criterion in enumerate(self._armed)
                if place not in self._passed and self._passes(criterion)
            )
        except (OSError, RuntimeError, ValueError):
            self._disarmed = True
            return False
        return len(self._passed) == len(self._armed)

    def _passes(self, criterion: ArmedCriterion) -> bool:
        if isinstance(criterion, SkillTriggered):
            return criterion.skill in self._skills
        return self._check(criterion)

    def result(self, *, stopped: bool) -> EarlyStop | None:
        """Return what was decided; None when no check is armed."""
        if not self._armed:
            return None
        return EarlyStop(armed=len(self._armed), passed=len(self._passed), disarmed=self._disarmed, stopped=stopped)


def _is_call(event: Event) -> bool:
    if isinstance(event, ToolEnd):
        return event.call.status is not ToolStatus.UNRESOLVED
    return isinstance(event, ToolStart)
