"""What a tool says of its error: that it passes, or that there is no such document any more."""

from mcp.types import CallToolResult, TextContent

PASSING = "holdfast/passing"
"""A key in the `_meta` of an error: true says that the call had no effect and may be sent again."""

GONE = "holdfast/gone"
"""A key in the `_meta` of an error: true says that there is no such document, or none any more."""


def passing_error(message: str) -> CallToolResult:
    """An error result that says of itself that it passes."""
    return _error(message, PASSING)


def gone_error(message: str) -> CallToolResult:
    """An error result that says that there is no such document."""
    return _error(message, GONE)


def _error(message: str, said: str) -> CallToolResult:
    content = TextContent(type="text", text=message)
    return CallToolResult(content=[content], is_error=True, _meta={said: True})


def is_passing(result: CallToolResult) -> bool:
    """Whether an error result says that it passes."""
    return (result.meta or {}).get(PASSING) is True


def is_gone(result: CallToolResult) -> bool:
    """Whether an error result says that there is no such document."""
    return (result.meta or {}).get(GONE) is True
