"""Send spans to an OpenTelemetry collector: OTLP over HTTP, as protobuf.

The collector's address and headers are in the usual variables, `OTEL_EXPORTER_OTLP_ENDPOINT` (or
`OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`) and `OTEL_EXPORTER_OTLP_HEADERS`.
"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from importlib.metadata import version
from types import TracebackType
from typing import TYPE_CHECKING, Self

from holdfast.models.errors import BadInput, CollectorAway
from holdfast.models.traces.trace_spans import SpanKind, TraceSpan
from holdfast.tools.optional_parts import OptionalPart, require_part

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import SpanContext

ADDRESS_VARIABLES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_BATCH = 200
"""Spans of one request: about 200 KB."""
_TIMEOUT_S = 10.0
_RETRY_AFTER = timedelta(seconds=5)


def is_collector_named(environment: Mapping[str, str] = os.environ) -> bool:
    """True if a variable names a collector."""
    return any(environment.get(name) for name in ADDRESS_VARIABLES)


class SpanSender:
    """Sends spans to the collector that the environment names; a context manager.

    Raises:
        BadInput: no variable names a collector.
        PartMissing: the part `observability` is not installed.
    """

    def __init__(self) -> None:
        if not is_collector_named():
            raise BadInput(
                f"no collector is named: set {ADDRESS_VARIABLES[0]}, for example to "
                "http://127.0.0.1:4318"
            )
        require_part(OptionalPart.OBSERVABILITY, "sending traces")
        # Imported here: a second that other commands must not pay.
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource

        self._exporter = OTLPSpanExporter(timeout=_TIMEOUT_S)
        # `create` adds the SDK's own facts and OTEL_RESOURCE_ATTRIBUTES.
        self._resource = Resource.create(
            {"service.name": "holdfast", "service.version": version("holdfast")}
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._exporter.shutdown()  # type: ignore[no-untyped-call]  # as the package has it

    async def send(self, spans: Sequence[TraceSpan]) -> None:
        """Send the spans in one or more requests.

        Raises:
            CollectorAway: the collector did not take them; sending them again changes nothing.
        """
        from opentelemetry.sdk.trace.export import SpanExportResult

        for first in range(0, len(spans), _BATCH):
            batch = [_readable(span, self._resource) for span in spans[first : first + _BATCH]]
            # The exporter is synchronous, and tries again by itself until its time is over.
            result = await asyncio.to_thread(self._exporter.export, batch)
            if result is not SpanExportResult.SUCCESS:
                raise CollectorAway(
                    f"the collector that {ADDRESS_VARIABLES[0]} names did not take the spans; "
                    "the log says why",
                    after=_RETRY_AFTER,
                )


def _readable(span: TraceSpan, resource: "Resource") -> "ReadableSpan":
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    from opentelemetry.trace import SpanKind as OtlpKind
    from opentelemetry.trace import Status, StatusCode

    is_call = span.kind in (SpanKind.MODEL_CALL, SpanKind.TOOL_CALL)
    return ReadableSpan(
        name=span.name,
        context=_context(span.trace_id, span.span_id),
        parent=_context(span.trace_id, span.parent_id) if span.parent_id else None,
        resource=resource,
        attributes=span.attributes,
        kind=OtlpKind.CLIENT if is_call else OtlpKind.INTERNAL,
        status=Status(StatusCode.ERROR, span.error) if span.error else Status(StatusCode.OK),
        start_time=_nanoseconds(span.started_at),
        end_time=_nanoseconds(span.finished_at),
        instrumentation_scope=InstrumentationScope("holdfast", version("holdfast")),
    )


def _context(trace_id: str, span_id: str) -> "SpanContext":
    from opentelemetry.trace import SpanContext, TraceFlags

    sampled = TraceFlags(TraceFlags.SAMPLED)
    return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote=False, trace_flags=sampled)


def _nanoseconds(at: datetime) -> int:
    # Not by a float, which has no nanoseconds for today.
    return round(at.timestamp() * 1_000_000) * 1000
