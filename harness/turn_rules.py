"""The only place for what a turn-metric line may hold: versions, bounds, identifiers, error classes, provenance.

Lengths are counted in UTF-16 units and blanks are ECMAScript's, because the format's first writer and readers are
JavaScript: the same line must be valid for both.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

SCHEMA_V1 = "omk-turn-metrics-1"
SCHEMA_V2 = "omk-turn-metrics-2"
PROVENANCE_SCHEMA = "omk-runtime-provenance-1"
STOP_REASONS = ("stop", "length", "toolUse", "error", "aborted")
UNKNOWN = "unknown"
# In the order in which they are tried: the first that is found in the text names the failure.
_ERROR_SIGNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("timeout", re.compile(r"timed?[ _-]?out", re.IGNORECASE)),
    ("aborted", re.compile(r"abort|cancel", re.IGNORECASE)),
    ("permission", re.compile(r"permission|eacces|eperm", re.IGNORECASE)),
    ("not_found", re.compile(r"not found|enoent", re.IGNORECASE)),
    ("invalid_input", re.compile(r"invalid|validation", re.IGNORECASE)),
)
ERROR_CLASSES = (*(name for name, _ in _ERROR_SIGNS), UNKNOWN)

MAX_SAFE_INTEGER = 2**53 - 1
MAX_IDENTIFIER_UNITS = 512
MAX_ERROR_UNITS = 200
MAX_CALLS = 10_000
MAX_FILE_BYTES = 8 * 1024 * 1024

BLANKS = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")

MODEL_FIELDS = ("requestedModel", "selectedModel", "responseModel", "requestedThinking", "effectiveThinking")
SOURCES = ("session", "assistant-message", "subagent-child")
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@+-]{0,127}")
# A provider that echoes a key as its model's name must not get it written down.
_CREDENTIAL = re.compile(
    r"sk-(?:ant|proj|or|live)-|akia[0-9a-z]{8}|gh[opsu]_[0-9a-z]{10}|github_pat_|xox[abprs]-|glpat-|\bbearer\s",
    re.IGNORECASE,
)
_INSTANT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")
_PROVENANCE_KEYS = frozenset(("schemaVersion", "source", "observedAt", *MODEL_FIELDS))


def utf16_units(text: str) -> int:
    """Return the length of a text as JavaScript counts it."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


@lru_cache(maxsize=4096)  # the same few names stand in every turn
def is_identifier(text: str) -> bool:
    """Say whether a text may stand as a session, provider, model or tool name."""
    return (
        len(text) <= MAX_IDENTIFIER_UNITS
        and _CONTROL.search(text) is None
        and text.strip(BLANKS) != ""
        and utf16_units(text) <= MAX_IDENTIFIER_UNITS
    )


def classify_error(text: str) -> str:
    """Return the class of a raw tool error; only its first 200 UTF-16 units are looked at."""
    seen = text[:MAX_ERROR_UNITS]
    if not seen.isascii():
        units = seen.encode("utf-16-le", "surrogatepass")[: 2 * MAX_ERROR_UNITS]
        seen = units.decode("utf-16-le", "surrogatepass")
    return next((name for name, sign in _ERROR_SIGNS if sign.search(seen)), UNKNOWN)


def is_label(text: str) -> bool:
    """Say whether a text may stand as a model or thinking level in the provenance: bounded, and no credential."""
    return _LABEL.fullmatch(text) is not None and _CREDENTIAL.search(text) is None


def is_instant(text: str) -> bool:
    """Say whether a text is spelled as the provenance's UTC instant with milliseconds."""
    return _INSTANT.fullmatch(text) is not None


def read_provenance(found: object) -> Mapping[str, str | None] | None:
    """Return a recorded provenance's model fields, or None when any part of it is not as a recorder writes it.

    A record that cannot be trusted in one field is not trusted at all; the turn around it stays valid. Version, source
    and instant may be absent; a field that is absent or null is None in the result.
    """
    if not isinstance(found, dict) or not found.keys() <= _PROVENANCE_KEYS:
        return None
    known = (
        found.get("schemaVersion", PROVENANCE_SCHEMA) == PROVENANCE_SCHEMA
        and found.get("source", SOURCES[0]) in SOURCES
        and _is_instant_or_absent(found)
    )
    labels = {name: found.get(name) for name in MODEL_FIELDS}
    if not known or not all(value is None or _is_written_label(value) for value in labels.values()):
        return None
    return MappingProxyType({name: None if value is None else value.strip(BLANKS) for name, value in labels.items()})


def _is_instant_or_absent(found: Mapping[str, object]) -> bool:
    at = found.get("observedAt", "2000-01-01T00:00:00.000Z")
    return isinstance(at, str) and is_instant(at)


def _is_written_label(value: object) -> bool:
    return isinstance(value, str) and is_label(value.strip(BLANKS))
