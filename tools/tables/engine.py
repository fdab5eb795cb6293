"""Questions in SQL to the tables of a folder, each answered by a process that is then gone."""

import asyncio
import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from models.base import Frozen
from models.errors import BadInput
from tools.processes import spoken_to
from tools.tables.asking import Named, Question
from tools.tables.shelf import Shelf, TableFile

MOST_ROWS = 1_000
LONGEST_SQL = 20_000
_MOST_BYTES = 4_000_000
_WORD = re.compile(r"\w+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")


class Rows(Frozen):
    """What a query gave, at most as much as can be read."""

    columns: tuple[str, ...]
    rows: tuple[tuple[JsonValue, ...], ...]
    addresses: tuple[str, ...] = ()
    """The files it was asked of; `inputs:NAME` for rows that came with it."""
    is_cut: bool = False


class Column(Frozen):
    """A column of a table."""

    name: str
    type: str


class Engine:
    """Asks the tables of a shelf, each question in a process of its own."""

    def __init__(self, shelf: Shelf, *, timeout_s: float = 30) -> None:
        self._shelf = shelf
        self._timeout_s = timeout_s
        self._columns: dict[tuple[str, int, int], tuple[Column, ...] | str] = {}

    async def columns(self, tables: Sequence[TableFile]) -> list[tuple[Column, ...] | str]:
        """The columns of each table, or why it cannot be read.

        Read once as long as a file stays as it is.

        Raises:
            BadInput: it took too long.
        """
        keys = [_state(table) for table in tables]
        new = [t for t, key in zip(tables, keys, strict=True) if key not in self._columns]
        if new:
            found = await self._asked(Question(tables=tuple(_named(table) for table in new)))
            for table in new:
                self._columns[_state(table)] = _columns(found, table.name)
        return [self._columns[key] for key in keys]

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
        tables = tuple(_named(table) for table in named)
        question = Question(tables=tables, sql=sql, inputs=dict(inputs), limit=limit)
        found = await self._asked(question)
        used = (f"inputs:{name}" for name in given if name.lower() in words)
        places = (*(each.address for each in named), *used)
        return Rows.model_validate(found | {"addresses": places})

    async def _asked(self, question: Question) -> dict[str, Any]:
        """What the process found; late or cancelled, it is killed."""
        # Not by its module's name: where ours are found is what this process knows.
        code = (
            f"import sys; sys.path[:] = {sys.path!r}\nfrom tools.tables.asking import main; main()"
        )
        said = await spoken_to(
            [sys.executable, "-P", "-c", code],
            question.model_dump_json().encode(),
            within_s=self._timeout_s,
            most_bytes=_MOST_BYTES,
            late=f"the query ran for {self._timeout_s:g} s and was ended; ask for less",
        )
        try:
            found: dict[str, Any] = json.loads(said.output)
        except ValueError:
            raise BadInput("the query took more memory than it may; ask for less") from None
        if "fault" in found:
            raise BadInput(str(found["fault"]))
        return found


def _state(table: TableFile) -> tuple[str, int, int]:
    state = table.path.stat()
    return table.address, state.st_mtime_ns, state.st_size


def _named(table: TableFile) -> Named:
    path, ending = str(table.path), table.path.suffix.lower()
    return Named(name=table.name, path=path, address=table.address, ending=ending)


def _columns(found: Mapping[str, Any], name: str) -> tuple[Column, ...] | str:
    if name in found["faults"]:
        return str(found["faults"][name])
    return tuple(Column(name=column, type=kind) for column, kind in found["columns"][name])


def _given_names(inputs: Mapping[str, JsonValue], known: Mapping[str, TableFile]) -> list[str]:
    for name in inputs:
        if not _NAME.fullmatch(name):
            raise BadInput(f"inputs[{name[:80]!r}]: a table is named with letters, digits and _")
        if name.lower() in known:
            raise BadInput(f"inputs[{name!r}]: there is a table of that name; take another")
    if len({name.lower() for name in inputs}) < len(inputs):
        raise BadInput("two of the inputs have the same name but for its case")
    return list(inputs)
