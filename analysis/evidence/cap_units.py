"""The only place for what a cap of a recorded budget counts: a limit is a number and a unit, and never one without it.

The same `max_turns` bounds tool calls on one harness and steps on another; what each of the five counts is known from
harness/caps.py, and a runner that records its own unit is believed.
"""

from harness.facts import CONTRACT_CAPS
from harness.kinds import Harness

RECORDED_UNIT = "cap_unit"
# Cap, as a budget spells it, to what it counts where the harness does not decide it.
CAP_UNITS: dict[str, str] = {
    "cost_limit": "US dollars",
    "max_budget_usd": "US dollars",
    "max_cost_usd": "US dollars",
    "max_episodes": "episodes",
    "max_iterations": "iterations",
    "max_requests": "requests",
    "max_steps": "steps",
    "max_tokens": "tokens",
    "max_tool_calls": "tool calls",
    "max_turns": "turns",
    "per_instance_call_limit": "requests",
    "per_instance_cost_limit": "US dollars",
    "step_limit": "steps",
}
_BY_HARNESS = "max_turns"
_NAMES = {harness.value: harness for harness in Harness} | {"antigravity-cli": Harness.ANTIGRAVITY}


def cap_units(budget: str, *, agent: str) -> frozenset[str]:
    """Return what the caps of a budget count; empty when it holds no cap.

    Args:
        budget: As the reader spells it: `name=value` joined by commas.
        agent: Name of the agent that the budget bounds.
    """
    parts = dict(part.partition("=")[::2] for part in budget.split(","))
    caps = CAP_UNITS.keys() & parts.keys()
    recorded = parts.get(RECORDED_UNIT, "").replace("_", " ")
    return frozenset(recorded or _unit(cap, agent) if cap == _BY_HARNESS else CAP_UNITS[cap] for cap in caps)


def _unit(cap: str, agent: str) -> str:
    harness = _NAMES.get(agent)
    return CAP_UNITS[cap] if harness is None else CONTRACT_CAPS[harness].unit.value.replace("_", " ")
