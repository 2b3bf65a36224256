"""The only place for what claude-code honours, and for the versions that this was measured on."""

from harness.kinds import Harness
from harness.programs.capability import Capability, Support, fields
from harness.programs.claude_code.launch import DELIVERY, OWN_KEYS

CAPABILITY = Capability(
    harness=Harness.CLAUDE_CODE,
    package="npm @anthropic-ai/claude-code",
    oldest="2.1.332",
    newest="2.1.332",
    credentials=OWN_KEYS,
    plugins=DELIVERY,
    skill_tool="Skill",
    fields=fields(
        context_tokens=Support.IGNORED,
    ),
)
