"""The only place for what the tables and views of the warehouse mean: it reads the comments of their SQL.

A table stands in a schema file under a comment of its own, a view in a file of its own that begins with one; a column's
meaning stands behind it. The documents and the comments inside the database are both made from what is read here.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Literal

_TABLE = re.compile(
    r"^-- (?P<words>[^\n]*)\ncreate table if not exists (?P<name>\w+) \(\n(?P<body>.*?)\n\);", re.MULTILINE | re.DOTALL
)
_VIEW = re.compile(r"(?P<words>(?:-- [^\n]*\n)+)create or replace view (?P<name>\w+) as\n(?P<body>.*)", re.DOTALL)
_MEANT = re.compile(r"^    (?=\S).*?\b(?P<name>\w+),? -- (?P<meaning>.+)$")
_REPEATED = re.compile(r"^    (?P<table>\w+)\.(?P<name>\w+|\*),?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table or a view.

    Attributes:
        name: Its name.
        kind: Its type and whether it may be null, as the table declares it; empty in a view.
        meaning: Its unit or meaning, and why it may be null.
    """

    name: str
    kind: str
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A table or a view.

    Attributes:
        name: Its name.
        form: Which of the two.
        meaning: What a row of it is.
        columns: Its columns, in order.
    """

    name: str
    form: Literal["table", "view"]
    meaning: str
    columns: tuple[Column, ...]


def sql(name: str) -> str:
    """Return the text of analysis/sql/<name>.sql."""
    return resources.files("analysis").joinpath("sql", f"{name}.sql").read_text(encoding="utf-8")


def relations(schemas: Sequence[str], views: Sequence[str]) -> tuple[Relation, ...]:
    """Return the tables of some schema files and the views of some view files, in order."""
    found = {table.name: table for name in schemas for table in _tables(sql(name))}
    for name in views:
        found[name] = _view(sql(name), found)
    return tuple(found.values())


def comment_statements(found: Sequence[Relation], said: Mapping[str, object]) -> Iterator[str]:
    """Yield the statements that put the meanings into the database.

    Args:
        found: The tables and views.
        said: Comments that the database holds, by `relation` and by `relation.column`; the same are left alone.
    """
    for relation in found:
        if said.get(relation.name) != relation.meaning:
            yield f"comment on {relation.form} {relation.name} is {_quoted(relation.meaning)}"
        for column in relation.columns:
            place = f"{relation.name}.{column.name}"
            if said.get(place) != column.meaning:
                yield f"comment on column {place} is {_quoted(column.meaning)}"


def _tables(text: str) -> Iterator[Relation]:
    for match in _TABLE.finditer(text):
        columns = tuple(_declared(line) for line in match["body"].splitlines())
        yield Relation(name=match["name"], form="table", meaning=match["words"], columns=columns)


def _declared(line: str) -> Column:
    column, _, meaning = line.partition("--")
    name, _, kind = column.strip().partition(" ")
    return Column(name=name, kind=kind.strip().rstrip(","), meaning=meaning.strip())


def _view(text: str, known: Mapping[str, Relation]) -> Relation:
    match = _VIEW.match(text)
    assert match is not None  # our own file
    words = " ".join(line.removeprefix("-- ") for line in match["words"].splitlines())
    columns = tuple(_selected(match["body"].splitlines(), known))
    return Relation(name=match["name"], form="view", meaning=words, columns=columns)


def _selected(lines: Sequence[str], known: Mapping[str, Relation]) -> Iterator[Column]:
    """Yield what a view selects; a table's column, and all of them at once, keep their meaning."""
    for line in lines:
        if meant := _MEANT.match(line):
            yield Column(name=meant["name"], kind="", meaning=meant["meaning"])
        elif (repeated := _REPEATED.match(line)) and repeated["table"] in known:
            for column in known[repeated["table"]].columns:
                if repeated["name"] in {"*", column.name}:
                    yield Column(name=column.name, kind="", meaning=column.meaning)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
