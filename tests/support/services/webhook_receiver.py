"""Receive webhooks over real sockets, and answer as a test says."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self


@dataclass(frozen=True)
class ReceivedMessage:
    """One request that the receiver read, whatever it answered."""

    headers: dict[str, str]
    body: str
    status: int


@dataclass
class WebhookReceiver:
    """A server on this computer that keeps the messages; `answer` says with which status."""

    answer: Callable[[], int] = lambda: 200
    port: int = 0
    messages: list[ReceivedMessage] = field(default_factory=list)

    def __enter__(self) -> Self:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                status = receiver.answer()
                headers = {name.lower(): value for name, value in self.headers.items()}
                receiver.messages.append(ReceivedMessage(headers, body, status))
                self.send_response(status)
                self.send_header("Location", f"http://127.0.0.1:{receiver.port}/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *values: object) -> None:  # noqa: A002 - the name there
                """Keep quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join(10)
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"
