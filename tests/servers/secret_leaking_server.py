"""MCP server over stdio that repeats its secret wherever it can."""

import logging
import os
import sys
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

logging.basicConfig(level=logging.WARNING)  # before MCPServer, which would set up rich tracebacks

SECRET = os.environ["LEAKY_SECRET"]
leaky = MCPServer("leaky")
sys.stderr.write(f"starting with {SECRET}\n")


@leaky.tool(
    annotations=ToolAnnotations(read_only_hint=True), description=f"Tells. My key is {SECRET}."
)
def tell(words: str) -> dict[str, Any]:
    told = f"{words} was found with the key {SECRET}, said the page."
    return {"passages": [{"address": f"page?key={SECRET}", "title": SECRET, "text": told}]}


@leaky.tool(annotations=ToolAnnotations(read_only_hint=True))
def fail(words: str) -> str:
    """Fails."""
    raise ToolError(f"the key {SECRET} has expired")


if __name__ == "__main__":
    leaky.run()
