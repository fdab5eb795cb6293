"""Format a list of jobs as a table."""

from collections.abc import Iterable

from holdfast.cli.render.plain_table import PlainTable, plain_table
from holdfast.cli.render.terminal_output import shortened_line
from holdfast.jobs.record_in_words import ending_words
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
        shortened_line(job.answer or _how_it_ended(job), 50),
    )


def _how_it_ended(job: JobLine) -> str:
    """In brackets, because it is no answer; empty if the job has not ended."""
    return f"({ending_words(job.status, job.stop_reason)})" if job.stop_reason else ""
