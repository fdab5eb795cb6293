"""Serve the application under a path of its own, such as `/holdfast` of a proxy's host.

Routes, limits and the audit know only paths without the root path. This middleware removes the root
path from what comes in, whether the proxy has removed it or not, and puts it before the `Location`
of what goes out.
"""

from typing import cast

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Starlette builds `request.base_url` from this entry. Its entry `root_path` would also be removed
# from paths a second time: `/jobs` under the root path `/jobs` would be the first page.
_ENTRY = "app_root_path"


class RootPath:
    """Removes the root path from requests, and adds it to redirects and to `Location`."""

    def __init__(self, app: ASGIApp, root_path: str) -> None:
        self._app = app
        self._root_path = root_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # Starlette redirects `/jobs/` to a whole address, which lacks the root path as well.
        host = f"{scope['scheme']}://{Headers(scope=scope).get('host', '')}"

        async def sending_location(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                target = headers.get("location", "")
                if target.startswith(f"{host}/"):
                    target = target.removeprefix(host)
                if target.startswith("/") and not target.startswith("//"):
                    headers["location"] = self._root_path + target
            await send(message)

        path: str = scope["path"]
        if path == self._root_path or path.startswith(f"{self._root_path}/"):
            path = path[len(self._root_path) :] or "/"
        await self._app({**scope, "path": path, _ENTRY: self._root_path}, receive, sending_location)


def root_path_of(connection: HTTPConnection) -> str:
    """The path under which the sender sees this server, such as `/holdfast`; else an empty text."""
    return root_path_in(connection.scope)


def root_path_in(scope: Scope) -> str:
    """The same of an ASGI scope."""
    return cast("str", scope.get(_ENTRY, ""))
