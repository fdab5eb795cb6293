"""MCP server over stdio whose tools accept certain values only."""

import logging
from typing import Literal

from mcp.server import MCPServer
from mcp.types import ToolAnnotations

logging.basicConfig(level=logging.WARNING)  # before MCPServer, which would set up rich tracebacks

REPEATABLE = ToolAnnotations(read_only_hint=True)
kb = MCPServer("kb")


@kb.tool(annotations=REPEATABLE, structured_output=False)
def relate(relation: Literal["place of birth", "country of citizenship", "spouse"]) -> str:
    """Follow a relation."""
    return f"followed {relation}"


@kb.tool(annotations=REPEATABLE, structured_output=False)
def concept(name: str) -> str:
    """Find all of a concept."""
    return f"all of {name}"


@kb.tool(annotations=REPEATABLE)
def concepts() -> list[str]:
    """Every concept."""
    return ["sovereign state", *(f"kind {letter}" for letter in "abcdefghijklmnop")]


if __name__ == "__main__":
    kb.run()
