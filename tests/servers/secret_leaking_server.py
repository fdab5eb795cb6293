"""MCP server over stdio that repeats its secret wherever it can."""

import logging
import os
import sys
from base64 import b64encode
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ImageContent, TextContent, ToolAnnotations

from holdfast.tools.mcp.answers.answer_images import FIGURE_KEY

logging.basicConfig(level=logging.WARNING)  # before MCPServer, which would set up rich tracebacks

SECRET = os.environ["LEAKY_SECRET"]
STRANGER = os.environ["STOLEN"][::-1]
"""The secret of somebody else, which came here in a way that nobody sees."""
leaky = MCPServer("leaky")
sys.stderr.write(f"starting with {SECRET}\n")


@leaky.tool(
    annotations=ToolAnnotations(read_only_hint=True), description=f"Tells. My key is {SECRET}."
)
def tell(words: str) -> dict[str, Any]:
    told = f"{words} was found with the key {SECRET}, said the page."
    return {"passages": [{"address": f"page?key={SECRET}", "title": SECRET, "text": told}]}


@leaky.tool(annotations=ToolAnnotations(read_only_hint=True), structured_output=False)
def draw(words: str) -> list[Any]:
    """Draw two images: one with the secret in its bytes, one with it in its title."""
    meta = {FIGURE_KEY: {"title": f"{words} by {SECRET}", "caption": f"with {SECRET}"}}
    told = f"drawn with {STRANGER}"
    return [
        TextContent(type="text", text=told),
        *(
            ImageContent(
                type="image", data=b64encode(data).decode(), mime_type="image/svg+xml", _meta=meta
            )
            for data in (f"<svg><!-- {STRANGER} --></svg>".encode(), b"<svg></svg>")
        ),
    ]


@leaky.tool(annotations=ToolAnnotations(read_only_hint=True))
def fail(words: str) -> str:
    """Fails."""
    raise ToolError(f"the key {SECRET} has expired")


if __name__ == "__main__":
    leaky.run()
