"""Define a built-in MCP server that tells callers which errors are temporary."""

from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.types import CallToolResult, InputRequiredResult, ToolAnnotations

from holdfast.models.errors import DocumentGone, HoldfastError, Lasting, Passing
from holdfast.tools.mcp.answers.error_results import gone_error, passing_error

OPEN_WORLD_HINTS = ToolAnnotations(
    read_only_hint=True, idempotent_hint=True, destructive_hint=False, open_world_hint=True
)


class ErrorReportingServer(MCPServer):
    """An MCP server whose tools raise Holdfast errors; callers get their messages."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Return the tool's result; a Holdfast error becomes an error result."""
        try:
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError as broken:
            match broken.__cause__:
                case Passing() as error:
                    return passing_error(self.message_of(error))
                case DocumentGone() as error:
                    return gone_error(self.message_of(error))
                case Lasting() as error:
                    raise ToolError(self.message_of(error)) from error
            raise

    def message_of(self, error: HoldfastError) -> str:
        """Return what callers read of the error."""
        return str(error)
