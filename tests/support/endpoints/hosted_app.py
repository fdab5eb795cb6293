"""Serve an ASGI app on a free port of this machine in a thread of its own."""

import socket
import threading
import time
from types import TracebackType
from typing import Literal, Self

import uvicorn
from starlette.types import ASGIApp


class HostedApp:
    """The app answers while the block lasts; its address is there from the beginning.

    After the block nobody can connect; a request that had begun may go on for a second.
    """

    def __init__(self, app: ASGIApp, *, lifespan: Literal["on", "off"] = "off") -> None:
        # Named as TCP, or asyncio leaves Nagle on: 40 ms an answer.
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                log_config=None,
                log_level="critical",
                access_log=False,
                lifespan=lifespan,
                ws="none",
                timeout_graceful_shutdown=1,
            )
        )
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True
        )

    @property
    def address(self) -> str:
        """Scheme, host and port, once the block was entered."""
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._socket.bind(("127.0.0.1", 0))
        self._socket.listen(128)  # from here on clients queue, so nobody waits for the thread
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._server.should_exit = True
        # The server closes the socket, then ends its requests: the block does not wait for these.
        until = time.monotonic() + 10
        while self._socket.fileno() != -1 and self._thread.is_alive() and time.monotonic() < until:
            time.sleep(0.002)
