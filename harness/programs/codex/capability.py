"""The only place for what codex honours, and for the versions that this was measured on."""

from harness.kinds import Harness
from harness.programs.capability import Capability, Support, fields
from harness.programs.codex.launch import DELIVERY, OWN_KEYS

CAPABILITY = Capability(
    harness=Harness.CODEX,
    package="npm @openai/codex",
    oldest="0.171.0",
    newest="0.171.0",
    credentials=OWN_KEYS,
    plugins=DELIVERY,
    fields=fields(
        permission_mode=Support.IGNORED,
        allowed_tools=Support.IGNORED,
        disallowed_tools=Support.IGNORED,
        max_output_tokens=Support.IGNORED,
        native_budget_usd=Support.IGNORED,
        max_turns=Support.RUNNER,
    ),
)
