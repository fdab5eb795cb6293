"""Wrap the streams of an MCP connection: trace requests, limit floods, bound answers."""

from collections.abc import Awaitable, Callable
from contextvars import Context
from types import TracebackType
from typing import Generic, Self, TypeAlias, TypeVar

from mcp.client._transport import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp.types import (
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)
from mcp_types.version import LATEST_MODERN_VERSION

from holdfast.tools.mcp.answers.content_blocks import MAX_BLOCKS, bounded_blocks
from holdfast.tools.mcp.transports.message_limits import error_reply
from holdfast.tools.mcp.transports.message_throttle import MessageThrottle
from holdfast.tools.mcp.transports.request_trace import current_trace
from holdfast.tools.mcp.transports.tool_listing import ToolListing

_MAX_OPEN_REQUESTS = 8
"""Requests of a server that may wait for an answer; more are dropped."""
_ANSWERS = (JSONRPCResponse, JSONRPCError)


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


class OpenRequests:
    """The server's own requests that wait for an answer of the library.

    A server that asks without end and reads nothing would fill the worker's memory.
    """

    def __init__(self) -> None:
        self._ids: set[RequestId] = set()

    def has_room_for(self, request_id: RequestId) -> bool:
        """Add the request and return True; return False if it or too many others wait already."""
        if request_id in self._ids or len(self._ids) >= _MAX_OPEN_REQUESTS:
            return False
        self._ids.add(request_id)
        return True

    def note_answer(self, message: JSONRPCMessage) -> None:
        if isinstance(message, _ANSWERS) and message.id is not None:
            self._ids.discard(message.id)


class TrackingWriter(_StreamWrapper[Outbound]):
    """The stream to a server; it notes which messages were sent.

    `sends_directly` is true if a message that was taken has left, as it has over stdio; the
    request's trace then says so.
    """

    def __init__(self, inner: Outbound, requests: OpenRequests, *, sends_directly: bool) -> None:
        super().__init__(inner)
        self._requests, self._sends_directly = requests, sends_directly

    async def send(self, item: SessionMessage, /) -> None:
        await self._inner.send(item)
        self._requests.note_answer(item.message)
        if self._sends_directly and (trace := current_trace.get(None)):
            trace.left = True


class FilteredReader(_StreamWrapper[Inbound]):
    """The stream from a server; only what the library needs of it passes, at a limited rate.

    Notifications are dropped: Holdfast acts on none, and the library starts a task for each.
    """

    def __init__(self, inner: Inbound, listing: ToolListing, requests: OpenRequests) -> None:
        super().__init__(inner)
        self._listing, self._requests = listing, requests
        self._version = LATEST_MODERN_VERSION
        self._pace = MessageThrottle()

    @property
    def last_context(self) -> Context | None:
        context: Context | None = getattr(self._inner, "last_context", None)
        return context

    async def receive(self) -> SessionMessage | Exception:
        return await self._passing(self._inner.receive)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return await self._passing(self._inner.__anext__)

    async def _passing(
        self, read: Callable[[], Awaitable[SessionMessage | Exception]]
    ) -> SessionMessage | Exception:
        """Return the next item that passes."""
        while True:
            item = await read()
            if isinstance(item, SessionMessage) and isinstance(item.message, _ANSWERS):
                return await self._within_limits(item)
            await self._pace.count_message()
            if not isinstance(item, SessionMessage):
                return item
            asked = item.message
            if isinstance(asked, JSONRPCRequest) and self._requests.has_room_for(asked.id):
                return item

    async def _within_limits(self, item: SessionMessage) -> SessionMessage:
        if not isinstance(item.message, JSONRPCResponse):
            return item
        result = item.message.result
        self._version = result.get("protocolVersion", self._version)
        if isinstance(blocks := result.get("content"), list):
            kept = bounded_blocks(blocks)
            if kept is None:
                return _error_in_place_of(item, f"the answer has over {MAX_BLOCKS} content blocks")
            result["content"] = kept
        elif isinstance(result.get("tools"), list):
            item.message.result = await self._listing.take_page(result, self._version)
        return item


def _error_in_place_of(item: SessionMessage, why: str) -> SessionMessage:
    assert isinstance(item.message, JSONRPCResponse), "only answers are checked"
    return SessionMessage(error_reply(item.message.id, why), metadata=item.metadata)
