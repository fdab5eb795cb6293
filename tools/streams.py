"""The streams to and from a server: they note how far a request got, and contain its faults."""

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

LARGEST_BYTES = 64 * 2**20
"""A longer message is not read at all: it would take the worker's memory."""
_MOST_UNASKED = 1_000
"""How many messages a second that answer nothing are read of a server."""
_ANSWERS = (JSONRPCResponse, JSONRPCError)
_KEPT_HEADERS = ("content-type", "mcp-session-id")
_UNSENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)


@dataclass
class Trip:
    """How far one request got; the library's own errors do not say."""

    left: bool = False
    lost: str | None = None
    status: int | None = None
    after: timedelta | None = None


current_trip: ContextVar[Trip] = ContextVar("trip")


class Pace:
    """Holds up the reading of a server that floods, so that the others get their turn."""

    def __init__(self) -> None:
        self._since, self._count = 0.0, 0

    async def beat(self) -> None:
        """One more message that answers nothing; waits until the second is over if too many."""
        now = asyncio.get_running_loop().time()
        if now - self._since >= 1:
            self._since, self._count = now, 0
        self._count += 1
        if self._count > _MOST_UNASKED:
            await asyncio.sleep(self._since + 1 - now)


Inbound: TypeAlias = ReadStream[SessionMessage | Exception]
Outbound: TypeAlias = WriteStream[SessionMessage]
StreamT = TypeVar("StreamT", bound=Inbound | Outbound)


class _Around(Generic[StreamT]):
    """A stream that passes on opening and closing to the one inside."""

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


class Mouth(_Around[Outbound]):
    """The stream to a stdio server, which notes on the trip that its message left."""

    async def send(self, item: SessionMessage, /) -> None:
        await self._inner.send(item)
        if trip := current_trip.get(None):
            trip.left = True


@dataclass(frozen=True)
class Withheld:
    """What of a server's tools is kept from the library."""

    refused: dict[str, str] = field(default_factory=dict)
    """Tools that break the protocol, with the reason: it refuses a whole listing for one."""
    promises: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """Output schemas: it would follow them however long that takes."""


class Ears(_Around[Inbound]):
    """The stream from a server, which takes out of a listing what is withheld from the library.

    What answers nothing is passed on at a pace.
    """

    def __init__(self, inner: Inbound, withheld: Withheld) -> None:
        super().__init__(inner)
        self._withheld, self._version = withheld, LATEST_MODERN_VERSION
        self._pace = Pace()

    @property
    def last_context(self) -> Context | None:
        context: Context | None = getattr(self._inner, "last_context", None)
        return context

    async def receive(self) -> SessionMessage | Exception:
        return await self._passed(await self._inner.receive())

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return await self._passed(await self._inner.__anext__())

    async def _passed(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        if not (isinstance(item, SessionMessage) and isinstance(item.message, _ANSWERS)):
            await self._pace.beat()
        return self._sifted(item)

    def _sifted(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        if isinstance(item, SessionMessage) and isinstance(item.message, JSONRPCResponse):
            result = item.message.result
            self._version = result.get("protocolVersion", self._version)
            if isinstance(result.get("tools"), list) and "content" not in result:
                sound = (tool for tool in result["tools"] if self._is_sound(tool, result))
                result["tools"] = [self._without_promise(tool) for tool in sound]
        return item

    def _is_sound(self, tool: object, listing: Mapping[str, Any]) -> bool:
        try:
            validate_server_result("tools/list", self._version, {**listing, "tools": [tool]})
        except ValidationError as error:
            detail = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in detail["loc"][2:])
            name = str(tool.get("name")) if isinstance(tool, dict) else "?"
            self._withheld.refused[name] = f"{place}: {detail['msg']}"
            return False
        except (KeyError, ValueError):
            return True  # a version the library does not know; it will say so itself
        return True

    def _without_promise(self, tool: object) -> object:
        if not isinstance(tool, dict) or not isinstance(tool.get("outputSchema"), dict):
            return tool
        kept = dict(tool)
        self._withheld.promises[str(tool.get("name"))] = kept.pop("outputSchema")
        return kept


class Posts(httpx2.AsyncClient):
    """An HTTP client in which a request that fails fails alone.

    An exception here would end the transport, and with it every other call to the server.
    """

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:  # noqa: ANN401  # as httpx2 has it
        trip = current_trip.get(None) or Trip()
        try:
            response = await super().send(request, **options)
            trip.left = True
            _note_status(trip, response)
            if response.next_request is None and _is_json(response):
                return await _read_whole(response)
        except httpx2.TransportError as error:
            trip.left = trip.left or not isinstance(error, _UNSENT)
            trip.lost = f"{type(error).__name__}: {error}".rstrip(": ")
            return _stand_in(request, trip.lost)
        return response


def _note_status(trip: Trip, response: httpx2.Response) -> None:
    trip.status = response.status_code if response.is_error else None
    wait = response.headers.get("retry-after", "")
    trip.after = timedelta(seconds=int(wait[:6])) if wait.isdecimal() else None


def _is_json(response: httpx2.Response) -> bool:
    kind: str = response.headers.get("content-type", "")
    return kind.lower().startswith("application/json")


async def _read_whole(response: httpx2.Response) -> httpx2.Response:
    """The response with its body read, where a failure can still be told to the one caller."""
    body = bytearray()
    try:
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > LARGEST_BYTES:
                return _stand_in(response.request, f"the answer is over {LARGEST_BYTES} bytes")
    finally:
        await response.aclose()
    headers = {key: response.headers[key] for key in _KEPT_HEADERS if key in response.headers}
    return httpx2.Response(
        response.status_code, headers=headers, content=bytes(body), request=response.request
    )


def _stand_in(request: httpx2.Request, why: str) -> httpx2.Response:
    error = {"code": INTERNAL_ERROR, "message": why}
    answer = {"jsonrpc": "2.0", "id": None, "error": error}
    return httpx2.Response(HTTPStatus.BAD_GATEWAY, json=answer, request=request)
