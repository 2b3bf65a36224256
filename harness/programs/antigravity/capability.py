"""The only place for what antigravity honours, and for the versions that this was measured on."""

from harness.kinds import Harness
from harness.programs.antigravity.launch import DELIVERY, OWN_KEYS
from harness.programs.capability import Capability, Support, fields

CAPABILITY = Capability(
    harness=Harness.ANTIGRAVITY,
    package="PyPI google-antigravity",
    oldest="0.1.22",
    newest="0.1.22",
    credentials=OWN_KEYS,
    plugins=DELIVERY,
    fields=fields(
        effort=Support.IGNORED,
        permission_mode=Support.IGNORED,
        max_output_tokens=Support.IGNORED,
        context_tokens=Support.IGNORED,
        native_budget_usd=Support.IGNORED,
        max_turns=Support.RUNNER,
    ),
    needs="its interpreter needs the package google-antigravity",
    version_words=("-P", "-c", 'import importlib.metadata as m; print(m.version("google-antigravity"))'),
)
