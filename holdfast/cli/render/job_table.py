"""Format a list of jobs as a table."""

from collections.abc import Iterable

from holdfast.cli.render.plain_table import PlainTable, plain_table
from holdfast.cli.render.terminal_output import shortened_line
from holdfast.models.views.job_views import JobLine


def job_table(jobs: Iterable[JobLine]) -> PlainTable:
    """Each job with its status, preset, seconds, question and answer."""
    columns = ("job", "status", "preset", "seconds", "question", "answer")
    return plain_table(columns, [_row(job) for job in jobs])


def _row(job: JobLine) -> tuple[object, ...]:
    return (
        job.job_id,
        job.status,
        job.preset,
        "" if job.seconds is None else f"{job.seconds:.1f}",
        shortened_line(job.question, 60),
        shortened_line(job.answer or job.stop_reason or "", 50),
    )
