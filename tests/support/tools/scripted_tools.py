"""MCP server over streamable HTTP whose tools answer what a test scripts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from tests.support.endpoints.hosted_app import HostedApp

READ_ONLY = ToolAnnotations(read_only_hint=True, idempotent_hint=True)


@dataclass
class ScriptedTools:
    """`wikipedia_search(query)` and `lookup(key)` answer text, `note(text)` is not repeatable.

    `answers` maps an argument to a text; a callable is called with it; a missing one is an error.
    """

    answers: Mapping[str, str] | Callable[[str], str] = field(default_factory=dict)
    called: list[tuple[str, str]] = field(default_factory=list)

    def _answer(self, tool: str, argument: str) -> str:
        self.called.append((tool, argument))
        if callable(self.answers):
            return self.answers(argument)
        if argument not in self.answers:
            raise ToolError(f"no page for {argument!r}")
        return self.answers[argument]

    def _server(self) -> MCPServer:
        server = MCPServer("scripted")

        @server.tool(annotations=READ_ONLY, structured_output=False)
        def wikipedia_search(query: str) -> str:
            """Search Wikipedia for information."""
            return self._answer("wikipedia_search", query)

        @server.tool(annotations=READ_ONLY, structured_output=False)
        def lookup(key: str, limit: int = 5) -> str:
            """Look a key up."""
            return self._answer("lookup", key)

        @server.tool(annotations=READ_ONLY)
        def figures(key: str) -> dict[str, Any]:
            """Figures of a key as structured data."""
            return {
                "amount": len(key),
                "names": [key, key.upper()],
                "answer": self._answer("figures", key),
            }

        @server.tool(structured_output=False)
        def note(text: str) -> str:
            """Write a note down; doing it twice writes it twice."""
            return self._answer("note", text)

        return server

    def __enter__(self) -> Self:
        self._hosted = HostedApp(self._server().streamable_http_app(), lifespan="on").__enter__()
        self.url = f"{self._hosted.address}/mcp"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._hosted.__exit__(kind, error, trace)
