"""The only place that says which category a failed turn belongs to, and so whether `harness.retry` repeats it.

What is known for certain decides first: our own verdict, then the provider's status code, and only then words, and only
words of the provider. A program's crash text is never searched: "memory" in it is no lack of memory.
"""

import re
from dataclasses import dataclass

from harness.kinds import EndStatus

_BY_STATUS = {401: "agent_auth_error", 403: "agent_auth_error", 402: "agent_billing_error", 429: "agent_rate_limit"}
_REFUSED = range(400, 500)
_BROKEN = range(500, 600)
_TRANSIENT = (408, 409)
# Ordered: a message about a used-up credit often speaks of limits too.
_BY_WORDS = (
    ("agent_auth_error", r"unauthori[sz]ed|authentication|invalid api key|invalid x-api-key"),
    ("agent_billing_error", r"\bcredit\b|\bbilling\b|insufficient_quota|payment required"),
    ("agent_rate_limit", r"rate.?limit|too many requests"),
    ("agent_api_error", r"overloaded|bad gateway|service unavailable|gateway timeout|server ?error"),
    ("agent_api_error", r"connection (reset|refused|error|failed)|stream disconnected|network (issue|error)"),
    ("agent_api_error", r"other side closed"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """What is known about a turn that did not complete.

    Attributes:
        status: How the turn ended.
        refused_launch: The program could not be started as asked.
        vocabulary_drift: The stream held no line of a known kind.
        provider_status: HTTP status of the provider's last answer as the stream tells it; None when it does not.
        provider_words: The provider's own message as the stream tells it; None when it does not.
    """

    status: EndStatus
    refused_launch: bool = False
    vocabulary_drift: bool = False
    provider_status: int | None = None
    provider_words: str | None = None


def failure_category(cause: Cause) -> str | None:
    """Return the category of a failure, a key of `harness.retry.RULES`; None when the turn did not fail.

    A turn at its cap or stopped early is graded, so it did not fail.
    """
    if cause.refused_launch:
        return "agent_config_error"
    if cause.status is EndStatus.TIMEOUT:
        return "agent_timeout"
    if cause.status is not EndStatus.CRASHED:
        return None
    if cause.vocabulary_drift:
        return "agent_invalid_output"
    return _of_status(cause.provider_status) or _of_words(cause.provider_words) or "agent_crash"


def _of_status(status: int | None) -> str | None:
    if status is None:
        return None
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status in _BROKEN or status in _TRANSIENT:
        return "agent_api_error"
    # An unknown model or a malformed request is as wrong the second time.
    return "agent_config_error" if status in _REFUSED else None


def _of_words(words: str | None) -> str | None:
    if words is None:
        return None
    return next((category for category, pattern in _BY_WORDS if re.search(pattern, words, re.IGNORECASE)), None)
