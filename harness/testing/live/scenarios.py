"""The only place for what the live tier plays, and how each program must end it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.kinds import EndStatus, Harness
from harness.testing.script import Fault, FaultKind, Script, Step, Usage

USAGES = (
    Usage(prompt=1000, cache_read=200, cache_write=100, output=50),
    Usage(prompt=1100, cache_read=900, cache_write=40, output=60, reasoning=20),
    Usage(prompt=1200, cache_read=1000, output=30),
)
CAP = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One script and what must come of it.

    Attributes:
        name: Its name in the table.
        script: What the model says.
        ends: How the turn ends.
        otherwise: Programs for which it ends in another way, as measured.
        tools: Tool calls that the finished turn must hold; None when it is not to finish.
        failed_tools: How many of them end in an error.
        timeout_s: The turn's limit.
        cap: The turn cap, or None.
        skilled: Whether a plugin of one skill is delivered, whose description must reach the model.
        counted: Whether the token totals must equal what the provider billed: completed generations only.
    """

    name: str
    script: Script
    ends: EndStatus = EndStatus.COMPLETED
    otherwise: Mapping[Harness, EndStatus] = field(default_factory=dict)
    tools: int | None = None
    failed_tools: int = 0
    timeout_s: float = 90.0
    cap: int | None = None
    skilled: bool = False
    counted: bool = False

    def expected(self, harness: Harness) -> EndStatus:
        """Return how a program ends it."""
        return self.otherwise.get(harness, self.ends)


def stamped(name: str, seconds: float) -> str:
    """Return a command that sleeps and writes its own bounds."""
    return f"date +%s%N >> {name}.times; sleep {seconds}; date +%s%N >> {name}.times"


def _last(fault: Fault | None = None) -> Step:
    return Step(text="All done.", usage=USAGES[2], first_token_ms=100, stream_ms=100, fault=fault)


def _first(command: str) -> Step:
    return Step(text="I look first.", commands=(command,), usage=USAGES[0], first_token_ms=200)


TOOLS = Script(
    steps=(
        _first(stamped("a", 1.0)),
        Step(text="Now two.", commands=(stamped("b", 1.0), stamped("c", 1.5)), usage=USAGES[1]),
        _last(),
    )
)
# Longer than any limit here; it moves to a session of its own, where no group kill reaches it.
STUCK = "setsid sleep 600 & sleep 600"
SCENARIOS = (
    Scenario(name="tools", script=TOOLS, tools=3, counted=True),
    Scenario(
        name="failing",
        script=Script(steps=(_first("exit 7"), _last())),
        tools=1,
        failed_tools=1,
        skilled=True,
        counted=True,
    ),
    Scenario(
        name="status500",
        script=Script(steps=(_first("true"), _last(Fault(kind=FaultKind.STATUS, status=500)))),
        otherwise={Harness.ANTIGRAVITY: EndStatus.CRASHED},
    ),
    Scenario(
        name="refused",
        script=Script(steps=(_last(Fault(kind=FaultKind.STATUS, status=401, times=None)),)),
        ends=EndStatus.CRASHED,
    ),
    Scenario(
        name="cap",
        script=Script(steps=tuple(_first("true") for _ in range(2 * CAP))),
        ends=EndStatus.MAX_TURNS_EXHAUSTED,
        cap=CAP,
    ),
    Scenario(name="timeout", script=Script(steps=(_first(STUCK), _last())), ends=EndStatus.TIMEOUT, timeout_s=20.0),
)
