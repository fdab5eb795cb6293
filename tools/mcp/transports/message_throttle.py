"""Slow down reading from a server that floods, so that other servers are served too."""

import asyncio

_MAX_UNASKED_PER_S = 1_000
"""Messages per second, other than answers, that are read from a server."""


class MessageThrottle:
    """Counts what a server sends without being asked, second by second."""

    def __init__(self) -> None:
        self._since, self._count = 0.0, 0

    async def count_message(self) -> None:
        """Count one message that is not an answer; if too many came, wait for the next second."""
        now = asyncio.get_running_loop().time()
        if now - self._since >= 1:
            self._since, self._count = now, 0
        self._count += 1
        if self._count > _MAX_UNASKED_PER_S:
            await asyncio.sleep(self._since + 1 - now)
