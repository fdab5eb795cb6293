"""An OpenTelemetry collector over real sockets: OTLP over HTTP, as protobuf."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass
class TraceCollector:
    """Keeps the spans of the requests that it took; `answer` says with which status."""

    answer: Callable[[], int] = lambda: 200
    spans: list[Any] = field(default_factory=list)
    requests: int = 0

    def __enter__(self) -> Self:
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = ExportTraceServiceRequest()
                asked.ParseFromString(self.rfile.read(int(self.headers["Content-Length"])))
                collector.requests += 1
                status = collector.answer()
                if status == 200:
                    scopes = [s for r in asked.resource_spans for s in r.scope_spans]
                    collector.spans += [span for scope in scopes for span in scope.spans]
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *values: object) -> None:  # noqa: A002 - the name there
                """Keep quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"
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
    def ids(self) -> list[str]:
        return [span.span_id.hex() for span in self.spans]
