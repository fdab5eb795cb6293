"""Define the built-in MCP server `tables`: SQL over the files of a folder, read-only."""

import json
from collections.abc import Awaitable
from typing import Annotated

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field, JsonValue

from holdfast.models.errors import BadInput
from holdfast.tools.sandbox.process_slots import ProcessSlots
from holdfast.tools.tables.query_answer import answer_from_rows
from holdfast.tools.tables.query_engine import MAX_ROWS, QueryEngine
from holdfast.tools.tables.table_folder import TableFolder

_SAFE = ToolAnnotations(
    read_only_hint=True, idempotent_hint=True, destructive_hint=False, open_world_hint=False
)
_MAX_LISTED = 40
_FIRST_ROWS = 3

TableName = Annotated[str, Field(description="A table's name, as `list` gives it.")]
SqlText = Annotated[str, Field(description="One SELECT in DuckDB's SQL.")]
InputTables = Annotated[
    dict[str, JsonValue],
    Field(description='More tables, as rows: {"found": [{"year": 2020, "v": 1.5}]}.'),
]
RowLimit = Annotated[int, Field(description="How many rows at most.", ge=1, le=MAX_ROWS)]


def tables_server(
    folder: TableFolder, *, timeout_s: float = 30, slots: ProcessSlots | None = None
) -> MCPServer:
    """Return the MCP server `tables` for the tables of a folder."""
    server = MCPServer("tables")
    engine = QueryEngine(folder, timeout_s=timeout_s, slots=slots)

    @server.tool(name="list", annotations=_SAFE, structured_output=False)
    async def list_tables() -> CallToolResult:
        """Lists the tables there are, with their columns."""
        return await _answered(_listed(folder, engine))

    @server.tool(annotations=_SAFE, structured_output=False)
    async def describe(table: TableName) -> CallToolResult:
        """Gives a table's columns with their types, how many rows it has, and the first of them."""
        return await _answered(_described(folder, engine, table))

    @server.tool(annotations=_SAFE, structured_output=False)
    async def query(
        sql: SqlText, inputs: InputTables | None = None, limit: RowLimit = 200
    ) -> CallToolResult:
        """Answers one SQL query (DuckDB) over the tables, and over rows given as `inputs`."""
        return await _answered(_queried(engine, sql, inputs or {}, limit))

    return server


async def _listed(folder: TableFolder, engine: QueryEngine) -> dict[str, JsonValue]:
    there = list(folder.tables().values())
    tables: list[JsonValue] = []
    faults: list[JsonValue] = list(folder.faults())
    for table, columns in zip(there, await engine.columns(there), strict=True):
        if isinstance(columns, str):
            faults.append(columns)
            continue
        names: list[JsonValue] = [f"{each.name} {each.type}" for each in columns[:_MAX_LISTED]]
        tables.append({"table": table.name, "file": table.address, "columns": names})
    return {"tables": tables, "left_out": faults}


async def _described(folder: TableFolder, engine: QueryEngine, name: str) -> dict[str, JsonValue]:
    table = folder.table(name)
    (columns,) = await engine.columns([table])
    if isinstance(columns, str):
        raise BadInput(columns)
    counted = await engine.query(f"select count(*) from {table.name}", {}, 1)  # noqa: S608 - our name
    first = await engine.query(f"select * from {table.name}", {}, _FIRST_ROWS)  # noqa: S608 - as above
    named: list[JsonValue] = [{"name": each.name, "type": each.type} for each in columns]
    rows = answer_from_rows(first, "")["rows"]
    return {
        "table": name,
        "file": table.address,
        "columns": named[: _MAX_LISTED * 5],
        "row_count": counted.rows[0][0],
        "first_rows": rows,
    }


async def _queried(
    engine: QueryEngine, sql: str, inputs: dict[str, JsonValue], limit: int
) -> dict[str, JsonValue]:
    return answer_from_rows(await engine.query(sql, inputs, limit), sql)


async def _answered(work: Awaitable[dict[str, JsonValue]]) -> CallToolResult:
    try:
        answer = await work
    except BadInput as fault:
        raise ToolError(str(fault)) from fault
    text = json.dumps(answer, ensure_ascii=False)
    return CallToolResult(content=[TextContent(text=text)], structured_content=answer)
