"""The only place that reads YAML with the line of every field, so that a file's faults can all be told at once.

A fault names file, line, field, what was found and what is expected. What the fields mean is its callers' own.
"""

import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

# Explicit tags make the constructor raise what it does not promise.
NO_YAML = (yaml.YAMLError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
LONGEST_NUMBER = 64
# No task or experiment that a person writes comes near it.
LARGEST_BYTES = 4 * 1024 * 1024
_MOST_TOLD = 200


class YamlFileError(ValueError):
    """A file does not follow its schema; the message holds every fault, one a line."""


class YamlUnreadableError(Exception):
    """A file is missing, is no file, is too large, or is no text."""


@dataclass(slots=True)
class Reader:
    """What is known of a file while it is read.

    Attributes:
        name: Its name, as faults tell it.
        lines: The line of each field, from 1.
        faults: What is wrong so far, each with its line.
    """

    name: str
    lines: dict[str, int]
    faults: list[tuple[int, str]] = field(default_factory=list)

    def fault(self, place: str, found: object, expected: str) -> None:
        """Note that a field is not as expected."""
        line = self.lines.get(place) or self.lines.get(place.rpartition(".")[0]) or 1
        said = repr(found)
        said = said if len(said) <= _MOST_TOLD else f"{said[:_MOST_TOLD]}… ({len(said)} characters)"
        self.faults.append((line, f"{self.name}:{line}: {place}: found {said}, expected {expected}"))

    def known(self, found: dict[str, object], place: str, keys: tuple[str, ...]) -> None:
        """Note every key that nobody knows."""
        for key in found:
            if key not in keys:
                self.fault(f"{place}{key}", "an unknown key", f"one of {', '.join(keys)}; remove or correct it")

    def text(self, found: dict[str, object], place: str, key: str) -> str:
        """Return a text; a fault, and "", when it is none or blank."""
        value = found.get(key)
        if isinstance(value, str) and value.strip():
            return value
        self.fault(f"{place}{key}", value, "a text that is not empty")
        return ""

    def texts(self, found: dict[str, object], key: str) -> tuple[str, ...]:
        """Return a list of texts, empty when it is absent; a fault when it is none."""
        value = found.get(key, [])
        if isinstance(value, list) and all(isinstance(item, str) and item.strip() for item in value):
            return tuple(value)
        self.fault(key, value, "a list of texts")
        return ()

    def whole(self, found: dict[str, object], place: str, key: str) -> int | None:
        """Return a whole number of at least 1, None when it is absent; a fault when it is none."""
        value = found.get(key)
        if value is None and key not in found:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
            return value
        self.fault(f"{place}{key}", value, "a whole number of at least 1")
        return None

    def path(self, found: dict[str, object], place: str) -> PurePosixPath:
        """Return a path that stays inside the sandbox; a fault when it leads out."""
        path = PurePosixPath(self.text(found, place, "path"))
        if path.is_absolute() or ".." in path.parts:
            self.fault(f"{place}path", str(path), "a relative path inside the sandbox")
        return path

    def told(self) -> str:
        """Return every fault, a line each, in the order of the file; empty when there is none."""
        return "\n".join(message for _, message in sorted(self.faults))


def read_text(path: Path, *, error: type[YamlUnreadableError] = YamlUnreadableError) -> str:
    """Return a file's text.

    Raises:
        YamlUnreadableError: Of the kind given, when it cannot be read.
    """
    try:
        found = path.stat()
        # A pipe would wait for a writer, and a device has no end.
        if not stat.S_ISREG(found.st_mode):
            raise error(f"{path.name} is no regular file; expected a YAML file")
        if found.st_size > LARGEST_BYTES:
            raise error(f"{path.name} has {found.st_size} bytes; expected a YAML file of at most {LARGEST_BYTES}")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as fault:
        raise error(f"{path.name} is no text in UTF-8; expected a YAML file") from fault
    except OSError as fault:
        said = fault.strerror or type(fault).__name__
        raise error(f"{path.name} cannot be read: {said}; expected a YAML file") from fault
    except ValueError as fault:
        raise error(f"{path.name!r} is a name that no file can have; expected a YAML file") from fault


def parse_mapping(
    text: str, *, name: str, expected: str, error: type[YamlFileError] = YamlFileError
) -> tuple[Reader, dict[str, object]]:
    """Return a document that is a mapping, and the reader that knows its lines.

    A key that stands twice is a fault of the reader already.

    Args:
        text: The document.
        name: The file's name.
        expected: What the mapping must hold, in words.
        error: Kind of error to raise.

    Raises:
        YamlFileError: Of the kind given, when it is no YAML or no mapping.
    """
    try:
        alias = _first_alias(text)
        node = None if alias is not None else yaml.compose(text, Loader=yaml.SafeLoader)
        found = None if alias is not None else yaml.safe_load(text)
    except NO_YAML as fault:
        mark: Any = getattr(fault, "problem_mark", None)
        line = 1 if mark is None else mark.line + 1
        raise error(f"{name}:{line}: found no YAML that can be read, expected a mapping") from fault
    if alias is not None:
        raise error(f"{name}:{alias}: found an alias, expected every value written out where it stands")
    if not isinstance(found, dict):
        raise error(f"{name}:1: found {type(found).__name__}, expected a mapping with {expected}")
    reader = Reader(name=name, lines={})
    unfit: dict[str, tuple[str, str]] = {}
    for place, line, wrong in _lines(node, ""):
        first, reader.lines[place] = reader.lines.get(place), line
        if first is not None:
            reader.fault(place, "the key a second time", f"it once; it stands in line {first} too")
        unfit.update({} if wrong is None else {place: wrong})
    for place, (what, wanted) in unfit.items():
        reader.fault(place, what, wanted)
    if unfit:
        # Nobody looks further at what would break every later look.
        raise error(reader.told())
    return reader, named(found)


def named(found: dict[object, object]) -> dict[str, object]:
    """Return a mapping with its keys as texts."""
    return {str(key): value for key, value in found.items()}


def _first_alias(text: str) -> int | None:
    """Return the line of the first alias; a few of them can stand for more than any memory holds, or for themselves."""
    events = yaml.parse(text, Loader=yaml.SafeLoader)
    return next((event.start_mark.line + 1 for event in events if isinstance(event, yaml.AliasEvent)), None)


def _unfit(node: Any) -> tuple[str, str] | None:
    """Return what is found and expected where a value can be written to no file or is no number of any use."""
    if not isinstance(node, yaml.ScalarNode):
        return None
    if any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in node.value):
        return "a NUL or half a character", "a text that a file can hold"
    if node.tag == "tag:yaml.org,2002:int" and len(node.value) > LONGEST_NUMBER:
        return f"a number of {len(node.value)} characters", f"one of at most {LONGEST_NUMBER}"
    return None


def _lines(node: Any, place: str) -> Iterator[tuple[str, int, tuple[str, str] | None]]:
    """Yield each field's place and its line, from 1, and what is wrong with its value as such."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            here = f"{place}.{key.value}" if place else str(key.value)
            yield here, key.start_mark.line + 1, _unfit(value)
            yield from _lines(value, here)
    if isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            here = f"{place}[{index}]"
            yield here, value.start_mark.line + 1, _unfit(value)
            yield from _lines(value, here)
