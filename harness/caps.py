"""The only place for what a turn cap counts and when it cuts, as data.

The same number bounds different amounts of work on different harnesses: a step holds any number of parallel calls. So a
comparison says each arm's unit, and both counters are always recorded.
"""

from dataclasses import dataclass
from enum import Enum


class CapUnit(Enum):
    """What `max_turns` counts."""

    TOOL_CALLS = "tool_calls"  # resolved tool calls of the main thread
    STEPS = "steps"  # the harness's own agent-loop steps
    AGENT_LOOP = "agent_loop"  # the harness counts by itself; distinct main-thread message ids stand behind it
    MODEL_CALLS = "model_calls"  # model calls of the main thread


class CapRule(Enum):
    """When a cap of N steps cuts."""

    NEXT_START = "next_start"  # when step N+1 starts: its request has left by then
    NTH_FINISH = "nth_finish"  # when step N finishes, unless it was the last by itself


@dataclass(frozen=True, slots=True, kw_only=True)
class CapPolicy:
    """A harness's cap.

    Attributes:
        unit: What is counted.
        rule: When a step cap cuts; tool calls cut at the N-th resolved one whatever it says.
    """

    unit: CapUnit
    rule: CapRule = CapRule.NEXT_START


class CapMeter:
    """Counts steps and tool calls, and says when the cap is reached. Both counters run whatever the unit."""

    def __init__(self, policy: CapPolicy, *, limit: int | None) -> None:
        self._policy = policy
        self._limit = limit
        self.steps_started = 0
        self.steps_finished = 0
        self.tools_resolved = 0
        self.exhausted = False

    def step_started(self) -> bool:
        """Count a step; tell whether to stop now."""
        self.steps_started += 1
        counted = self._policy.unit is not CapUnit.TOOL_CALLS and self._policy.rule is CapRule.NEXT_START
        return self._cut(over=counted and self._limit is not None and self.steps_started > self._limit)

    def step_finished(self, *, final: bool) -> bool:
        """Count a finished step; tell whether to stop now. A final step ends by itself and exhausts nothing."""
        self.steps_finished += 1
        counted = self._policy.unit is not CapUnit.TOOL_CALLS and self._policy.rule is CapRule.NTH_FINISH
        return self._cut(over=counted and not final and self._limit is not None and self.steps_finished >= self._limit)

    def tool_resolved(self) -> bool:
        """Count a resolved tool call of the main thread; tell whether to stop now."""
        self.tools_resolved += 1
        counted = self._policy.unit is CapUnit.TOOL_CALLS
        return self._cut(over=counted and self._limit is not None and self.tools_resolved >= self._limit)

    def _cut(self, *, over: bool) -> bool:
        self.exhausted = self.exhausted or over
        return over
