"""MCP server whose one tool returns its argument; run as a program, the server speaks stdio."""

from mcp.server import MCPServer
from mcp.types import ToolAnnotations


def echo_server() -> MCPServer:
    made = MCPServer("small")

    @made.tool(annotations=ToolAnnotations(read_only_hint=True))
    async def echo(text: str) -> str:
        """Give the text back."""
        return text

    return made


if __name__ == "__main__":
    echo_server().run("stdio")
