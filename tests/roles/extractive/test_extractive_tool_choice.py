"""Tests that the built-in model searches with search tools and neither computes nor draws."""

from pathlib import Path

from holdfast.planning.plans.search_tool_choice import search_tool
from holdfast.tools.charts.charts_server import charts_server
from holdfast.tools.mcp.tool_hub import Hub
from holdfast.tools.mcp.tool_server import BuiltinServer
from holdfast.tools.python.monty_interpreter import Interpreter
from holdfast.tools.python.python_server import python_server
from holdfast.tools.tables.table_folder import TableFolder
from holdfast.tools.tables.tables_server import tables_server
from tests.roles.extractive.extractive_samples import SEARCH_TOOL


async def test_tools_that_compute_are_not_taken_for_a_search(tmp_path: Path) -> None:
    async with Interpreter() as interpreter:
        servers = {
            "charts": BuiltinServer(charts_server()),
            "python": BuiltinServer(python_server(interpreter)),
            "tables": BuiltinServer(tables_server(TableFolder(tmp_path))),
        }
        async with Hub({}, servers) as hub:
            there = await hub.signatures()

    assert len(there) == 5
    assert search_tool(there) is None
    found = search_tool((*there, SEARCH_TOOL))
    assert found is not None
    assert found.name == SEARCH_TOOL.name
    words = sum(len(each.description.split()) for each in there)
    assert words < 160, "they stand in every prompt of a planner"
