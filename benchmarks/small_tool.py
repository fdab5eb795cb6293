"""An MCP server whose one tool gives back what it is told; run as a program it speaks stdio."""

from mcp.server import MCPServer
from mcp.types import ToolAnnotations


def server() -> MCPServer:
    made = MCPServer("small")

    @made.tool(annotations=ToolAnnotations(read_only_hint=True))
    async def echo(text: str) -> str:
        """Give the text back."""
        return text

    return made


if __name__ == "__main__":
    server().run("stdio")
