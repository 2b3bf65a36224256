"""The only place that gathers what was measured of every harness: what a turn cap counts, what its figures include."""

from harness.caps import CapPolicy
from harness.kinds import Harness
from harness.programs.folders import part
from harness.tokens import UsageSemantics

# As the parity contract has it.
CONTRACT_CAPS: dict[Harness, CapPolicy] = {harness: part(harness, "facts").CONTRACT_CAP for harness in Harness}
# As it is enforced: the measured behaviour, where the contract's rule would let a further request leave.
DEFAULT_CAPS: dict[Harness, CapPolicy] = {harness: part(harness, "facts").CAP for harness in Harness}
USAGE_SEMANTICS: dict[Harness, UsageSemantics] = {harness: part(harness, "facts").USAGE for harness in Harness}
