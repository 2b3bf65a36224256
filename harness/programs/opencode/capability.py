"""The only place for what opencode honours, and for the versions that this was measured on."""

from harness.kinds import Harness
from harness.programs.capability import Capability, Support, fields
from harness.programs.opencode.launch import DELIVERY, OWN_KEYS

CAPABILITY = Capability(
    harness=Harness.OPENCODE,
    package="npm opencode-ai",
    oldest="1.18.33",
    newest="1.18.33",
    credentials=OWN_KEYS,
    plugins=DELIVERY,
    skill_tool="skill",
    wants=("rg", "its skill, grep and glob tools"),
    fields=fields(
        permission_mode=Support.IGNORED,
        native_budget_usd=Support.IGNORED,
        max_output_tokens=Support.ROUTE,
        context_tokens=Support.ROUTE,
        max_turns=Support.RUNNER,
    ),
)
