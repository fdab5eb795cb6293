"""How a tool says that its error passes, so that the same call is sent again and not replanned."""

from mcp.types import CallToolResult, TextContent

PASSING = "holdfast/passing"
"""A key in the `_meta` of an error: true says that the call had no effect and may be sent again."""


def passing_error(message: str) -> CallToolResult:
    """An error result that says of itself that it passes."""
    content = TextContent(type="text", text=message)
    return CallToolResult(content=[content], is_error=True, _meta={PASSING: True})


def is_passing(result: CallToolResult) -> bool:
    """Whether an error result says that it passes."""
    return (result.meta or {}).get(PASSING) is True
