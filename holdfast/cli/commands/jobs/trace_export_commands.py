"""Implement `holdfast otel`: send the trace of a job to an OpenTelemetry collector."""

from holdfast.cli.installation_access import run_with_job
from holdfast.cli.render.terminal_output import print_json, print_text
from holdfast.client import Holdfast
from holdfast.observability.trace_export import SentTrace, send_trace


def otel_command(job: str, *, json_output: bool) -> None:
    """Send the spans of the job that are settled, and print the id of its trace."""

    async def send(holdfast: Holdfast, job_id: str) -> SentTrace:
        return await send_trace(holdfast.db, job_id)

    sent = run_with_job(job, send)
    if json_output:
        print_json(sent)
    else:
        print_text(f"sent {sent.spans} spans of {sent.job_id} as trace {sent.trace_id}")
