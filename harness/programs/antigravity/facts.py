"""The only place for what was measured of antigravity: where it lies, its turn cap, its figures, its tool times."""

from pathlib import Path

from harness.caps import CapPolicy, CapUnit
from harness.tokens import UsageSemantics

# What starts it, relative to the folder of the programs; it is a library and has no name on PATH.
COMMAND: tuple[Path, ...] = (Path("antigravity/bin/python"),)
NAME: str | None = None
CONTRACT_CAP = CapPolicy(unit=CapUnit.TOOL_CALLS)
CAP = CONTRACT_CAP
USAGE = UsageSemantics(cache_in_input=True, reasoning_in_output=False, aborted_counted=True)
# Union of the recorded tool spans minus the tools' own, in seconds: least and most that was seen.
UNION_ERROR_S = (-0.05, 3.0)
SCRIPTED_MODEL = "scripted-model"
