"""Load what stands at the top of every page of a job, without the job's tasks and calls."""

from holdfast.client import Holdfast
from holdfast.job_view_assembly import job_line
from holdfast.models.views.job_views import JobLine
from holdfast.storage.evidence.evidence_rows import has_report
from holdfast.storage.forks.fork_rows import forks_of
from holdfast.storage.jobs import job_rows
from holdfast.storage.views.answer_queries import AnswerState, load_answer_states
from holdfast.storage.views.idle_spans import load_idle_spans


class JobHead(JobLine):
    """The job's line with its relatives, and whether a tab leads to its report."""

    follows: str | None
    forked_from: str | None
    forks: tuple[str, ...]
    has_report: bool


async def load_job_head(holdfast: Holdfast, job_id: str) -> JobHead:
    """The head of the job's pages.

    Raises:
        NotFound: there is no such job.
    """
    job = await job_rows.load_job(holdfast.db, job_id)
    states = await load_answer_states(holdfast.db, [job_id])
    idle = await load_idle_spans(holdfast.db, [job])
    line = job_line(job, states.get(job_id, AnswerState()), idle.get(job_id, ()))
    return JobHead(
        **line.model_dump(),
        follows=job.request.followed_job,
        forked_from=(job.request.fork.job or None) if job.request.fork else None,
        forks=tuple(await forks_of(holdfast.db, job_id)),
        has_report=await has_report(holdfast.db, job_id),
    )
