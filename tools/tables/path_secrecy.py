"""Keep the paths of table files from queries: file descriptors for paths, and no settings."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import duckdb

from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen

_PATH_SETTINGS = frozenset({"allowed_paths", "allowed_directories", "secret_directory"})
_REFUSED = _PATH_SETTINGS | {
    "current_setting",
    "duckdb_settings",
    "pg_settings",
    # These run a text as SQL, which nobody has checked.
    "query",
    "query_table",
    "json_execute_serialized_sql",
}
_NAMES = ("function_name", "table_name")


class TableSource(Frozen):
    """The file of a table; `address` is the file's name for people."""

    name: str
    path: str
    address: str
    ending: str


@contextmanager
def open_sources(tables: Sequence[TableSource]) -> Iterator[dict[str, str]]:
    """Yield by table name the address of an open file descriptor, which tells no path.

    A file that cannot be opened keeps its path, so that DuckDB says why.
    """
    descriptors: dict[str, int] = {}
    try:
        for table in tables:
            try:
                descriptors[table.name] = os.open(table.path, os.O_RDONLY)
            except OSError:
                continue
        yield {
            table.name: f"/dev/fd/{descriptors[table.name]}"
            if table.name in descriptors
            else table.path
            for table in tables
        }
    finally:
        for descriptor in descriptors.values():
            os.close(descriptor)


def refuse_settings(database: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Refuse a query that reads settings: the files that queries may open are one of them.

    Raises:
        BadInput: the query reads settings, or runs a text as SQL.
    """
    written = database.execute("select json_serialize_sql(?::varchar)", [sql]).fetchall()[0][0]
    for name in _names(json.loads(written)):
        if name in _REFUSED:
            raise BadInput(f"{name!r} is not answered: queries read tables and no settings")


def _names(tree: object) -> Iterator[str]:
    """Return the names of all functions and tables in a parsed query, in small letters."""
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        children: Iterable[object] = ()
        if isinstance(part, dict):
            yield from (str(part[key]).lower() for key in _NAMES if part.get(key))
            children = part.values()
        elif isinstance(part, list):
            children = part
        waiting.extend(children)
