"""MCP server over stdio for a folder of JSON documents that a test writes and changes.

A document is a file: address, title, date, and passages with text, heading and start.
"""

import json
import logging
import sys
import time
from pathlib import Path
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, TextContent, ToolAnnotations

logging.basicConfig(level=logging.WARNING)  # before MCPServer, which would set up rich tracebacks

FOLDER = Path(sys.argv[1])
READS = ToolAnnotations(read_only_hint=True)
server = MCPServer("folder")


def documents() -> list[dict[str, Any]]:
    return [json.loads(file.read_text()) for file in sorted(FOLDER.glob("*.json"))]


def passages(document: dict[str, Any]) -> list[dict[str, Any]]:
    told = {key: document[key] for key in ("address", "title", "date") if key in document}
    return [told | passage for passage in document["passages"]]


@server.tool(annotations=READS)
def find(words: str) -> dict[str, Any]:
    """Passages that have these words."""
    found = [p for each in documents() for p in passages(each) if words in p["text"]]
    return {"passages": found}


@server.tool(annotations=READS, structured_output=False)
def say(words: str) -> str:
    """All documents with these words as one text."""
    return "\n".join(p["text"] for d in documents() for p in passages(d) if words in p["text"])


@server.tool(structured_output=False)
def once(words: str) -> str:
    """The same, but not declared safe to repeat."""
    return say(words)


if "--reads" in sys.argv:

    @server.tool(annotations=READS, meta={"holdfast/reads": "place"}, structured_output=False)
    def fetch(place: str) -> CallToolResult:
        """A document by its address."""
        if (FOLDER / "closed").exists():
            raise ToolError("the reading room is closed")
        while (FOLDER / "hold").exists():
            time.sleep(0.02)
        for each in documents():
            if each["address"] == place:
                content = {"passages": passages(each)}
                text = [TextContent(type="text", text=json.dumps(content))]
                return CallToolResult(content=text, structured_content=content)
        text = [TextContent(type="text", text=f"no {place}")]
        return CallToolResult(content=text, is_error=True, _meta={"holdfast/gone": True})


if __name__ == "__main__":
    server.run()
