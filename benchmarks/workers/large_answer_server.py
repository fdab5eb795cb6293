"""MCP server over stdio whose one tool answers with a given number of megabytes of text."""

import sys

from mcp.server import MCPServer
from mcp.types import ToolAnnotations

MEGABYTES = int(sys.argv[1]) if len(sys.argv) > 1 else 1
_LINE = "Nothing that is said here matters to the value of the task.\n"

large_answer_server = MCPServer("big")


@large_answer_server.tool(annotations=ToolAnnotations(read_only_hint=True), structured_output=False)
def look_up(query: str) -> str:
    """Look a value up, at length."""
    value = query.partition(" ")[0]
    return f"The value is v-{value}. " + _LINE * (MEGABYTES * 2**20 // len(_LINE))


if __name__ == "__main__":
    large_answer_server.run("stdio")
