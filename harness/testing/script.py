"""The only place for what a scripted model says: its answers, their delays and tokens, and what goes wrong.

A script speaks of tools only as shell commands; a dialect finds the program's own shell tool in the request and fills
in its arguments. So one script drives every program.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path


class ScriptError(ValueError):
    """A script is not of the expected form; the message says which field, what was found and what was expected."""


class FaultKind(Enum):
    """What a provider does instead of answering."""

    STATUS = "status"  # an HTTP error
    CUT = "cut"  # the connection ends in the middle of the answer
    HANG = "hang"  # no answer until the client leaves
    HANG_UP = "hang_up"  # the connection ends before any answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that goes wrong.

    Attributes:
        kind: What happens.
        status: HTTP status of a STATUS fault.
        retry_after_s: Value of the retry-after header; None sends none.
        times: How often, before the step is answered after all; None means always.
    """

    kind: FaultKind
    status: int = 500
    retry_after_s: int | None = None
    times: int | None = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one answer, in one meaning for every protocol.

    Attributes:
        prompt: The whole prompt, cached parts inside.
        cache_read: The part of the prompt read from a cache.
        cache_write: The part written to one; only Anthropic's protocol can say it.
        output: Generated tokens, reasoning inside.
        reasoning: The part of the output that was reasoning.
    """

    prompt: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of a tool by the program's own name for it; only a program that offers the tool hears it.

    Attributes:
        name: The tool.
        arguments: Its arguments, as the program's schema wants them.
    """

    name: str
    arguments: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One answer of the model.

    Attributes:
        text: What it says.
        thinking: What it thinks first; "" means that it does not.
        commands: Shell commands that it asks for, in parallel; none ends the turn.
        calls: Calls of other tools that it asks for, beside the commands.
        usage: Its tokens.
        first_token_ms: Delay from the request to the first byte of the answer.
        stream_ms: Time over which the answer's pieces are spread.
        fault: What goes wrong first; None means nothing.
    """

    text: str = ""
    thinking: str = ""
    commands: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    usage: Usage = field(default_factory=Usage)
    first_token_ms: int = 0
    stream_ms: int = 0
    fault: Fault | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """What a scripted model says in one conversation.

    Attributes:
        steps: Its answers in order; a conversation that is longer hears `after`.
        after: The answer to every request beyond the last step.
        side: The answer to a request without tools, such as a title or a summary.
        models: Model names that exist; none means any.
    """

    steps: tuple[Step, ...]
    after: Step = field(default_factory=lambda: Step(text="Done."))
    side: Step = field(default_factory=lambda: Step(text="Aside."))
    models: tuple[str, ...] = ()

    def step(self, position: int) -> Step:
        """Return the answer after so many earlier answers."""
        return self.steps[position] if position < len(self.steps) else self.after


def load_script(path: Path) -> dict[str, Script]:
    """Read scripts from a JSON file: one script, or an object of scripts by the words that a prompt holds.

    Raises:
        ScriptError: When the file is not of the form.
        OSError: When it cannot be read.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as fault:
        raise ScriptError(f"{path.name} is not JSON: {fault}") from fault
    if not isinstance(found, dict):
        raise ScriptError(f"{path.name} must hold an object, found {type(found).__name__}")
    if "steps" in found:
        return {"": parse_script(found)}
    return {words: parse_script(part) for words, part in found.items()}


def parse_script(found: object) -> Script:
    """Return the script that a parsed object holds.

    Raises:
        ScriptError: When a field is unknown, missing or of another type.
    """
    row = _object(found, "script", {"steps", "after", "side", "models"})
    if "steps" not in row:
        raise ScriptError("script.steps is missing; expected a list of answers")
    extra = {name: _step(row[name], name) for name in ("after", "side") if name in row}
    steps = tuple(_step(part, f"steps[{index}]") for index, part in enumerate(_items(row["steps"], "steps")))
    return Script(steps=steps, models=_words(row.get("models", []), "models"), **extra)


def _step(found: object, place: str) -> Step:
    row = _object(found, place, set(Step.__dataclass_fields__))
    return Step(
        text=_text(row.get("text", ""), f"{place}.text"),
        thinking=_text(row.get("thinking", ""), f"{place}.thinking"),
        commands=_words(row.get("commands", []), f"{place}.commands"),
        calls=tuple(
            _call(part, f"{place}.calls[{index}]")
            for index, part in enumerate(_items(row.get("calls", []), f"{place}.calls"))
        ),
        usage=_usage(row.get("usage", {}), f"{place}.usage"),
        first_token_ms=_whole(row.get("first_token_ms", 0), f"{place}.first_token_ms"),
        stream_ms=_whole(row.get("stream_ms", 0), f"{place}.stream_ms"),
        fault=_fault(row["fault"], f"{place}.fault") if row.get("fault") is not None else None,
    )


def _call(found: object, place: str) -> Call:
    row = _object(found, place, set(Call.__dataclass_fields__))
    arguments = row.get("arguments", {})
    if not isinstance(arguments, dict):
        raise ScriptError(f"{place}.arguments must be an object, found {type(arguments).__name__}")
    return Call(name=_text(row.get("name"), f"{place}.name"), arguments=arguments)


def _usage(found: object, place: str) -> Usage:
    row = _object(found, place, set(Usage.__dataclass_fields__))
    usage = Usage(**{name: _whole(value, f"{place}.{name}") for name, value in row.items()})
    if usage.cache_read + usage.cache_write > usage.prompt or usage.reasoning > usage.output:
        raise ScriptError(f"{place}: cached parts lie inside prompt, and reasoning inside output; found {dict(row)}")
    return usage


def _fault(found: object, place: str) -> Fault:
    row = _object(found, place, set(Fault.__dataclass_fields__))
    kinds = {kind.value: kind for kind in FaultKind}
    kind = row.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        raise ScriptError(f"{place}.kind={kind!r} must be one of {', '.join(kinds)}")
    retry, times = row.get("retry_after_s"), row.get("times", 1)
    return Fault(
        kind=kinds[kind],
        status=_whole(row.get("status", 500), f"{place}.status"),
        retry_after_s=None if retry is None else _whole(retry, f"{place}.retry_after_s"),
        times=None if times is None else _whole(times, f"{place}.times"),
    )


def _object(found: object, place: str, known: set[str]) -> Mapping[str, object]:
    if not isinstance(found, dict):
        raise ScriptError(f"{place} must be an object, found {type(found).__name__}")
    strange = sorted(set(found) - known)
    if strange:
        raise ScriptError(f"{place}: unknown field {strange[0]!r}; expected {', '.join(sorted(known))}")
    return found


def _items(found: object, place: str) -> list[object]:
    if not isinstance(found, list):
        raise ScriptError(f"{place} must be a list, found {type(found).__name__}")
    return found


def _words(found: object, place: str) -> tuple[str, ...]:
    return tuple(_text(item, place) for item in _items(found, place))


def _text(found: object, place: str) -> str:
    if not isinstance(found, str):
        raise ScriptError(f"{place} must be text, found {type(found).__name__}")
    return found


def _whole(found: object, place: str) -> int:
    if isinstance(found, bool) or not isinstance(found, int) or found < 0:
        raise ScriptError(f"{place}={found!r} must be a whole number of at least 0")
    return found
