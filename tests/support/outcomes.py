"""What became of a tool call whose arguments may be anything."""

from collections.abc import Awaitable

from models.errors import HoldfastError
from models.tools import ToolAnswer


async def outcome(call: Awaitable[ToolAnswer]) -> ToolAnswer | str:
    """The answer, or the words of its error; any other error is raised."""
    try:
        return await call
    except HoldfastError as error:
        return str(error)
