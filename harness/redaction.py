"""The only place that takes the caller's credentials out of what is recorded."""

from collections.abc import Iterable

# Shorter values are no credentials, and to take them out would break every name that holds them.
MIN_SECRET = 6
REDACTED = "[redacted]"


def redacted(value: object, secrets: Iterable[str]) -> object:
    """Return a JSON value with every secret taken out of its texts and keys.

    Args:
        value: Texts, numbers, lists and dictionaries.
        secrets: The values of credentials; those of fewer than six characters are passed over.
    """
    # A secret that holds another one goes first, or a piece of it would stay.
    return _redacted(value, sorted({one for one in secrets if len(one) >= MIN_SECRET}, key=len, reverse=True))


def _redacted(value: object, secrets: list[str]) -> object:
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, REDACTED)
        return value
    if isinstance(value, dict):
        return {_redacted(key, secrets): _redacted(item, secrets) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_redacted(item, secrets) for item in value]
    return value
