"""The only place for what pi honours, and for the versions that this was measured on."""

from harness.kinds import Harness
from harness.programs.capability import Capability, Support, fields
from harness.programs.pi.launch import DELIVERY, OWN_KEYS

CAPABILITY = Capability(
    harness=Harness.PI,
    package="npm @earendil-works/pi-coding-agent",
    oldest="1.6.0",
    newest="1.6.0",
    credentials=OWN_KEYS,
    plugins=DELIVERY,
    skill_tool="read",
    fields=fields(
        permission_mode=Support.IGNORED,
        native_budget_usd=Support.IGNORED,
        max_output_tokens=Support.ROUTE,
        context_tokens=Support.ROUTE,
        max_turns=Support.RUNNER,
    ),
    needs="it needs Node.js 22.19 or later beside it",
)
