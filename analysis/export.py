"""The only place that makes a fresh database of public tables out of a warehouse.

The working file keeps deleted rows and the paths of host files in its blocks, so it never leaves. Public rows are read
out of it and written into a new file, uncompressed, so that a scan of its bytes sees every value.
"""

from collections.abc import Mapping
from pathlib import Path

import duckdb

from analysis.relations import sql
from analysis.warehouse import WarehouseError, connect, fetch, open_read_only

TABLES = ("studies", "trials", "findings")
DATABASE = "public.duckdb"
Rows = Mapping[str, list[dict[str, object]]]


def public_rows(warehouse: Path, study: str) -> Rows:
    """Return the public rows of one study, in a fixed order, by table.

    Raises:
        WarehouseError: When the file is no warehouse or does not hold the study.
    """
    with open_read_only(warehouse) as connection:
        rows = {table: fetch(connection, sql(f"public_{table}"), {"study": study}) for table in TABLES}
    if not rows["studies"]:
        raise WarehouseError(f"{warehouse}: holds no study {study!r}; evenhand db lists those it holds")
    return rows


def write_fresh(rows: Rows, folder: Path) -> None:
    """Write `public.duckdb` and one `tables/<name>.parquet` a table into an empty folder.

    Args:
        rows: As `public_rows` returns them.
        folder: Exists and is empty.
    """
    (folder / "tables").mkdir()
    connection = connect(str(folder / DATABASE))
    try:
        connection.execute("set force_compression = 'uncompressed'")
        connection.execute(sql("public_schema"))
        for table in TABLES:
            _fill(connection, table, rows[table])
            target = folder / "tables" / f"{table}.parquet"
            connection.execute(
                f"copy (from {table}) to $target (format parquet, compression uncompressed)",  # table is ours
                {"target": str(target)},
            )
        connection.execute("checkpoint")
    finally:
        connection.close()
    # Only a closed database has no log beside it.
    (folder / f"{DATABASE}.wal").unlink(missing_ok=True)


def read_public(database: Path) -> Rows:
    """Return every row of a public database; it must hold the public tables and nothing else.

    Raises:
        WarehouseError: For another table, a view, another column, or blocks that are free: they keep what was deleted.
    """
    with open_read_only(database) as connection:
        listed = fetch(connection, "select table_name, table_type from information_schema.tables order by table_name")
        if [(row["table_name"], row["table_type"]) for row in listed] != [(t, "BASE TABLE") for t in sorted(TABLES)]:
            raise WarehouseError(f"{database.name}: holds something else than the public tables")
        if fetch(connection, "pragma database_size")[0]["free_blocks"] != 0:
            raise WarehouseError(f"{database.name}: has free blocks, which keep what was deleted")
        return {table: fetch(connection, f"from {table}") for table in TABLES}  # table is ours


def read_parquet(path: Path) -> list[dict[str, object]]:
    """Return every row of a Parquet file.

    Raises:
        WarehouseError: When it is none.
    """
    connection = connect(":memory:")
    try:
        return fetch(connection, "from read_parquet($path)", {"path": str(path)})
    finally:
        connection.close()


def _fill(connection: "duckdb.DuckDBPyConnection", table: str, rows: list[dict[str, object]]) -> None:
    if rows:
        appender = connection.appender(table)
        appender.append_rows([tuple(row.values()) for row in rows])
        appender.flush()
