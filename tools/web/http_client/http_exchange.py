"""Send one HTTP request and read the answer within limits of time and size."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import httpcore2

from holdfast.models.errors import ToolBusy, ToolFailed
from holdfast.tools.web.http_client.address_rules import AllowedHosts, RequestTarget
from holdfast.tools.web.http_client.body_decompression import ACCEPTED_ENCODINGS, BodyDecompressor
from holdfast.tools.web.http_client.guarded_backend import (
    GuardedBackend,
    ResolveHost,
    system_resolve,
)

_MAX_CONNECTIONS = 50
_IDLE_S = 5.0

Headers = Mapping[str, str]
"""By name in lower case; of a repeated header, the last value."""


@dataclass(frozen=True)
class HttpRequest:
    """A request to one target."""

    target: RequestTarget
    method: str = "GET"
    headers: Headers = field(default_factory=dict)
    content: bytes = b""
    accepts: Callable[[Headers], None] | None = None
    """Raises ToolFailed if the body of an answer with these headers must not be read."""
    max_bytes: int | None = None
    """Replaces the client's size limit; a longer body is cut."""


@dataclass(frozen=True)
class HttpReply:
    """The answer; the body is read and decompressed only for status 200."""

    status: int
    headers: Headers
    body: bytes = b""


class HttpClient:
    """Sends requests to allowed targets; `timeout_s` bounds a whole exchange."""

    def __init__(
        self,
        allowed: AllowedHosts,
        agent: str,
        *,
        timeout_s: float = 30,
        max_bytes: int = 10 * 2**20,
        resolve: ResolveHost = system_resolve,
        trust: ssl.SSLContext | None = None,
    ) -> None:
        self.allowed = allowed
        self._agent = agent
        self._timeout_s = timeout_s
        self._max_bytes = max_bytes
        # The pool ignores the environment: no proxy gets between the check and the target.
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=trust,
            network_backend=GuardedBackend(allowed, resolve),
            max_connections=_MAX_CONNECTIONS,
            keepalive_expiry=_IDLE_S,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._pool.aclose()

    async def send(self, request: HttpRequest) -> HttpReply:
        """Send the request and return the answer, of any status.

        Raises:
            ToolBusy: no complete answer came in time, or the connection broke.
            ToolFailed: the target is refused, does not exist, or sends an unreadable answer.
        """
        host = request.target.host
        try:
            async with asyncio.timeout(self._timeout_s), self._opened(request) as response:
                return await self._read(request, response)
        except (TimeoutError, httpcore2.TimeoutException) as error:
            raise ToolBusy(f"{host} did not answer within {self._timeout_s:g} s") from error
        except httpcore2.ProtocolError as error:
            raise _protocol_error(host, error) from error
        except (httpcore2.NetworkError, OSError) as error:
            raise _network_error(host, error) from error

    @asynccontextmanager
    async def _opened(self, request: HttpRequest) -> AsyncIterator[httpcore2.Response]:
        target = request.target
        url = httpcore2.URL(
            scheme=target.scheme.encode(),
            host=target.host.encode(),
            port=target.port,
            target=target.path.encode(),
        )
        named = {
            "Host": target.origin.partition("://")[2],
            "User-Agent": self._agent,
            "Accept-Encoding": ACCEPTED_ENCODINGS,
        }
        headers = [
            (name.encode(), value.encode())
            for name, value in (named | dict(request.headers)).items()
        ]
        waits = dict.fromkeys(("connect", "read", "write", "pool"), self._timeout_s)
        async with self._pool.stream(
            request.method,
            url,
            headers=headers,
            content=request.content or None,
            extensions={"timeout": waits},
        ) as response:
            yield response

    async def _read(self, request: HttpRequest, response: httpcore2.Response) -> HttpReply:
        headers = {
            name.decode("ascii", "replace").lower(): value.decode("latin-1")
            for name, value in response.headers
        }
        if response.status != 200:
            return HttpReply(response.status, headers)
        if request.accepts:
            request.accepts(headers)
        unpacking = BodyDecompressor(
            request.target.host,
            headers.get("content-encoding", ""),
            request.max_bytes or self._max_bytes,
            keeps_start=request.max_bytes is not None,
        )
        async for piece in response.aiter_stream():
            unpacking.add(piece)
            if unpacking.is_full:
                break
        return HttpReply(response.status, headers, unpacking.whole())


def _protocol_error(host: str, error: httpcore2.ProtocolError) -> ToolBusy | ToolFailed:
    # httpcore2 reports a dropped connection as a protocol error.
    if any(sign in str(error) for sign in ("disconnected", "closed connection")):
        return ToolBusy(f"{host} dropped the connection before its answer was whole")
    return ToolFailed(f"{host} does not answer with HTTP that can be read")


def _network_error(host: str, error: Exception) -> ToolBusy | ToolFailed:
    causes = {type(error), type(error.__cause__), type(error.__context__)}
    if any(issubclass(cause, ssl.SSLCertVerificationError) for cause in causes):
        return ToolFailed(f"{host} has no valid certificate for its name, so it is not trusted")
    return ToolBusy(f"{host} does not take the connection, or dropped it")
