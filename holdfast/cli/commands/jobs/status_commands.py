"""Implement `holdfast status`."""

from holdfast.cli.installation_access import run_with_job
from holdfast.cli.render.status_lines import status_lines
from holdfast.cli.render.terminal_output import print_json, print_text
from holdfast.jobs.current_status import status_of


def status_command(job: str, *, json_output: bool) -> None:
    """Print running work, blockers, next actions and limits of the job."""
    document = run_with_job(job, status_of)
    if json_output:
        print_json(document)
        return
    for line in status_lines(document):
        print_text(line)
