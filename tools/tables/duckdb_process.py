"""Run the child process that answers one query with a locked-down DuckDB.

It reads one query as JSON from standard input, and writes one JSON object: the answer or a
`fault`. It is a process, because DuckDB's memory limit does not cover the texts that its functions
build, and some functions cannot be interrupted.
"""

import json
import resource
import sys
from collections.abc import Mapping, Sequence

import duckdb
from pydantic import Field, JsonValue

from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen
from holdfast.tools.tables.cell_values import cell_as_json, input_rows_as_json
from holdfast.tools.tables.path_secrecy import TableSource, open_sources, refuse_settings

MEMORY_BYTES = 1536 * 2**20
OUT_OF_MEMORY = "Out of Memory: the query takes more than it may; ask for less"
_MAX_CHARS = 200_000
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "memory_limit": "512MB",
    "temp_directory": "",
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
# Reading fails on a bad row instead of skipping it, and assumes only UTF-8.
_READERS = {
    ".csv": "read_csv({}, skip=0)",
    ".tsv": "read_csv({}, skip=0, delim='\\t')",
    ".parquet": "read_parquet({})",
}


class TableQuery(Frozen):
    """A query over tables and rows; without SQL, the columns of the tables are listed."""

    tables: tuple[TableSource, ...]
    sql: str | None = None
    inputs: dict[str, JsonValue] = Field(default_factory=dict)
    limit: int = 1


def main() -> None:
    """Answer the query on standard input."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    question = TableQuery.model_validate_json(sys.stdin.buffer.read())
    try:
        answer = (
            _describe_tables(question)
            if question.sql is None
            else _run_query(question, question.sql)
        )
    except BadInput as fault:
        answer = {"fault": str(fault)}
    except duckdb.Error as fault:
        answer = {"fault": _first_lines(str(fault))}
    except MemoryError:
        answer = {"fault": OUT_OF_MEMORY}
    sys.stdout.write(json.dumps(answer))


def _describe_tables(question: TableQuery) -> dict[str, JsonValue]:
    """Return the columns by table, and the faults of unreadable tables."""
    columns: dict[str, JsonValue] = {}
    faults: dict[str, JsonValue] = {}
    for table in question.tables:
        with (
            open_sources([table]) as paths,
            duckdb.connect(":memory:", config=_CONFIG) as database,
        ):
            if wrong := _open(database, [table], paths):
                faults[table.name] = wrong[0]
                continue
            described = database.execute(f"describe {table.name}").fetchall()
        columns[table.name] = [[str(column[0]), str(column[1])] for column in described]
    return {"columns": columns, "faults": faults}


def _run_query(question: TableQuery, sql: str) -> dict[str, JsonValue]:
    with (
        open_sources(question.tables) as paths,
        duckdb.connect(":memory:", config=_CONFIG) as database,
    ):
        for name, rows in question.inputs.items():
            _create_input_table(database, name, rows)
        faults = _open(database, question.tables, paths)
        try:
            return _fetched(database, _one_query(database, sql), question.limit)
        except duckdb.Error as fault:
            why = _fault_text(fault, question.tables, paths)
            raise BadInput("; ".join([why, *faults])) from fault


def _open(
    database: duckdb.DuckDBPyConnection, tables: Sequence[TableSource], paths: Mapping[str, str]
) -> list[str]:
    """Create views of these files, then lock file access and settings.

    Return the faults of unreadable files as data: the query may not need these files.
    """
    faults: list[str] = []
    for table in tables:
        reader = _READERS[table.ending].format(_text(paths[table.name]))
        try:
            database.execute(f"create view {table.name} as select * from {reader}")  # noqa: S608 - our own names
        except duckdb.Error as fault:
            why = _fault_text(fault, [table], paths)
            faults.append(f"{table.address!r} cannot be read as a table: {why}")
    allowed = ", ".join(map(_text, paths.values()))
    database.execute(f"set allowed_paths = [{allowed}]")
    database.execute("set enable_external_access = false")
    database.execute("set lock_configuration = true")
    return faults


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _create_input_table(database: duckdb.DuckDBPyConnection, name: str, rows: JsonValue) -> None:
    values, types = input_rows_as_json(name, rows)
    database.execute(
        f'create temp table "{name}" as '  # noqa: S608 - a checked name
        "select one.* from (select unnest(from_json(?::json, ?)) as one)",
        [values, types],
    )


def _one_query(database: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement:
    statements = database.extract_statements(sql)
    if len(statements) != 1:
        raise BadInput(f"give one query; these are {len(statements)} statements")
    (statement,) = statements
    if statement.type is not duckdb.StatementType.SELECT:
        raise BadInput(
            f"only queries are answered (SELECT, WITH, FROM, VALUES, DESCRIBE, SUMMARIZE); this is "
            f"{statement.type.name}"
        )
    refuse_settings(database, sql)
    return statement


def _fetched(
    database: duckdb.DuckDBPyConnection, statement: duckdb.Statement, limit: int
) -> dict[str, JsonValue]:
    found = database.execute(statement)
    described = found.description or []
    rows: list[JsonValue] = []
    left = _MAX_CHARS
    for row in iter(found.fetchone, None):
        cells: list[JsonValue] = [cell_as_json(each) for each in row]
        left -= sum(len(str(each)) for each in cells)
        if len(rows) == limit or left < 0:
            return _rows(described, rows, is_cut=True)
        rows.append(cells)
    return _rows(described, rows, is_cut=False)


def _rows(
    described: Sequence[tuple[object, ...]], rows: list[JsonValue], *, is_cut: bool
) -> dict[str, JsonValue]:
    names: list[JsonValue] = []
    for each in described:
        name, number = str(each[0]), 2
        while name in names:
            name, number = f"{each[0]}_{number}", number + 1
        names.append(name)
    return {"columns": names, "rows": rows, "is_cut": is_cut}


def _fault_text(
    fault: duckdb.Error, tables: Sequence[TableSource], paths: Mapping[str, str]
) -> str:
    """Return the beginning of DuckDB's message, with the addresses of files for their paths."""
    text = str(fault)
    # The longest first: `/dev/fd/12` begins with `/dev/fd/1`.
    for table in sorted(tables, key=lambda table: len(paths[table.name]), reverse=True):
        text = text.replace(table.path, table.address).replace(paths[table.name], table.address)
    return _first_lines(text)


def _first_lines(text: str) -> str:
    """Return the first lines of DuckDB's message, without its long advice."""
    lines = [line for line in text.splitlines() if line.strip()]
    return " ".join(lines[:4])[:500]
