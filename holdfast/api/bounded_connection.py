"""Close connections that do not send a whole request head in time.

uvicorn bounds the time between two requests of a connection and leaves the head of a request
without a limit, so that a client that sends half a request would hold a connection for ever.
"""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_TIMEOUT_S = 20.0
"""The time for the line and the headers of a request."""


class BoundedConnection(H11Protocol):
    """A connection whose next request head must be whole within a fixed time.

    Parts of a head do not extend the time: a client that sends a byte a second gains nothing.
    """

    _head_timeout: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        before = self.cycle
        if before is None or before.response_complete:
            # The first bytes after a response begin the next head.
            self._expect_head()
        super().data_received(data)
        if self.cycle is not before:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _expect_head(self) -> None:
        if self._head_timeout is None:
            self._head_timeout = self.loop.call_later(HEAD_TIMEOUT_S, self._close)

    def _stop_waiting(self) -> None:
        if self._head_timeout is not None:
            self._head_timeout.cancel()
            self._head_timeout = None

    def _close(self) -> None:
        self._head_timeout = None
        if not self.transport.is_closing():
            self.transport.close()
