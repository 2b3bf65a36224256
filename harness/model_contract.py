"""The only place for the limits of a model's answers: what may be asked, and what the wire proves.

A limit that is not on the wire in every request is configuration only; nothing here is a billing cap.
"""

from collections.abc import Iterable
from enum import Enum

from harness.programs.program import RequestRefusedError

# The largest integer that every JSON reader keeps exact.
SAFE = 2**53 - 1


class Verification(Enum):
    """What is known of an output limit."""

    WIRE_VERIFIED = "wire-verified"
    CONFIGURATION_ONLY = "configuration-only"
    NOT_VERIFIED = "provider default, not verified"


def check_limit(name: str, value: object) -> None:
    """Refuse an explicit limit that is not a positive safe integer; None is no limit.

    Raises:
        RequestRefusedError: With the field and the value.
    """
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= SAFE:
        raise RequestRefusedError(f"{name}={value!r} must be a whole number from 1 to {SAFE}")


def check_contract(*, request: object, contract: object) -> None:
    """Refuse a request limit above the model's contract.

    Args:
        request: Output limit that a request asks for; None means the provider's default.
        contract: The model's `maxOutputTokens`; None means that it is not known.

    Raises:
        RequestRefusedError: When either is no positive safe integer, or the request exceeds the contract.
    """
    check_limit("max_output_tokens", request)
    check_limit("model_max_output_tokens", contract)
    if isinstance(request, int) and isinstance(contract, int) and request > contract:
        raise RequestRefusedError(f"max_output_tokens={request} must not exceed model_max_output_tokens={contract}")


def verify(wire: Iterable[tuple[str, int | None]], *, model: str | None, output_limit: int | None) -> Verification:
    """Compare what stood on the wire with what was asked, in every request, side calls too.

    Args:
        wire: Model and output limit of each request.
        model: Model that was asked for.
        output_limit: Output limit that was asked for; None means the provider's default.
    """
    seen = tuple(wire)
    if output_limit is None:
        return Verification.NOT_VERIFIED
    if seen and all(row == (model, output_limit) for row in seen):
        return Verification.WIRE_VERIFIED
    return Verification.CONFIGURATION_ONLY
