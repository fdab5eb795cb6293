"""Bound the requests of each caller in a minute, and tell the caller what is left.

The counts are this process's own. The headers are those of draft-ietf-httpapi-ratelimit-headers-10.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.api.access.access_errors import TooManyRequests

REQUESTS_PER_MINUTE = 1_200
_WINDOW_S = 60


@dataclass
class RequestRates:
    """Count requests by caller in windows of a minute."""

    limit: int = REQUESTS_PER_MINUTE
    clock: Callable[[], float] = time.monotonic
    _window: int = -1
    _counts: dict[str, int] = field(default_factory=dict)

    def count(self, caller: str) -> dict[str, str]:
        """Count a request of the caller; return the headers that say what is left.

        Raises:
            TooManyRequests: the caller has used up the requests of this minute.
        """
        now = self.clock()
        window = int(now // _WINDOW_S)
        if window != self._window:
            self._window, self._counts = window, {}
        used = self._counts.get(caller, 0) + 1
        self._counts[caller] = used
        wait_s = int((window + 1) * _WINDOW_S - now) + 1
        if used > self.limit:
            raise TooManyRequests(
                f"this key has sent {self.limit:,} requests in this minute; send the next in "
                f"{wait_s} s",
                after_s=wait_s,
            )
        return {
            "RateLimit-Policy": f'"minute";q={self.limit};w={_WINDOW_S}',
            "RateLimit": f'"minute";r={self.limit - used};t={wait_s}',
        }


class RateLimitHeaders:
    """Send the headers that a route's request left in its state, with every kind of response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(scope.get("state", {}).get("rate_limit", {}))
            await send(message)

        await self._app(scope, receive, sending_headers)
