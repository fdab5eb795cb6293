"""Implement `holdfast list` and `show`."""

from holdfast.cli.installation_access import run_with_client, run_with_job
from holdfast.cli.render.job_lines import job_lines
from holdfast.cli.render.job_table import job_table
from holdfast.cli.render.task_table import task_table
from holdfast.cli.render.terminal_output import console, print_json, print_text
from holdfast.client import Holdfast
from holdfast.jobs.current_status import status_of
from holdfast.jobs.job_lookup import newest_jobs
from holdfast.models.jobs.job_filter import JobFilter
from holdfast.models.jobs.job_record import JobStatus
from holdfast.models.views.job_views import JobView


def list_jobs_command(
    limit: int, status: str | None, preset: str | None, *, json_output: bool
) -> None:
    """Print the newest jobs."""
    which = JobFilter(limit=limit, status=status, preset=preset)
    jobs = run_with_client(lambda holdfast: newest_jobs(holdfast, which))
    if json_output:
        print_json(jobs)
    elif not jobs:
        print_text('no jobs yet; ask a question with `holdfast run "..."`')
    else:
        console().print(job_table(jobs))


def show_command(job: str, *, json_output: bool) -> None:
    """Print the job with its tasks."""

    async def read(holdfast: Holdfast, job_id: str) -> tuple[JobView, tuple[str, ...]]:
        view = await holdfast.show(job_id)
        if json_output or JobStatus(view.status).is_final:
            return view, ()
        return view, (await status_of(holdfast, job_id)).blocked_by

    view, blocked_by = run_with_job(job, read)
    if json_output:
        print_json(view)
        return
    for line in (*job_lines(view), *(f"blocked:  {reason}" for reason in blocked_by)):
        print_text(line)
    console().print(task_table(view))
