"""The built-in model searches with what can be searched, and neither computes nor draws."""

from pathlib import Path

from roles.extractive.toolbox import search_tool
from tests.roles.test_extractive_shared import SEARCH
from tools.hub import Hub
from tools.place import BuiltinServer
from tools.python.interpreter import Interpreter
from tools.servers.charts import charts_server
from tools.servers.python import python_server
from tools.servers.tables import tables_server
from tools.tables.shelf import Shelf


async def test_tools_that_compute_are_not_taken_for_a_search(tmp_path: Path) -> None:
    async with Interpreter() as interpreter:
        servers = {
            "charts": BuiltinServer(charts_server()),
            "python": BuiltinServer(python_server(interpreter)),
            "tables": BuiltinServer(tables_server(Shelf(tmp_path))),
        }
        async with Hub({}, servers) as hub:
            there = await hub.signatures()

    assert len(there) == 5
    assert search_tool(there) is None
    found = search_tool((*there, SEARCH))
    assert found is not None
    assert found.name == SEARCH.name
    words = sum(len(each.description.split()) for each in there)
    assert words < 160, "they stand in every prompt of a planner"
