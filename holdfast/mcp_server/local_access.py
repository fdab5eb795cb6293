"""Let the user who started the server in, and connect to the installation when that is needed.

A host starts the server with its own start, and gives up on one that does not answer at once. So
the server answers before the installation is connected, and calls wait for it in bounded time.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from mcp.server.context import ServerRequestContext

from holdfast.api.access.callers import Caller
from holdfast.client import Holdfast
from holdfast.jobs.current_user import current_user
from holdfast.mcp_server.caller_access import KnownCaller
from holdfast.models.access.access_scopes import Scope
from holdfast.models.errors import HoldfastError, ServiceDown, StorageAway

_CONNECT_WITHIN_S = 14.0


@dataclass
class LocalCallerAccess:
    """The installation of this computer's user; `connect` starts what is missing."""

    connect: Callable[[], Awaitable[Holdfast]]
    find_page: Callable[[Holdfast], str] = lambda _: ""
    _connecting: "asyncio.Future[Holdfast] | None" = None

    def begin(self) -> None:
        """Connect before the first call needs it."""
        if self._connecting is None:
            self._connecting = asyncio.ensure_future(self.connect())

    async def known_caller(self, request: ServerRequestContext[Any, Any]) -> KnownCaller:  # noqa: ARG002 - every call is the user's
        """The user of this process."""
        user = current_user()
        holdfast = await self._connected()
        caller = Caller(user, user, frozenset(Scope))
        return KnownCaller(holdfast, caller, self.find_page(holdfast))

    def report_error(self, error: HoldfastError) -> None:
        """Connect again at the next call if a service did not answer: it may be elsewhere now."""
        if isinstance(error, ServiceDown | StorageAway) and self._connecting is not None:
            self._connecting = None

    async def _connected(self) -> Holdfast:
        self.begin()
        assert self._connecting is not None
        connecting = self._connecting
        try:
            # Shielded: a call that gives up must not stop the services from starting.
            async with asyncio.timeout(_CONNECT_WITHIN_S):
                return await asyncio.shield(connecting)
        except TimeoutError:
            raise ServiceDown(
                "the services of the installation are still starting; call again in a few seconds"
            ) from None
        except HoldfastError:
            if self._connecting is connecting:
                self._connecting = None
            raise
