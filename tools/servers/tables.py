"""The built-in MCP server `tables`: SQL over the files of a folder, read-only."""

import json
from collections.abc import Awaitable
from typing import Annotated

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field, JsonValue

from models.errors import BadInput
from tools.tables.engine import MOST_ROWS, Engine
from tools.tables.reading import answer_of
from tools.tables.shelf import Shelf

_SAFE = ToolAnnotations(
    read_only_hint=True, idempotent_hint=True, destructive_hint=False, open_world_hint=False
)
_MOST_NAMED = 40
_FIRST_ROWS = 3

Table = Annotated[str, Field(description="A table's name, as `list` gives it.")]
Sql = Annotated[str, Field(description="One SELECT in DuckDB's SQL.")]
Inputs = Annotated[
    dict[str, JsonValue],
    Field(description='More tables, as rows: {"found": [{"year": 2020, "v": 1.5}]}.'),
]
Limit = Annotated[int, Field(description="How many rows at most.", ge=1, le=MOST_ROWS)]


def tables_server(shelf: Shelf, *, timeout_s: float = 30) -> MCPServer:
    """An MCP server over the tables of a folder."""
    server = MCPServer("tables")
    engine = Engine(shelf, timeout_s=timeout_s)

    @server.tool(name="list", annotations=_SAFE, structured_output=False)
    async def list_tables() -> CallToolResult:
        """Lists the tables there are, with their columns."""
        return await _answered(_listed(shelf, engine))

    @server.tool(annotations=_SAFE, structured_output=False)
    async def describe(table: Table) -> CallToolResult:
        """Gives a table's columns with their types, how many rows it has, and the first of them."""
        return await _answered(_described(shelf, engine, table))

    @server.tool(annotations=_SAFE, structured_output=False)
    async def query(sql: Sql, inputs: Inputs | None = None, limit: Limit = 200) -> CallToolResult:
        """Answers one SQL query (DuckDB) over the tables, and over rows given as `inputs`."""
        return await _answered(_queried(engine, sql, inputs or {}, limit))

    return server


async def _listed(shelf: Shelf, engine: Engine) -> dict[str, JsonValue]:
    there = list(shelf.tables().values())
    tables: list[JsonValue] = []
    faults: list[JsonValue] = list(shelf.faults())
    for table, columns in zip(there, await engine.columns(there), strict=True):
        if isinstance(columns, str):
            faults.append(columns)
            continue
        names: list[JsonValue] = [f"{each.name} {each.type}" for each in columns[:_MOST_NAMED]]
        tables.append({"table": table.name, "file": table.address, "columns": names})
    return {"tables": tables, "left_out": faults}


async def _described(shelf: Shelf, engine: Engine, name: str) -> dict[str, JsonValue]:
    table = shelf.table(name)
    (columns,) = await engine.columns([table])
    if isinstance(columns, str):
        raise BadInput(columns)
    counted = await engine.query(f"select count(*) from {table.name}", {}, 1)  # noqa: S608 - our name
    first = await engine.query(f"select * from {table.name}", {}, _FIRST_ROWS)  # noqa: S608 - as above
    named: list[JsonValue] = [{"name": each.name, "type": each.type} for each in columns]
    rows = answer_of(first, "")["rows"]
    return {
        "table": name, "file": table.address, "columns": named[: _MOST_NAMED * 5],
        "row_count": counted.rows[0][0], "first_rows": rows,
    }  # fmt: skip


async def _queried(
    engine: Engine, sql: str, inputs: dict[str, JsonValue], limit: int
) -> dict[str, JsonValue]:
    return answer_of(await engine.query(sql, inputs, limit), sql)


async def _answered(work: Awaitable[dict[str, JsonValue]]) -> CallToolResult:
    try:
        found = await work
    except BadInput as fault:
        raise ToolError(str(fault)) from fault
    text = json.dumps(found, ensure_ascii=False)
    return CallToolResult(content=[TextContent(text=text)], structured_content=found)
