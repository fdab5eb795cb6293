"""Implement `holdfast trace`: follow a citation back to its passage, calls and history."""

from holdfast.cli.installation_access import run_with_job
from holdfast.cli.render.evidence.trace_lines import trace_lines
from holdfast.cli.render.terminal_output import print_json, print_text
from holdfast.client import Holdfast
from holdfast.evidence.report_provenance import provenance_of
from holdfast.models.reports.provenance_views import Provenance


def trace_command(job: str, mark: int, *, json_output: bool) -> None:
    """Print the provenance; without Temporal its history is missing, and a note says so."""

    async def read(holdfast: Holdfast, job_id: str) -> Provenance:
        return await provenance_of(holdfast, job_id, mark)

    provenance = run_with_job(job, read)
    if json_output:
        print_json(provenance)
        return
    for line in trace_lines(provenance):
        print_text(line)
