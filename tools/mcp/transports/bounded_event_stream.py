"""The body of a stream of server-sent events, with only what the MCP library can use of it.

The library reads comments, empty events and events of other kinds without a pause, and logs a
traceback for each event that it cannot read. The format is that of
https://html.spec.whatwg.org/multipage/server-sent-events.html.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import httpx2

from holdfast.tools.mcp.transports.message_limits import (
    MAX_MESSAGE_BYTES,
    UnreadableMessage,
    error_reply,
    read_message,
    too_long,
)
from holdfast.tools.mcp.transports.message_throttle import MessageThrottle

_SLICE_BYTES = 2**18
_LINE_BYTES = 50
"""What a line takes in memory in addition to its text."""
_MAX_ID_BYTES = 1_000
_RETRY_MS = (1_000, 60_000)
"""The shortest and the longest pause before a stream is opened again, whatever the server says."""


class BoundedEventStream(httpx2.AsyncByteStream):
    """The events of a response that carry messages, read at a limited rate.

    A message that is too long, or cannot be read, becomes an error for the request of the stream.
    """

    def __init__(self, response: httpx2.Response) -> None:
        self._response = response
        self._pace = MessageThrottle()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        event = _Event()
        async for line in self._lines():
            if line is None or event.size > MAX_MESSAGE_BYTES:
                yield _error_event(too_long(MAX_MESSAGE_BYTES))
                return
            if line and not line.startswith(b":"):
                event.add(line)
                continue
            await self._pace.count_message()
            if not line:
                message, event = await event.as_bytes(), _Event()
                for start in range(0, len(message), _SLICE_BYTES):
                    await asyncio.sleep(0)  # the library reads and splits the text in one turn
                    yield message[start : start + _SLICE_BYTES]

    async def aclose(self) -> None:
        await self._response.aclose()

    async def _lines(self) -> AsyncIterator[bytes | None]:
        """Yield each line; None and no more in the place of a line that is too long."""
        pieces: list[bytes] = []
        size, is_after_return = 0, False
        async for chunk in self._response.aiter_raw():
            ended = chunk[1:] if is_after_return and chunk.startswith(b"\n") else chunk
            is_after_return = chunk.endswith(b"\r")
            *ends, rest = ended.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
            for end in ends:
                yield b"".join([*pieces, end])
                pieces, size = [], 0
            pieces.append(rest)
            size += len(rest)
            if size > MAX_MESSAGE_BYTES:
                yield None
                return


@dataclass
class _Event:
    """The fields of one event, as far as a message needs them."""

    size: int = 0
    kind: bytes = b""
    id: bytes = b""
    retry_ms: int | None = None
    data: list[bytes] = field(default_factory=list)

    def add(self, line: bytes) -> None:
        """Take a line of the event; unknown fields are ignored."""
        self.size += len(line) + _LINE_BYTES
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match name:
            case b"data":
                self.data.append(value)
            case b"event":
                self.kind = value
            case b"id" if len(value) <= _MAX_ID_BYTES:
                self.id = value
            case b"retry" if value[:9].isdigit():
                self.retry_ms = min(max(int(value[:9]), _RETRY_MS[0]), _RETRY_MS[1])

    async def as_bytes(self) -> bytes:
        """Return the event as the library may read it; nothing if it has no use for it."""
        data = b" ".join(self.data)  # between two lines of JSON every blank is the same
        if self.kind not in (b"", b"message") or not (data or self.id):
            return b""
        if data:
            try:
                await read_message(data)
            except UnreadableMessage as fault:
                return _error_event(str(fault))
        fields = [b"id: " + self.id] if self.id else []
        fields += [b"retry: %d" % self.retry_ms] if self.retry_ms else []
        text = b"\n".join([*fields, b"data: " + data])
        return text.decode("utf-8", "replace").encode() + b"\n\n"


def _error_event(why: str) -> bytes:
    # The library puts the id of the stream's own request in the place of this one.
    return b"data: " + error_reply(None, why).model_dump_json(by_alias=True).encode() + b"\n\n"
