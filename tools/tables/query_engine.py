"""Answer SQL queries over the tables of a folder, each query in its own process."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen
from holdfast.tools.sandbox.bubblewrap_command import Grants, bubblewrap_launch
from holdfast.tools.sandbox.child_process import ProcessOutput, run_child_process
from holdfast.tools.sandbox.own_python import own_program
from holdfast.tools.sandbox.process_slots import ProcessSlots, process_slots
from holdfast.tools.sandbox.sandbox_support import find_sandbox
from holdfast.tools.tables.duckdb_process import OUT_OF_MEMORY, TableQuery
from holdfast.tools.tables.path_secrecy import TableSource
from holdfast.tools.tables.table_folder import TableFile, TableFolder

MAX_ROWS = 1_000
MAX_SQL_CHARS = 20_000
_MAX_BYTES = 4_000_000
_WORD = re.compile(r"\w+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")


class QueryRows(Frozen):
    """The rows of a query, limited in number and size."""

    columns: tuple[str, ...]
    rows: tuple[tuple[JsonValue, ...], ...]
    addresses: tuple[str, ...] = ()
    """The queried files; `inputs:NAME` for rows that came with the query."""
    is_cut: bool = False


class TableColumn(Frozen):
    """A column of a table."""

    name: str
    type: str


class QueryEngine:
    """Runs queries over the tables of a folder, each in a process of its own."""

    def __init__(
        self, folder: TableFolder, *, timeout_s: float = 30, slots: ProcessSlots | None = None
    ) -> None:
        self._folder = folder
        self._timeout_s = timeout_s
        self._slots = slots or process_slots()
        self._columns: dict[tuple[str, int, int], tuple[TableColumn, ...] | str] = {}

    async def columns(self, tables: Sequence[TableFile]) -> list[tuple[TableColumn, ...] | str]:
        """Return the columns of each table, or why it cannot be read.

        Unchanged files are read only once.

        Raises:
            BadInput: reading took too long.
        """
        keys = [_state(table) for table in tables]
        new = [t for t, key in zip(tables, keys, strict=True) if key not in self._columns]
        if new:
            description = await self._asked(
                TableQuery(tables=tuple(_table_source(table) for table in new))
            )
            for table in new:
                self._columns[_state(table)] = _columns(description, table.name)
        return [self._columns[key] for key in keys]

    async def query(self, sql: str, inputs: Mapping[str, JsonValue], limit: int) -> QueryRows:
        """Return the first rows of a query over the folder's tables and the `inputs`.

        Raises:
            BadInput: the SQL is not one query, is wrong, or exceeds a limit.
        """
        if len(sql) > MAX_SQL_CHARS:
            raise BadInput(f"the query has {len(sql)} characters; the most is {MAX_SQL_CHARS}")
        words = {word.lower() for word in _WORD.findall(sql)}
        tables_by_name = await asyncio.to_thread(self._folder.tables)
        input_names = _check_input_names(inputs, tables_by_name)
        named = [table for name, table in tables_by_name.items() if name in words]
        tables = tuple(_table_source(table) for table in named)
        question = TableQuery(tables=tables, sql=sql, inputs=dict(inputs), limit=limit)
        found = await self._asked(question)
        used = (f"inputs:{name}" for name in input_names if name.lower() in words)
        places = (*(table.address for table in named), *used)
        return QueryRows.model_validate(found | {"addresses": places})

    async def _asked(self, question: TableQuery) -> dict[str, Any]:
        """Return the answer of the process; kill it on timeout or cancellation."""
        said = await self._run(question)
        try:
            found: dict[str, Any] = json.loads(said.output)
        except ValueError:
            raise BadInput(OUT_OF_MEMORY) from None  # DuckDB may also end the process
        if "fault" in found:
            raise BadInput(str(found["fault"]))
        return found

    async def _run(self, question: TableQuery) -> ProcessOutput:
        """Run the process; it sees the files of its tables, and is confined where possible."""
        own = own_program("holdfast.tools.tables.duckdb_process")
        support = await find_sandbox()
        grants = Grants(read=(*own.read, *(Path(table.path) for table in question.tables)))
        with bubblewrap_launch(support.bubblewrap, own.command, grants) as launch:
            async with self._slots:
                return await run_child_process(
                    launch,
                    question.model_dump_json().encode(),
                    within_s=self._timeout_s,
                    max_bytes=_MAX_BYTES,
                    late=f"the query ran for {self._timeout_s:g} s and was ended; ask for less",
                )


def _state(table: TableFile) -> tuple[str, int, int]:
    state = table.path.stat()
    return table.address, state.st_mtime_ns, state.st_size


def _table_source(table: TableFile) -> TableSource:
    path, ending = str(table.path), table.path.suffix.lower()
    return TableSource(name=table.name, path=path, address=table.address, ending=ending)


def _columns(found: Mapping[str, Any], name: str) -> tuple[TableColumn, ...] | str:
    if name in found["faults"]:
        return str(found["faults"][name])
    return tuple(TableColumn(name=column, type=kind) for column, kind in found["columns"][name])


def _check_input_names(
    inputs: Mapping[str, JsonValue], known: Mapping[str, TableFile]
) -> list[str]:
    for name in inputs:
        if not _NAME.fullmatch(name):
            raise BadInput(f"inputs[{name[:80]!r}]: a table is named with letters, digits and _")
        if name.lower() in known:
            raise BadInput(f"inputs[{name!r}]: there is a table of that name; take another")
    if len({name.lower() for name in inputs}) < len(inputs):
        raise BadInput("two of the inputs have the same name but for its case")
    return list(inputs)
