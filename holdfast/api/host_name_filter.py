"""Refuse requests that name this server by another host name."""

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from holdfast.api.problem_documents import problem_response
from holdfast.models.errors import BadInput


class HostNameFilter:
    """Serve requests to one of the server's host names, and refuse all other requests.

    A web page can make its own host name point to this computer and so read local services (DNS
    rebinding), but the browser then sends the page's host name, which this filter refuses.
    """

    def __init__(self, app: ASGIApp, names: frozenset[str]) -> None:
        self._app = app
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._is_known(scope):
            await self._app(scope, receive, send)
            return
        names = ", ".join(sorted(self._names))
        answer = problem_response(BadInput(f"use one of the server's host names: {names}"))
        await answer(scope, receive, send)

    def _is_known(self, scope: Scope) -> bool:
        # Not `request.url`: for a malformed header it has the server's address.
        try:
            return urlsplit(f"//{Headers(scope=scope).get('host', '')}").hostname in self._names
        except ValueError:
            return False
