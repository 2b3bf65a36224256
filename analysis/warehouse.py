"""The only place that opens DuckDB: one file per warehouse, SQL from analysis/sql, written beside and renamed.

One open writer blocks every other process, so a load never writes the file that readers have open: it copies it,
changes the copy and renames. Findings measured in DuckDB 2.0: default files cannot be read by 1.x clients, extensions
are fetched unless told otherwise, and floating sums need an order to repeat.
"""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.audit import AuditedTrial, AuditedTrials
from analysis.endings import counts_as, ending
from analysis.evidence.timed_run import TimedTrial
from analysis.relations import comment_statements, relations, sql
from analysis.timed_rows import TIMED_TABLES, timed_rows

if TYPE_CHECKING:
    import duckdb

Row = tuple[object, ...]
_STORAGE = "v1.4.0"
_TABLES = ("studies", "jobs", "trials", "trial_conditions", "findings", *TIMED_TABLES)
SCHEMAS = ("schema", "timing_schema", "turn_schema")
_DIMENSIONS = (
    "task_success",
    "cost_efficiency",
    "latency",
    "context_efficiency",
    "tool_reliability",
    "orchestration",
    "recovery",
    "safety",
    "maintainability",
)
DIMENSION_VIEWS = tuple(f"dimension_{name}" for name in _DIMENSIONS)
_TURN_VIEWS = ("turn_trials", "arm_turns", "arm_trials", *DIMENSION_VIEWS, "public_turns", "public_tool_calls")
VIEWS = ("trial_counts", "trial_cost", *_TURN_VIEWS)


class WarehouseError(Exception):
    """The warehouse file is missing, is not a DuckDB file, or cannot be read or written."""


class StatementError(WarehouseError):
    """The warehouse is well, and the statement asked for is not one that it runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Warehouse:
    """An open warehouse.

    Attributes:
        connection: DuckDB connection; a statement is always fetched whole.
        study: Name of the study that comparisons speak of.
    """

    connection: "duckdb.DuckDBPyConnection"
    study: str

    def rows(self, name: str, **parameters: object) -> list[dict[str, object]]:
        """Return all rows of the query analysis/sql/<name>.sql as dictionaries, parameters bound by name."""
        return fetch(self.connection, sql(name), {"study": self.study, **parameters})


def fetch(
    connection: "duckdb.DuckDBPyConnection", statement: str, parameters: dict[str, object] | None = None
) -> list[dict[str, object]]:
    """Run one statement and return every row as a dictionary.

    Raises:
        StatementError: When the statement is at fault: its syntax, a name, a value, or what a reader may not do.
        WarehouseError: When the file is. Either message is DuckDB's first line.
    """
    import duckdb

    try:
        cursor = connection.execute(statement, parameters) if parameters else connection.execute(statement)
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    except (duckdb.IOException, duckdb.FatalException, duckdb.InternalException) as fault:
        raise WarehouseError(str(fault).splitlines()[0]) from fault
    except duckdb.Error as fault:
        raise StatementError(str(fault).splitlines()[0]) from fault


def open_in_memory(audited: AuditedTrials, *, study: str, policy: Mapping[str, str]) -> Warehouse:
    """Return a warehouse that lives as long as the process, filled with one study."""
    connection = connect(":memory:")
    _prepare(connection)
    _replace_study(connection, audited, study=study, policy=policy)
    _lock(connection)
    return Warehouse(connection=connection, study=study)


@contextmanager
def open_read_only(path: Path) -> Iterator["duckdb.DuckDBPyConnection"]:
    """Open a warehouse file for queries: no writing, no files, no attaching, no way to unlock it.

    Raises:
        WarehouseError: When the file is missing or is not a warehouse.
    """
    if not path.is_file():
        raise WarehouseError(f"{path}: no warehouse there; make one with: evenhand load PATH... --db {path}")
    connection = connect(str(path), read_only=True)
    try:
        _lock(connection)
        yield connection
    finally:
        connection.close()


def connect(target: str, *, read_only: bool = False) -> "duckdb.DuckDBPyConnection":
    """Return a connection that fetches nothing and writes files which older clients can read.

    Args:
        target: A file, made when it does not exist, or `:memory:`.
        read_only: Refuse every change.

    Raises:
        WarehouseError: When the file is no DuckDB file.
    """
    import duckdb

    config: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "threads": "2",
    }
    if not read_only:
        config["storage_compatibility_version"] = _STORAGE
    try:
        return duckdb.connect(target, read_only=read_only, config=config)
    except duckdb.Error as fault:
        raise WarehouseError(f"{target}: not a DuckDB warehouse that can be opened ({type(fault).__name__})") from fault


def load(
    audited: AuditedTrials,
    *,
    study: str,
    path: Path,
    policy: Mapping[str, str],
    then: "Callable[[duckdb.DuckDBPyConnection], None] | None" = None,
) -> int:
    """Put one study into the warehouse file, replacing an older load of the same study; return its trials.

    The file is written beside and renamed: a reader keeps what it had open, a crash leaves the old state.

    Args:
        audited: The trials.
        study: Name of the study.
        path: The warehouse file.
        policy: The plan's missing-data policy.
        then: Adds what belongs to the same load, such as turns, before the file is renamed.

    Raises:
        WarehouseError: When the existing file is not a warehouse, or another load changed it meanwhile.
    """
    previous_mask = os.umask(0o077)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
        try:
            before = _state(path)
            if before is not None:
                shutil.copyfile(path, partial)
            connection = connect(str(partial))
            try:
                _prepare(connection)
                _explain(connection)
                _replace_study(connection, audited, study=study, policy=policy)
                if then is not None:
                    then(connection)
                connection.execute("checkpoint")
            finally:
                connection.close()
            partial.chmod(0o600)
            if _state(path) != before:
                raise WarehouseError(f"{path}: another load changed it meanwhile, and nothing was written; load again")
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
            partial.with_name(partial.name + ".wal").unlink(missing_ok=True)
    finally:
        os.umask(previous_mask)
    return len(audited.trials)


def _state(path: Path) -> tuple[int, int, int] | None:
    """Return what changes when a file is replaced or written; None when there is none."""
    try:
        facts = path.stat()
    except FileNotFoundError:
        return None
    return facts.st_ino, facts.st_mtime_ns, facts.st_size


def _prepare(connection: "duckdb.DuckDBPyConnection") -> None:
    import duckdb

    # One transaction: a third of the time that a statement after the other takes.
    connection.execute("begin transaction")
    for schema in SCHEMAS:
        connection.execute(sql(schema))
    try:
        for view in VIEWS:
            connection.execute(sql(view))
        connection.execute("select requests, requests_failed, tool_calls from trials limit 0").fetchall()
        connection.execute("commit")
    except duckdb.Error as fault:
        raise WarehouseError(
            "the warehouse was made by another version of evenhand: remove the file and load again"
        ) from fault


def _explain(connection: "duckdb.DuckDBPyConnection") -> None:
    """Say in the database itself what every table, view and column means; a view made anew has lost its comments."""
    said = {str(row["place"]): row["comment"] for row in fetch(connection, sql("comments"))}
    connection.execute("begin transaction")
    for statement in comment_statements(relations(SCHEMAS, VIEWS), said):
        connection.execute(statement)
    connection.execute("commit")


def _lock(connection: "duckdb.DuckDBPyConnection") -> None:
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")


def _replace_study(
    connection: "duckdb.DuckDBPyConnection", audited: AuditedTrials, *, study: str, policy: Mapping[str, str]
) -> None:
    connection.execute("begin transaction")
    for table in _TABLES:
        connection.execute(f"delete from {table} where study = $study", {"study": study})  # noqa: S608  # names are ours
    _append(connection, "studies", [_study_row(audited, study)])
    _append(connection, "jobs", [(study, *astuple(job)) for job in audited.jobs])
    _append(connection, "trials", [_trial_row(item, study=study, policy=policy) for item in audited.trials])
    _append(connection, "trial_conditions", [row for item in audited.trials for row in _condition_rows(item, study)])
    findings = [(study, item.code, item.where, item.arm, item.task, item.detail) for item in audited.findings]
    _append(connection, "findings", findings)
    _append_timed(connection, audited.timed, study)
    connection.execute("commit")


def _append(connection: "duckdb.DuckDBPyConnection", table: str, rows: Sequence[Row]) -> None:
    if rows:
        appender = connection.appender(table)
        appender.append_rows(rows)
        appender.flush()


def _append_timed(connection: "duckdb.DuckDBPyConnection", timed: Sequence[TimedTrial], study: str) -> None:
    rows: dict[str, list[Row]] = {table: [] for table in TIMED_TABLES}
    columns = {table: [str(row["column_name"]) for row in fetch(connection, f"describe {table}")] for table in rows}
    for table, values in timed_rows(timed, study):
        rows[table].append(tuple(values[column] for column in columns[table]))
    for table, found in rows.items():
        _append(connection, table, found)


def _study_row(audited: AuditedTrials, study: str) -> Row:
    simulated = any(item.trial.simulated for item in audited.trials)
    return (study, audited.evidence_digest, audited.manifest_digest, simulated, len(audited.trials))


def _trial_row(item: AuditedTrial, *, study: str, policy: Mapping[str, str]) -> Row:
    trial, clock, usage = item.trial, item.trial.clock, item.trial.usage
    contaminated = bool(item.signals)
    return (
        study,
        trial.trial_id,
        trial.where,
        trial.job,
        trial.format.value,
        item.arm,
        item.task,
        item.task_digest,
        item.attempt,
        trial.arm.agent,
        trial.agent_version,
        trial.arm.model,
        trial.provider,
        trial.outcome.value,
        ending(trial, contaminated=contaminated).value,
        counts_as(trial, policy, contaminated=contaminated).value,
        trial.reward,
        trial.exception_type,
        _utc(clock.started_at),
        _utc(clock.finished_at),
        clock.wall_ms,
        clock.setup_ms,
        clock.agent_ms,
        clock.verifier_ms,
        usage.input_tokens,
        usage.cache_tokens,
        usage.output_tokens,
        usage.cost_usd,
        usage.cost_method,
        usage.requests,
        usage.requests_failed,
        usage.tool_calls,
        trial.simulated,
        trial.sha256,
    )


def _condition_rows(item: AuditedTrial, study: str) -> list[Row]:
    return [(study, item.trial.trial_id, factor, value) for factor, value in item.trial.conditions]


def _utc(instant: datetime | None) -> datetime | None:
    return None if instant is None else instant.astimezone(UTC).replace(tzinfo=None)
