"""The only place for what was measured of claude-code: where it lies, its turn cap, its figures, its tool times."""

from pathlib import Path

from harness.caps import CapPolicy, CapUnit
from harness.tokens import UsageSemantics

# What starts it, relative to the folder of the programs.
COMMAND: tuple[Path, ...] = (Path("npm/node_modules/@anthropic-ai/claude-code-linux-x64/claude"),)
NAME: str | None = "claude"
CONTRACT_CAP = CapPolicy(unit=CapUnit.AGENT_LOOP)
CAP = CONTRACT_CAP
USAGE = UsageSemantics(cache_in_input=False, reasoning_in_output=True, aborted_counted=True)
# Union of the recorded tool spans minus the tools' own, in seconds: least and most that was seen.
UNION_ERROR_S = (-0.05, 3.0)
# A model name that it takes for one of its own.
SCRIPTED_MODEL = "claude-sonnet-4-5"
