"""DuckDB, locked down, in a process of its own: a fresh database for each question.

Reads one `Question` as JSON from standard input, and writes one JSON object: what was found, or
`fault`. A process, because the engine's limit of memory leaves out the texts that its functions
make, and some of these cannot be interrupted.
"""

import json
import resource
import sys
from collections.abc import Sequence

import duckdb
from pydantic import Field, JsonValue

from models.base import Frozen
from models.errors import BadInput
from tools.tables.cells import cell, given_rows

MEMORY_BYTES = 1536 * 2**20
_MOST_CHARS = 200_000
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "memory_limit": "512MB",
    "temp_directory": "",
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
# Nothing of a file is left out in silence, and nothing but UTF-8 is guessed at.
_READERS = {
    ".csv": "read_csv({}, skip=0)",
    ".tsv": "read_csv({}, skip=0, delim='\\t')",
    ".parquet": "read_parquet({})",
}


class Named(Frozen):
    """A file by the name of its table; `address` is what people call it."""

    name: str
    path: str
    address: str
    ending: str


class Question(Frozen):
    """A query over tables and rows; without one, what the columns of the tables are."""

    tables: tuple[Named, ...]
    sql: str | None = None
    inputs: dict[str, JsonValue] = Field(default_factory=dict)
    limit: int = 1


def main() -> None:
    """Answer the question on standard input."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    question = Question.model_validate_json(sys.stdin.buffer.read())
    try:
        found = _described(question) if question.sql is None else _queried(question, question.sql)
    except BadInput as fault:
        found = {"fault": str(fault)}
    except duckdb.Error as fault:
        found = {"fault": _first_lines(str(fault))}
    except MemoryError:
        found = {"fault": "Out of Memory: the query takes more than it may; ask for less"}
    sys.stdout.write(json.dumps(found))


def _described(question: Question) -> dict[str, JsonValue]:
    """The columns by table, and the faults of the others."""
    columns: dict[str, JsonValue] = {}
    faults: dict[str, JsonValue] = {}
    for table in question.tables:
        with duckdb.connect(":memory:", config=_CONFIG) as database:
            if wrong := _open(database, [table]):
                faults[table.name] = wrong[0]
                continue
            found = database.execute(f"describe {table.name}").fetchall()
        columns[table.name] = [[str(each[0]), str(each[1])] for each in found]
    return {"columns": columns, "faults": faults}


def _queried(question: Question, sql: str) -> dict[str, JsonValue]:
    with duckdb.connect(":memory:", config=_CONFIG) as database:
        for name, rows in question.inputs.items():
            _take(database, name, rows)
        faults = _open(database, question.tables)
        try:
            return _fetched(database, _one_query(database, sql), question.limit)
        except duckdb.Error as fault:
            raise BadInput("; ".join([_first_lines(str(fault)), *faults])) from fault


def _open(database: duckdb.DuckDBPyConnection, tables: Sequence[Named]) -> list[str]:
    """Views of these files; after that nothing else can be reached, and no setting changed.

    Gives the faults of files that cannot be read: a query may only seem to name them.
    """
    faults: list[str] = []
    for table in tables:
        reader = _READERS[table.ending].format(_text(table.path))
        try:
            database.execute(f"create view {table.name} as select * from {reader}")  # noqa: S608 - our own names
        except duckdb.Error as fault:
            why = _first_lines(str(fault)).replace(table.path, table.address)
            faults.append(f"{table.address!r} cannot be read as a table: {why}")
    paths = ", ".join(_text(table.path) for table in tables)
    database.execute(f"set allowed_paths = [{paths}]")
    database.execute("set enable_external_access = false")
    database.execute("set lock_configuration = true")
    return faults


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _take(database: duckdb.DuckDBPyConnection, name: str, rows: JsonValue) -> None:
    values, types = given_rows(name, rows)
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
    return statement


def _fetched(
    database: duckdb.DuckDBPyConnection, statement: duckdb.Statement, limit: int
) -> dict[str, JsonValue]:
    found = database.execute(statement)
    described = found.description or []
    rows: list[JsonValue] = []
    left = _MOST_CHARS
    for row in iter(found.fetchone, None):
        cells: list[JsonValue] = [cell(each) for each in row]
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


def _first_lines(text: str) -> str:
    """The engine's message without its pages of advice."""
    lines = [line for line in text.splitlines() if line.strip()]
    return " ".join(lines[:4])[:500]
