"""The only place that turns what a harness knows about one turn into the record that is written: field by field.

Nothing is copied that is not named here, and no method of the given objects is called: a dictionary, text or number
with code of its own is read by the plain type's rules. Raw error text is looked at once and dropped.
"""

import math
from collections.abc import Callable
from itertools import islice
from typing import NoReturn, TypeGuard

from harness.turn_rules import (
    BLANKS,
    ERROR_CLASSES,
    MAX_CALLS,
    MAX_SAFE_INTEGER,
    MODEL_FIELDS,
    PROVENANCE_SCHEMA,
    SCHEMA_V2,
    SOURCES,
    STOP_REASONS,
    UNKNOWN,
    classify_error,
    is_identifier,
    is_instant,
    is_label,
)

Record = dict[str, object]
Number = int | float
_USAGE = ("input", "output", "cacheRead", "cacheWrite")


class TurnInputError(ValueError):
    """What was given for a turn cannot be recorded; the message names the field and the rule, never the value."""


def turn_record(given: object) -> Record:
    """Return the record of one turn, its keys in the order in which they are written.

    Args:
        given: A dictionary with the keys of the format; None stands for an absent field. `toolCalls` hold `name`,
            `durationMs` (a negative one is a measured zero), `ok` and, on failures, the raw `error`, or without one
            an `errorClass`.

    Raises:
        TurnInputError: When a field is missing or is not what the format demands.
    """
    turn = _object(given, "turn")
    start, end = (_quantity(_get(turn, name), name) for name in ("startedAtEpochMs", "endedAtEpochMs"))
    calls = _calls(_get(turn, "toolCalls"))
    return {
        "schemaVersion": SCHEMA_V2,
        "sessionId": _identifier(_get(turn, "sessionId"), "sessionId"),
        "turnIndex": _count(_get(turn, "turnIndex"), "turnIndex"),
        **_optional(turn, "provider", _identifier),
        **_optional(turn, "model", _identifier),
        "startedAtEpochMs": start,
        "endedAtEpochMs": end,
        "durationMs": _plain(max(0, end - start)),
        **_optional(turn, "timeToFirstChunkMs", _quantity),
        **_optional(turn, "usage", _usage),
        **_optional(turn, "stopReason", _stop_reason),
        "toolCalls": calls,
        "toolCallCount": len(calls),
        "toolFailureCount": sum(not call["ok"] for call in calls),
        **_optional(turn, "compacted", _flag),
        **_optional(turn, "failovers", _count),
        **_optional(turn, "contextCache", _context_cache),
        **_provenance(_get(turn, "runtimeProvenance")),
    }


def _is_dict(value: object) -> TypeGuard[Record]:
    # The type itself and not isinstance, which asks the object what it is.
    return issubclass(type(value), dict)


def _is_text(value: object) -> TypeGuard[str]:
    return issubclass(type(value), str)


def _is_number(value: object) -> TypeGuard[Number]:
    return issubclass(type(value), int | float) and type(value) is not bool


def _is_list(value: object) -> TypeGuard[list[object]]:
    return issubclass(type(value), list)


def _is_tuple(value: object) -> TypeGuard[tuple[object, ...]]:
    return issubclass(type(value), tuple)


def _get(found: Record, name: str) -> object:
    return dict.get(found, name)


def _refuse(field: str, rule: str) -> NoReturn:
    raise TurnInputError(f"{field}: {rule}")


def _object(value: object, field: str) -> Record:
    if not _is_dict(value):
        _refuse(field, "not a dictionary")
    return _plain_keys(value)


def _plain_keys(found: Record) -> Record:
    """Copy a dictionary by the plain types' rules: a key with code of its own would run it when it is looked up."""
    return {_text(key): value for key, value in list(dict.items(found)) if _is_text(key)}


def _optional(turn: Record, field: str, read: Callable[[object, str], object]) -> Record:
    value = _get(turn, field)
    return {} if value is None else {field: read(value, field)}


def _identifier(value: object, field: str) -> str:
    if not _is_text(value):
        _refuse(field, "not a text")
    text = _text(value)
    if not is_identifier(text):
        _refuse(field, "blank, longer than 512 UTF-16 units, or with a control character")
    return text


def _text(value: str) -> str:
    return value if type(value) is str else str.__str__(value)


def _number(value: object, field: str) -> Number:
    if not _is_number(value):
        _refuse(field, "not a number")
    exact: Number = int.__int__(value) if isinstance(value, int) else float.__float__(value)
    if isinstance(exact, int) and abs(exact) > MAX_SAFE_INTEGER:
        try:
            exact = float(exact)
        except OverflowError:
            _refuse(field, "not finite")
    if not math.isfinite(exact):
        _refuse(field, "not finite")
    return _plain(exact)


def _plain(value: Number) -> Number:
    """Write 3.0 as 3 and -0.0 as 0, as JavaScript does."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= MAX_SAFE_INTEGER:
        return int(value)
    return value


def _quantity(value: object, field: str) -> Number:
    found = _number(value, field)
    if found < 0:
        _refuse(field, "negative")
    return found


def _count(value: object, field: str) -> int:
    found = _quantity(value, field)
    if not isinstance(found, int):
        _refuse(field, "not a whole number up to 2^53 - 1")
    return found


def _flag(value: object, field: str) -> bool:
    if type(value) is not bool:
        _refuse(field, "not true or false")
    return value


def _stop_reason(value: object, field: str) -> str:
    text = _text(value) if _is_text(value) else ""
    if text not in STOP_REASONS:
        _refuse(field, f"not one of {', '.join(STOP_REASONS)}")
    return text


def _usage(value: object, field: str) -> Record:
    usage = _object(value, field)
    counts: Record = {name: _count(_get(usage, name), f"{field}.{name}") for name in _USAGE}
    return {**counts, "costUsd": _quantity(_get(usage, "costUsd"), f"{field}.costUsd")}


def _context_cache(value: object, field: str) -> Record:
    cache = _object(value, field)
    return {
        "planHit": _flag(_get(cache, "planHit"), f"{field}.planHit"),
        "hits": _count(_get(cache, "hits"), f"{field}.hits"),
        "misses": _count(_get(cache, "misses"), f"{field}.misses"),
    }


def _calls(value: object) -> list[Record]:
    if value is None:
        return []
    calls = _plain_list(value)
    if len(calls) > MAX_CALLS:
        _refuse("toolCalls", f"more than {MAX_CALLS} calls")
    return [_call(raw) for raw in calls]


def _plain_list(value: object) -> list[object]:
    """Read a list or tuple by the plain type's own iterator, and no further than the bound."""
    if _is_list(value):
        return list(islice(list.__iter__(value), MAX_CALLS + 1))
    if _is_tuple(value):
        return list(islice(tuple.__iter__(value), MAX_CALLS + 1))
    _refuse("toolCalls", "not a list")


def _call(value: object) -> Record:
    call = _object(value, "toolCalls")
    ok = _flag(_get(call, "ok"), "toolCalls.ok")
    error = _get(call, "error")
    if error is not None and not _is_text(error):
        _refuse("toolCalls.error", "not a text")
    return {
        "name": _identifier(_get(call, "name"), "toolCalls.name"),
        "durationMs": max(0, _number(_get(call, "durationMs"), "toolCalls.durationMs")),
        "ok": ok,
        **({} if ok else {"errorClass": _error_class(error, _get(call, "errorClass"))}),
    }


def _error_class(error: str | None, named: object) -> str:
    """Classify the raw text; without one, take the class that the harness names itself."""
    if error is not None:
        return classify_error(_text(error))
    return _text(named) if _is_text(named) and _text(named) in ERROR_CLASSES else UNKNOWN


def _provenance(value: object) -> Record:
    """Keep each field that can be trusted; without a single one there is no provenance."""
    if not _is_dict(value):
        return {}
    value = _plain_keys(value)
    labels = {name: _label(_get(value, name)) for name in MODEL_FIELDS}
    if not any(labels.values()):
        return {}
    source, at = _get(value, "source"), _get(value, "observedAt")
    return {
        "runtimeProvenance": {
            "schemaVersion": PROVENANCE_SCHEMA,
            **labels,
            "source": _text(source) if _is_text(source) and _text(source) in SOURCES else SOURCES[0],
            **({"observedAt": _text(at)} if _is_text(at) and is_instant(_text(at)) else {}),
        }
    }


def _label(value: object) -> str | None:
    text = _text(value).strip(BLANKS) if _is_text(value) else ""
    return text if is_label(text) else None
