"""What the tables and views mean stands in the database itself, in the words that the documents are made of."""

from pathlib import Path

import pytest

from analysis.relations import Relation, relations
from analysis.warehouse import SCHEMAS, VIEWS, connect, fetch, open_read_only
from evenhand.cli import run
from evenhand.exits import Exit
from tests.turn_lines import recorded, write_lines

ROOT = Path(__file__).resolve().parents[1]
KNOWN = relations(SCHEMAS, VIEWS)
COLUMNS = """
    select table_name as relation, column_name as name, comment
    from duckdb_columns() where not internal order by table_name, column_index
"""
RELATIONS = """
    select table_name as name, 'table' as form, comment from duckdb_tables() where not internal
    union all
    select view_name, 'view', comment from duckdb_views() where not internal
"""


def loaded(folder: Path, db: Path) -> Path:
    write_lines(folder / "turns.jsonl", recorded())
    assert run(["load", str(folder), "--study", "s", "--db", str(db)]) == Exit.DONE
    return db


def said(db: Path) -> tuple[dict[str, tuple[object, object]], dict[str, list[tuple[object, object]]]]:
    """Return what the database says of its relations, and of the columns of each."""
    columns: dict[str, list[tuple[object, object]]] = {}
    with open_read_only(db) as connection:
        for row in fetch(connection, COLUMNS):
            columns.setdefault(str(row["relation"]), []).append((row["name"], row["comment"]))
        forms = {str(row["name"]): (row["form"], row["comment"]) for row in fetch(connection, RELATIONS)}
    return forms, columns


def expected() -> tuple[dict[str, tuple[object, object]], dict[str, list[tuple[object, object]]]]:
    return (
        {found.name: (found.form, found.meaning) for found in KNOWN},
        {found.name: [(column.name, column.meaning) for column in found.columns] for found in KNOWN},
    )


def test_every_table_view_and_column_of_a_warehouse_says_what_it_means(tmp_path: Path) -> None:
    assert said(loaded(tmp_path / "run", tmp_path / "w.duckdb")) == expected()


def test_a_warehouse_of_before_is_told_by_the_next_load(tmp_path: Path) -> None:
    db = loaded(tmp_path / "run", tmp_path / "w.duckdb")
    connection = connect(str(db))
    connection.execute("comment on table turns is null")
    connection.execute("comment on column turns.duration_ms is 'seconds'")
    connection.close()
    assert said(db) != expected()
    assert said(loaded(tmp_path / "run", db)) == expected()


@pytest.mark.parametrize("relation", KNOWN, ids=[relation.name for relation in KNOWN])
def test_no_meaning_is_empty_and_a_column_that_may_be_null_says_why(relation: Relation) -> None:
    assert relation.meaning
    assert relation.columns
    for column in relation.columns:
        assert column.meaning, column.name
        if relation.form == "table" and "not null" not in column.kind:
            assert "null" in column.meaning, column.name


def test_the_document_holds_every_relation() -> None:
    text = (ROOT / "docs" / "schema.md").read_text(encoding="utf-8")
    for relation in KNOWN:
        assert f"### {relation.name}\n" in text
        for column in relation.columns:
            assert column.meaning in text
