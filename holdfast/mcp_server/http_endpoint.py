"""Serve MCP over streamable HTTP at `/mcp` of `holdfast serve`, to whoever has a key.

No session is kept: every request names its caller by its key and its job by the job's id. So any
server of the installation can answer, also one that was started between two calls.
"""

import asyncio
from dataclasses import dataclass, field
from http import HTTPMethod
from typing import Any

from fastapi import FastAPI
from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from holdfast.api.access.callers import Caller
from holdfast.api.api_context import ApiContext
from holdfast.api.root_path import root_path_in
from holdfast.mcp_server.caller_access import KnownCaller
from holdfast.mcp_server.server_assembly import build_mcp_server
from holdfast.models.errors import HoldfastError

PATH = "/mcp"
_BEARER = "bearer "


@dataclass(frozen=True)
class _SentCaller:
    """The caller of an HTTP request, and the address at which the caller found this server."""

    caller: Caller
    page: str


@dataclass(frozen=True)
class HttpCallerAccess:
    """Knows the caller from the request that brought the call."""

    context: ApiContext

    async def known_caller(self, request: ServerRequestContext[Any, Any]) -> KnownCaller:
        """The caller that the endpoint has let in."""
        assert request.request is not None
        sent: _SentCaller = request.request.scope["state"]["mcp_caller"]
        return KnownCaller(self.context.holdfast, sent.caller, sent.page, is_audited=True)

    def report_error(self, error: HoldfastError) -> None:
        """Nothing to do: the server's own connection is made again by itself."""


@dataclass
class McpEndpoint:
    """Lets callers with a key in, and passes their requests on."""

    context: ApiContext
    _manager: StreamableHTTPSessionManager = field(init=False)
    _running: asyncio.Task[None] | None = None
    _is_ready: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        server = build_mcp_server(HttpCallerAccess(self.context))
        server.streamable_http_app(
            stateless_http=True,
            # HostNameFilter and the key keep web pages out.
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        self._manager = server.session_manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        given = headers.get("authorization", "")
        key = given[len(_BEARER) :].strip() if given.lower().startswith(_BEARER) else ""
        caller = await self.context.authentication.caller_of(key)
        state = scope.setdefault("state", {})
        state["rate_limit"] = self.context.rates.count(caller.key_id)
        host = headers.get("host", "")
        page = f"{scope.get('scheme', 'http')}://{host}{root_path_in(scope)}" if host else ""
        state["mcp_caller"] = _SentCaller(caller, page)
        await self._started()
        await self._manager.handle_request(scope, receive, send)

    async def _started(self) -> None:
        """Start what serves requests, with the first one; it ends with the event loop."""
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        await self._is_ready.wait()

    async def _run(self) -> None:
        async with self._manager.run():
            self._is_ready.set()
            await asyncio.Event().wait()


def add_mcp(app: FastAPI) -> None:
    """Serve MCP at `/mcp` of the application."""
    endpoint = McpEndpoint(app.state.context)
    # No GET: without sessions there is nothing that the server would send on its own.
    app.router.routes.append(Route(PATH, endpoint, methods=[HTTPMethod.POST], name="mcp"))
