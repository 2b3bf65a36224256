"""The only place that reads YAML with the line of every field, so that a file's faults can all be told at once.

A fault names file, line, field, what was found and what is expected. What the fields mean is its callers' own.
"""

import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import yaml


class YamlFileError(ValueError):
    """A file does not follow its schema; the message holds every fault, one a line."""


class YamlUnreadableError(Exception):
    """A file is missing, is no file, is too large, or is no text."""


# No task or experiment that a person writes comes near it.
LARGEST_BYTES = 4 * 1024 * 1024
_SHOWN = 120
_NOT_PLAIN = "a text without NUL and without half a surrogate pair"


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
        self.faults.append((line, f"{self.name}:{line}: {place}: found {_shown(found)}, expected {expected}"))

    def known(self, found: dict[str, object], place: str, keys: tuple[str, ...]) -> None:
        """Note every key that nobody knows."""
        for key in found:
            if key not in keys:
                self.fault(f"{place}{key}", "an unknown key", f"one of {', '.join(keys)}; remove or correct it")

    def text(self, found: dict[str, object], place: str, key: str) -> str:
        """Return a text; a fault, and "", when it is none or blank."""
        value = found.get(key)
        if isinstance(value, str) and value.strip():
            if not _is_plain(value):
                self.fault(f"{place}{key}", value, _NOT_PLAIN)
            return value
        self.fault(f"{place}{key}", value, "a text that is not empty")
        return ""

    def texts(self, found: dict[str, object], key: str) -> tuple[str, ...]:
        """Return a list of texts, empty when it is absent; a fault when it is none."""
        value = found.get(key, [])
        if isinstance(value, list) and all(isinstance(item, str) and item.strip() for item in value):
            if not all(map(_is_plain, value)):
                self.fault(key, value, _NOT_PLAIN)
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
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        found: object = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as fault:
        mark: Any = getattr(fault, "problem_mark", None)
        line = 1 if mark is None else mark.line + 1
        raise error(f"{name}:{line}: found no YAML that can be read, expected a mapping") from fault
    if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text, Loader=yaml.SafeLoader)):
        raise error(f"{name}:1: found a reference (&name, *name), expected every value where it stands")
    if not isinstance(found, dict):
        raise error(f"{name}:1: found {type(found).__name__}, expected a mapping with {expected}")
    reader = Reader(name=name, lines={})
    for place, line in _lines(node, ""):
        first, reader.lines[place] = reader.lines.get(place), line
        if first is not None:
            reader.fault(place, "the key a second time", f"it once; it stands in line {first} too")
    return reader, named(found)


def _is_plain(text: str) -> bool:
    """Tell whether a text can be written: half a surrogate pair and NUL go into no file, argument or pipe."""
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _shown(found: object) -> str:
    """Return a value as a fault may show it: on one line, and not at length."""
    said = repr(found)
    return said if len(said) <= _SHOWN else f"{said[:_SHOWN]}… ({len(said)} characters)"


def named(found: dict[object, object]) -> dict[str, object]:
    """Return a mapping with its keys as texts."""
    return {str(key): value for key, value in found.items()}


def _lines(node: Any, place: str) -> Iterator[tuple[str, int]]:
    """Yield each field's place and its line, from 1."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            here = f"{place}.{key.value}" if place else str(key.value)
            yield here, key.start_mark.line + 1
            yield from _lines(value, here)
    if isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            here = f"{place}[{index}]"
            yield here, value.start_mark.line + 1
            yield from _lines(value, here)
