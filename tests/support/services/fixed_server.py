"""A server that gives the same answer to every request, and keeps the requests as they were sent."""

import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self


class FixedServer:
    """Answers with a status, headers and a body.

    `paths`, `keys` (idempotency keys) and `bodies` are those of the requests.
    """

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes = b"") -> None:
        """Serve at a free port once entered."""
        self.paths: list[str] = []
        self.keys: list[str | None] = []
        self.bodies: list[bytes] = []
        kept = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                kept.paths.append(self.path)
                kept.keys.append(self.headers["Idempotency-Key"])
                kept.bodies.append(self.rfile.read(int(self.headers["Content-Length"] or 0)))
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_DELETE = do_POST = do_GET  # noqa: N815 - the name that http.server looks for

            def log_message(self, *_: object) -> None:
                """Print nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
