"""Define the routes for those who run the installation: figures, and traces to a collector."""

from fastapi import APIRouter, Response

from holdfast.api.api_context import Administrator, MetricsReader, ReadJob
from holdfast.observability.trace_export import SentTrace, send_trace

router = APIRouter(tags=["installation"])
metrics_router = APIRouter(tags=["installation"])
"""Not under `/v1`: Prometheus looks for `/metrics`."""
_PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8"


@router.post("/jobs/{job}/otel")
async def send_job_trace(job: ReadJob, session: Administrator) -> SentTrace:
    """Send the trace of the job to the collector that the server's environment names."""
    return await send_trace(session.holdfast.db, job.id)


@metrics_router.get("/metrics")
async def show_metrics(session: MetricsReader) -> Response:
    """Figures of all jobs in Prometheus's text form, at most ten seconds old."""
    return Response(await session.context.metrics.text(), media_type=_PROMETHEUS_TEXT)
