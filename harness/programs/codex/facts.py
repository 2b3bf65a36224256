"""The only place for what was measured of codex: where it lies, its turn cap, its figures, its tool times."""

from pathlib import Path

from harness.caps import CapPolicy, CapUnit
from harness.tokens import UsageSemantics

# What starts it, relative to the folder of the programs.
COMMAND: tuple[Path, ...] = (
    Path("npm/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"),
)
NAME: str | None = "codex"
CONTRACT_CAP = CapPolicy(unit=CapUnit.TOOL_CALLS)
CAP = CONTRACT_CAP
USAGE = UsageSemantics(cache_in_input=True, reasoning_in_output=True, aborted_counted=None)
# Union of the recorded tool spans minus the tools' own, in seconds: least and most that was seen.
UNION_ERROR_S = (-0.9, 1.0)
SCRIPTED_MODEL = "scripted-model"
