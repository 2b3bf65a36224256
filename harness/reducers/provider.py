"""The only place for what a stream says of the provider's last answer when that was a failure.

The words serve to sort the failure and for nothing else: they are a provider's own and stand in no record.
"""

import re
from dataclasses import dataclass

FAILURES = range(400, 600)
MAX_WORDS = 400
_JOINTS = re.compile(r"(?<=[a-z])(?=[A-Z])|_")
_LEADING = re.compile(r"\s*([45]\d\d)\b")


@dataclass(slots=True)
class ProviderFailure:
    """The failure that stands; an answer that came after it takes it back.

    Attributes:
        status: HTTP status, 400 to 599; None when there was none or the stream does not tell it.
        words: Kind and message, at most 400 characters; None when the stream has none.
    """

    status: int | None = None
    words: str | None = None

    def failed(self, status: int | None, *kinds: str | None, message: str | None = None) -> None:
        """Note a failure in place of the one before; a number that is no failing HTTP status is no status.

        Args:
            status: What stands where the stream tells an HTTP status.
            kinds: The program's names of the failure; "rateLimit" and "rate_limit" become words.
            message: The provider's own.
        """
        said = ": ".join(filter(None, (*(_JOINTS.sub(" ", kind) for kind in kinds if kind), message)))
        self.status = status if status in FAILURES else None
        self.words = said[:MAX_WORDS] or None

    def answered(self) -> None:
        """Note that the provider answered after all."""
        self.status, self.words = None, None


def leading_status(words: str) -> int | None:
    """Return the HTTP status that a message begins with, "429: slow down"; None when it begins otherwise."""
    found = _LEADING.match(words)
    return None if found is None else int(found.group(1))
