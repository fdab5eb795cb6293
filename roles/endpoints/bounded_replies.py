"""Bound how much of an endpoint's reply is read, while it is read and unpacked."""

import zlib
from collections.abc import AsyncIterable, AsyncIterator, Iterator
from functools import cache
from typing import cast

import httpx2
from openai import DefaultAsyncHttpxClient

from holdfast.roles.endpoints.kept_alive import watch_connection
from holdfast.roles.endpoints.reply_errors import ReplyRefused

MAX_REPLY_BYTES = 2_000_000
"""Bytes of the longest reply, unpacked; 128,000 tokens of text are about 500,000."""
MAX_STREAM_BYTES = 100_000_000
"""Bytes of the longest stream of events: each token comes in an event of about 300."""
MAX_ERROR_BYTES = 64_000
"""Bytes that are read of an error's body; the rest would reach no message."""
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_tls_context = cache(httpx2.create_ssl_context)
"""One for the process: reading all certificates takes 50 ms of processor time."""


def bounded_http_client() -> httpx2.AsyncClient:
    """Return a client of the `openai` library's kind that bounds every response.

    Hooks and not a transport, because a transport would turn off the proxies of the environment.
    """
    return DefaultAsyncHttpxClient(
        verify=_tls_context(),
        event_hooks={"request": [watch_connection], "response": [_bound_response]},
    )


async def _bound_response(response: httpx2.Response) -> None:
    """Replace the stream of a response, also of a redirect or an error, before a byte is read."""
    packed = response.headers.pop("content-encoding", "identity").lower()
    if packed not in {"identity", "gzip", "deflate"}:
        raise ReplyRefused(f"its reply is packed as {packed[:20]!r}, which was not asked for")
    source = cast("AsyncIterable[bytes]", response.stream)
    response.stream = _BoundedStream(
        source,
        MAX_STREAM_BYTES if is_event_stream(response.headers) else MAX_REPLY_BYTES,
        is_packed=packed != "identity",
        is_error=response.status_code >= 300,
    )


def is_event_stream(headers: httpx2.Headers) -> bool:
    """True if the body of a response with these headers is a stream of events."""
    return headers.get("content-type", "").lower().startswith("text/event-stream")


class _BoundedStream(httpx2.AsyncByteStream):
    """The unpacked bytes of a response: at most `limit`, or the beginning of an error."""

    def __init__(
        self, source: AsyncIterable[bytes], limit: int, *, is_packed: bool, is_error: bool
    ) -> None:
        self._source = source
        self._limit = limit
        self._is_packed = is_packed
        self._is_error = is_error

    async def __aiter__(self) -> AsyncIterator[bytes]:
        limit = MAX_ERROR_BYTES if self._is_error else self._limit
        size = 0
        async for piece in self._pieces():
            size += len(piece)
            if size > limit and not self._is_error:
                raise ReplyRefused(f"its reply has more than {limit:,} bytes, which is the limit")
            yield piece
            if size > limit:
                return

    async def _pieces(self) -> AsyncIterator[bytes]:
        unpacker = zlib.decompressobj(_GZIP_OR_ZLIB)
        async for chunk in self._source:
            if not self._is_packed:
                yield chunk
                continue
            for piece in _unpacked(unpacker, chunk):
                yield piece

    async def aclose(self) -> None:
        await cast("httpx2.AsyncByteStream", self._source).aclose()


def _unpacked(unpacker: "zlib._Decompress", chunk: bytes) -> Iterator[bytes]:
    """Return the chunk unpacked, in pieces of bounded size: a kilobyte may stand for a megabyte."""
    try:
        while chunk:
            yield unpacker.decompress(chunk, MAX_ERROR_BYTES)
            chunk = unpacker.unconsumed_tail
    except zlib.error:
        raise ReplyRefused("its reply cannot be unpacked") from None
