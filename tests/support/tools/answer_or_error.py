"""Return the answer of a tool call, or the text of its error."""

from collections.abc import Awaitable

from holdfast.models.calls.tool_signatures import ToolAnswer
from holdfast.models.errors import HoldfastError


async def answer_or_error(call: Awaitable[ToolAnswer]) -> ToolAnswer | str:
    """The answer, or the words of its error; any other error is raised."""
    try:
        return await call
    except HoldfastError as error:
        return str(error)
