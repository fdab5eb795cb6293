"""DuckDB, locked down: a fresh database for each query, with views of the files it names."""

import asyncio
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import duckdb
from pydantic import JsonValue

from models.base import Frozen
from models.errors import BadInput
from tools.tables.cells import cell, given_rows
from tools.tables.shelf import Shelf, TableFile

T = TypeVar("T")

MOST_ROWS = 1_000
LONGEST_SQL = 20_000
_MOST_CHARS = 200_000
_WORD = re.compile(r"\w+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
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


class Rows(Frozen):
    """What a query gave, at most as much as can be read."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[tuple[JsonValue, ...], ...]
    addresses: tuple[str, ...] = ()
    """The files it was asked of; `inputs:NAME` for rows that came with it."""
    is_cut: bool = False


class Column(Frozen):
    """A column of a table."""

    name: str
    type: str


class Engine:
    """Asks the tables of a shelf, each time on a connection of its own."""

    def __init__(self, shelf: Shelf, *, timeout_s: float = 30) -> None:
        self._shelf = shelf
        self._timeout_s = timeout_s
        self._columns: dict[tuple[str, int, int], tuple[Column, ...]] = {}

    async def columns(self, table: TableFile) -> tuple[Column, ...]:
        """The table's columns; read once as long as the file stays as it is.

        Raises:
            BadInput: the file cannot be read; names it.
        """

        def ask(database: duckdb.DuckDBPyConnection) -> tuple[Column, ...]:
            if faults := _open(database, [table]):
                raise BadInput(faults[0])
            found = database.execute(f"describe {table.name}").fetchall()
            return tuple(Column(name=str(each[0]), type=str(each[1])) for each in found)

        state = table.path.stat()
        key = (table.address, state.st_mtime_ns, state.st_size)
        if key not in self._columns:
            self._columns[key] = await self._asked(ask)
        return self._columns[key]

    async def query(self, sql: str, inputs: Mapping[str, JsonValue], limit: int) -> Rows:
        """The first rows of a query over the shelf's tables and those given with it.

        Raises:
            BadInput: it is not one query, it is wrong, or it takes too much.
        """
        if len(sql) > LONGEST_SQL:
            raise BadInput(f"the query has {len(sql)} characters; the most is {LONGEST_SQL}")
        words = {each.lower() for each in _WORD.findall(sql)}
        known = await asyncio.to_thread(self._shelf.tables)
        given = _given_names(inputs, known)
        named = [table for name, table in known.items() if name in words]

        def ask(database: duckdb.DuckDBPyConnection) -> Rows:
            for name in given:
                _take(database, name, inputs[name])
            faults = _open(database, named)
            try:
                found = _fetched(database, _one_query(database, sql), limit)
            except duckdb.Error as fault:
                raise BadInput("; ".join([_first_lines(str(fault)), *faults])) from fault
            used = [name for name in given if name.lower() in words]
            places = (*(each.address for each in named), *(f"inputs:{name}" for name in used))
            return found.model_copy(update={"addresses": places})

        return await self._asked(ask)

    async def _asked(self, ask: Callable[[duckdb.DuckDBPyConnection], T]) -> T:
        """What the function gives, in a thread; late or cancelled, the engine is interrupted."""
        database = duckdb.connect(":memory:", config=_CONFIG)
        is_over = threading.Event()
        work = asyncio.ensure_future(asyncio.to_thread(_guarded, ask, database))
        try:
            async with asyncio.timeout(self._timeout_s):
                return await asyncio.shield(work)
        except TimeoutError:
            raise BadInput(
                f"the query ran for {self._timeout_s:g} s and was ended; ask for less"
            ) from None
        finally:
            if not work.done():
                _interrupt_until(is_over, database)
                work.add_done_callback(lambda done: done.cancelled() or done.exception())
                work.add_done_callback(lambda _: is_over.set())


def _guarded(
    ask: Callable[[duckdb.DuckDBPyConnection], T], database: duckdb.DuckDBPyConnection
) -> T:
    try:
        return ask(database)
    except duckdb.Error as fault:
        raise BadInput(_first_lines(str(fault))) from fault
    finally:
        database.close()


def _interrupt_until(is_over: threading.Event, database: duckdb.DuckDBPyConnection) -> None:
    """Between two statements there is nothing to interrupt, so it is tried until one ends."""

    def again() -> None:
        while not is_over.is_set():
            try:
                database.interrupt()
            except duckdb.Error:
                return  # it is closed
            is_over.wait(0.05)

    threading.Thread(target=again, daemon=True).start()


def _open(database: duckdb.DuckDBPyConnection, tables: Sequence[TableFile]) -> list[str]:
    """Views of these files; after that nothing else can be reached, and no setting changed.

    Gives the faults of files that cannot be read: a query may only seem to name them.
    """
    faults: list[str] = []
    for table in tables:
        reader = _READERS[table.path.suffix.lower()].format(_text(str(table.path)))
        try:
            database.execute(f"create view {table.name} as select * from {reader}")  # noqa: S608 - our own names
        except duckdb.Error as fault:
            why = _first_lines(str(fault)).replace(str(table.path), table.address)
            faults.append(f"{table.address!r} cannot be read as a table: {why}")
    paths = ", ".join(_text(str(table.path)) for table in tables)
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


def _given_names(inputs: Mapping[str, JsonValue], known: Mapping[str, TableFile]) -> list[str]:
    for name in inputs:
        if not _NAME.fullmatch(name):
            raise BadInput(f"inputs[{name[:80]!r}]: a table is named with letters, digits and _")
        if name.lower() in known:
            raise BadInput(f"inputs[{name!r}]: there is a table of that name; take another")
    if len({name.lower() for name in inputs}) < len(inputs):
        raise BadInput("two of the inputs have the same name but for its case")
    return list(inputs)


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


def _fetched(database: duckdb.DuckDBPyConnection, statement: duckdb.Statement, limit: int) -> Rows:
    found = database.execute(statement)
    described = found.description or []
    rows: list[tuple[JsonValue, ...]] = []
    left = _MOST_CHARS
    for row in iter(found.fetchone, None):
        cells = tuple(cell(each) for each in row)
        left -= sum(len(str(each)) for each in cells)
        if len(rows) == limit or left < 0:
            return _rows(described, rows, is_cut=True)
        rows.append(cells)
    return _rows(described, rows, is_cut=False)


def _rows(
    described: Sequence[tuple[object, ...]], rows: Sequence[tuple[JsonValue, ...]], *, is_cut: bool
) -> Rows:
    names: list[str] = []
    for each in described:
        name, number = str(each[0]), 2
        while name in names:
            name, number = f"{each[0]}_{number}", number + 1
        names.append(name)
    types = tuple(str(each[1]) for each in described)
    return Rows(columns=tuple(names), types=types, rows=tuple(rows), is_cut=is_cut)


def _first_lines(text: str) -> str:
    """The engine's message without its pages of advice."""
    lines = [line for line in text.splitlines() if line.strip()]
    return " ".join(lines[:4])[:500]
