"""Answer each tool call in time, and errors in words that say what to do."""

import asyncio
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, InputRequiredResult
from pydantic import ValidationError

from holdfast.mcp_server.commands_as_tools import in_tools
from holdfast.models.errors import HoldfastError
from holdfast.tools.mcp.error_reporting import ErrorReportingServer

ANSWER_WITHIN_S = 19.0
"""Hosts drop a call after 60 s at the earliest; a model waits for 20 s without doubting."""
_MAX_FAULTS = 10


class ResearchServer(ErrorReportingServer):
    """An MCP server whose calls end in time, and which names each wrong argument."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Return the tool's result, or an error result that says what to do."""
        await self._check_names(name, arguments)
        try:
            async with asyncio.timeout(ANSWER_WITHIN_S):
                return await super().call_tool(name, arguments, context)
        except TimeoutError:
            raise ToolError(
                f"{name} did not answer within {ANSWER_WITHIN_S:.0f} s; jobs go on meanwhile. Call "
                "it again, and if that does not help, the user can ask `holdfast doctor` why"
            ) from None
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(_faults(name, error.__cause__)) from error.__cause__
            raise

    def message_of(self, error: HoldfastError) -> str:
        """Return the error's message with tools in the place of commands."""
        return in_tools(str(error))

    async def _check_names(self, name: str, arguments: dict[str, Any]) -> None:
        """Refuse misspelled arguments, which the SDK would leave out without a word.

        Raises:
            ToolError: the tool has no argument of such a name.
        """
        for tool in await self.list_tools():
            if tool.name == name:
                known = tool.input_schema.get("properties", {})
                if unknown := sorted(set(arguments) - set(known)):
                    shown = ", ".join(repr(each[:60]) for each in unknown[:_MAX_FAULTS])
                    raise ToolError(
                        f"{name} takes no argument {shown}; its arguments: {', '.join(known)}"
                    )


def _faults(name: str, error: ValidationError) -> str:
    """Each wrong argument and why; not its value, which may be secret or very long."""
    faults = [
        f"{'.'.join(map(str, each['loc']))[:100]}: {each['msg'].lower()[:300]}"
        for each in error.errors()[:_MAX_FAULTS]
    ]
    return f"{name} cannot be called so: {'; '.join(faults)}"
