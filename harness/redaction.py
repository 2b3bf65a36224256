"""The only place that takes the caller's credentials out of what is recorded."""

import base64
import json
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

# Shorter values are no credentials, and to take them out would break every name that holds them.
MIN_SECRET = 6
REDACTED = "[redacted]"
_URL_LETTERS = str.maketrans("+/", "-_")


def redacted(value: object, secrets: Iterable[str]) -> object:
    """Return a JSON value with every secret taken out of its texts and keys, also where it was encoded.

    Args:
        value: Texts, numbers, lists and dictionaries.
        secrets: The values of credentials; those of fewer than six characters are passed over.
    """
    # A secret that holds another one goes first, or a piece of it would stay.
    known = {form for one in secrets if len(one) >= MIN_SECRET for form in _forms(one)}
    return _redacted(value, sorted(known, key=len, reverse=True))


def _forms(secret: str) -> Iterator[str]:
    """Yield a secret as it stands, escaped for JSON or a URL, and in hexadecimal or base 64."""
    data = secret.encode("utf-8", "surrogatepass")
    yield secret
    for escaped in (json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]):
        yield from (escaped, escaped.replace("/", "\\/"))
    for escaped in (quote(data), quote(data, safe=""), quote_plus(data)):
        yield from (escaped, _lower(escaped))
    yield from (data.hex(), data.hex().upper())
    for before in range(3):
        # What stands before the secret moves its bits; letters that hold bits of a neighbour are left out.
        whole = slice((8 * before + 5) // 6, 8 * (before + len(data)) // 6)
        letters = base64.b64encode(bytes(before) + data).decode("ascii")[whole]
        yield from (letters, letters.translate(_URL_LETTERS))


def _lower(escaped: str) -> str:
    """Return a text with its percent escapes in small letters."""
    head, *rest = escaped.split("%")
    return "%".join((head, *(part[:2].lower() + part[2:] for part in rest)))


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
