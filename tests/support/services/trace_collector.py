"""An OpenTelemetry collector over real sockets: OTLP over HTTP, as protobuf."""

from collections.abc import Callable
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.support.endpoints.hosted_app import HostedApp


class TraceCollector(HostedApp):
    """Keeps the spans of the requests that it took; `answer` says with which status."""

    def __init__(self) -> None:
        super().__init__(Starlette(routes=[Route("/{path:path}", self._take, methods=["POST"])]))
        self.answer: Callable[[], int] = lambda: 200
        self.spans: list[Any] = []
        self.requests = 0

    @property
    def ids(self) -> list[str]:
        return [span.span_id.hex() for span in self.spans]

    async def _take(self, request: Request) -> Response:
        asked = ExportTraceServiceRequest()
        asked.ParseFromString(await request.body())
        self.requests += 1
        status = self.answer()
        if status == 200:
            scopes = [scope for each in asked.resource_spans for scope in each.scope_spans]
            self.spans += [span for scope in scopes for span in scope.spans]
        return Response(status_code=status)
