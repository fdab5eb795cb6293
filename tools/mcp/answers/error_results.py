"""Mark MCP error results as temporary or as a missing document, and read these marks."""

from mcp.types import CallToolResult, TextContent

PASSING_KEY = "holdfast/passing"
"""Key in the `_meta` of an error; true means that the call had no effect and may be repeated."""

GONE_KEY = "holdfast/gone"
"""Key in the `_meta` of an error; true means that the document does not exist (any more)."""


def passing_error(message: str) -> CallToolResult:
    """Return an error result that is marked as temporary."""
    return _error(message, PASSING_KEY)


def gone_error(message: str) -> CallToolResult:
    """Return an error result that is marked as a missing document."""
    return _error(message, GONE_KEY)


def _error(message: str, meta_key: str) -> CallToolResult:
    content = TextContent(type="text", text=message)
    return CallToolResult(content=[content], is_error=True, _meta={meta_key: True})


def is_passing(result: CallToolResult) -> bool:
    """Return True if an error result is marked as temporary."""
    return (result.meta or {}).get(PASSING_KEY) is True


def is_gone(result: CallToolResult) -> bool:
    """Return True if an error result is marked as a missing document."""
    return (result.meta or {}).get(GONE_KEY) is True
