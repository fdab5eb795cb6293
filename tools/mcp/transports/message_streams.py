"""Wrap the streams of an MCP connection: trace requests, limit floods, filter invalid tools."""

import asyncio
from collections.abc import Mapping
from contextvars import Context, ContextVar
from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus
from types import TracebackType
from typing import Any, Generic, Self, TypeAlias, TypeVar

import httpx2
from mcp.client._transport import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp.types import INTERNAL_ERROR, JSONRPCError, JSONRPCResponse
from mcp_types.methods import validate_server_result
from mcp_types.version import LATEST_MODERN_VERSION
from pydantic import ValidationError

MAX_MESSAGE_BYTES = 64 * 2**20
"""A longer message is never read: it would fill the worker's memory."""
_MAX_UNASKED_PER_S = 1_000
"""Messages per second, other than answers, that are read from a server."""
_ANSWERS = (JSONRPCResponse, JSONRPCError)
_KEPT_HEADERS = ("content-type", "mcp-session-id")
_UNSENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)


@dataclass
class RequestTrace:
    """Tracks how far one request got, because the library's errors do not tell."""

    left: bool = False
    lost: str | None = None
    status: int | None = None
    after: timedelta | None = None


current_trace: ContextVar[RequestTrace] = ContextVar("request_trace")


class MessageThrottle:
    """Slows down reading from a server that floods, so that other servers are served too."""

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


Inbound: TypeAlias = ReadStream[SessionMessage | Exception]
Outbound: TypeAlias = WriteStream[SessionMessage]
StreamT = TypeVar("StreamT", bound=Inbound | Outbound)


class _StreamWrapper(Generic[StreamT]):
    """A wrapper that opens and closes the wrapped stream."""

    def __init__(self, inner: StreamT) -> None:
        self._inner = inner

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return await self._inner.__aexit__(kind, error, trace)


class TrackingWriter(_StreamWrapper[Outbound]):
    """The stream to a stdio server; it records in the request's trace that the message was sent."""

    async def send(self, item: SessionMessage, /) -> None:
        await self._inner.send(item)
        if trace := current_trace.get(None):
            trace.left = True


@dataclass(frozen=True)
class WithheldTools:
    """Parts of a server's tool listing that the library must not see."""

    refused: dict[str, str] = field(default_factory=dict)
    """Invalid tools with reasons; the library would reject the whole listing for one of them."""
    output_schemas: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """Output schemas; the library would check them without a time limit."""


class FilteredReader(_StreamWrapper[Inbound]):
    """The stream from a server; it removes withheld parts from tool listings.

    Messages that are not answers pass at a limited rate.
    """

    def __init__(self, inner: Inbound, withheld: WithheldTools) -> None:
        super().__init__(inner)
        self._withheld, self._version = withheld, LATEST_MODERN_VERSION
        self._pace = MessageThrottle()

    @property
    def last_context(self) -> Context | None:
        context: Context | None = getattr(self._inner, "last_context", None)
        return context

    async def receive(self) -> SessionMessage | Exception:
        return await self._throttled(await self._inner.receive())

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return await self._throttled(await self._inner.__anext__())

    async def _throttled(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        if not (isinstance(item, SessionMessage) and isinstance(item.message, _ANSWERS)):
            await self._pace.count_message()
        return self._filtered(item)

    def _filtered(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        if isinstance(item, SessionMessage) and isinstance(item.message, JSONRPCResponse):
            result = item.message.result
            self._version = result.get("protocolVersion", self._version)
            if isinstance(result.get("tools"), list) and "content" not in result:
                sound = (tool for tool in result["tools"] if self._is_valid_tool(tool, result))
                result["tools"] = [self._without_output_schema(tool) for tool in sound]
        return item

    def _is_valid_tool(self, tool: object, listing: Mapping[str, Any]) -> bool:
        try:
            validate_server_result("tools/list", self._version, {**listing, "tools": [tool]})
        except ValidationError as error:
            detail = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in detail["loc"][2:])
            name = str(tool.get("name")) if isinstance(tool, dict) else "?"
            self._withheld.refused[name] = f"{place}: {detail['msg']}"
            return False
        except (KeyError, ValueError):
            return True  # an unknown protocol version; the library reports this error
        return True

    def _without_output_schema(self, tool: object) -> object:
        if not isinstance(tool, dict) or not isinstance(tool.get("outputSchema"), dict):
            return tool
        kept = dict(tool)
        self._withheld.output_schemas[str(tool.get("name"))] = kept.pop("outputSchema")
        return kept


class IsolatingHttpClient(httpx2.AsyncClient):
    """An HTTP client that turns exceptions into error replies of the one request.

    An exception would end the transport and every other call to the server.
    """

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:  # noqa: ANN401  # as httpx2 has it
        trace = current_trace.get(None) or RequestTrace()
        try:
            response = await super().send(request, **options)
            trace.left = True
            _note_status(trace, response)
            if response.next_request is None and _is_json(response):
                return await _read_whole(response)
        except httpx2.TransportError as error:
            trace.left = trace.left or not isinstance(error, _UNSENT)
            trace.lost = f"{type(error).__name__}: {error}".rstrip(": ")
            return _error_response(request, trace.lost)
        return response


def _note_status(trace: RequestTrace, response: httpx2.Response) -> None:
    trace.status = response.status_code if response.is_error else None
    wait = response.headers.get("retry-after", "")
    trace.after = timedelta(seconds=int(wait[:6])) if wait.isdecimal() else None


def _is_json(response: httpx2.Response) -> bool:
    kind: str = response.headers.get("content-type", "")
    return kind.lower().startswith("application/json")


async def _read_whole(response: httpx2.Response) -> httpx2.Response:
    """Return the response with its body read, while a failure still affects only this request."""
    body = bytearray()
    try:
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > MAX_MESSAGE_BYTES:
                return _error_response(
                    response.request, f"the answer is over {MAX_MESSAGE_BYTES} bytes"
                )
    finally:
        await response.aclose()
    headers = {key: response.headers[key] for key in _KEPT_HEADERS if key in response.headers}
    return httpx2.Response(
        response.status_code, headers=headers, content=bytes(body), request=response.request
    )


def _error_response(request: httpx2.Request, why: str) -> httpx2.Response:
    error = {"code": INTERNAL_ERROR, "message": why}
    answer = {"jsonrpc": "2.0", "id": None, "error": error}
    return httpx2.Response(HTTPStatus.BAD_GATEWAY, json=answer, request=request)
