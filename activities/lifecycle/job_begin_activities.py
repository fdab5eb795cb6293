"""Take over a job for a workflow run and read its tasks and statuses in pages."""

from dataclasses import dataclass

from holdfast.activities import interfaces
from holdfast.activities.interfaces import implements
from holdfast.activities.runtime.activity_services import Services
from holdfast.activities.runtime.pending_task_states import fit_tasks_to_page
from holdfast.models.jobs.activity_orders import (
    BeginOrder,
    JobBrief,
    ReadTasksOrder,
    RunOrder,
    TaskPage,
)
from holdfast.models.jobs.job_record import Job, JobStatus, StopReason
from holdfast.models.jobs.job_state import EndJob
from holdfast.storage.core import event_marks
from holdfast.storage.core.database import Database
from holdfast.storage.jobs import job_rows
from holdfast.storage.plans import task_queries
from holdfast.storage.views import job_queries

_PAGE_TASKS = 200


@dataclass(frozen=True)
class JobBeginActivities:
    """The activities that read a job's structure for the workflow."""

    services: Services

    @implements(interfaces.begin_job)
    async def begin_job(self, order: BeginOrder) -> JobBrief:
        db = self.services.db
        epoch = await job_rows.begin_job_run(db, order.job_id, order.run_id, order.after_epoch)
        newest = await event_marks.newest_event(db, order.job_id)
        job = await job_rows.load_job(db, order.job_id)
        counts = await job_queries.job_counts(db, order.job_id)
        question = " ".join(job.request.question.split())
        return JobBrief(
            epoch=epoch,
            seen=newest,
            label=question[:200],
            strategy=job.request.strategy,
            page=await _read_task_page(db, order.job_id, 0),
            attempt=job.attempt,
            is_paused=job.status is JobStatus.PAUSED,
            closing=_ending_after_report(job),
            outcome=_recorded_ending(job),
            **counts.model_dump(),
        )

    @implements(interfaces.read_tasks)
    async def read_tasks(self, order: ReadTasksOrder) -> TaskPage:
        return await _read_task_page(self.services.db, order.job_id, order.after)

    @implements(interfaces.compare_state)
    async def compare_state(self, order: RunOrder) -> None:
        await event_marks.refuse_if_behind(self.services.db, order)


def _recorded_ending(job: Job) -> EndJob | None:
    """The recorded end of the job, if there is one: a run that starts later changes nothing."""
    if not job.status.is_final or job.stop_reason is None:
        return None
    return EndJob(status=job.status, reason=job.stop_reason, message=job.message)


def _ending_after_report(job: Job) -> EndJob | None:
    """How a finished job that was reopened for its report ends again after the report."""
    if job.status.is_final or job.stop_reason is None:
        return None
    was_cancelled = job.stop_reason in (StopReason.CANCELLED, StopReason.PLAN_REFUSED)
    status = JobStatus.CANCELLED if was_cancelled else JobStatus.FAILED
    return EndJob(status=status, reason=job.stop_reason, message=job.message)


async def _read_task_page(db: Database, job_id: str, after: int) -> TaskPage:
    tasks = await task_queries.task_states(db, job_id, after, _PAGE_TASKS + 1)
    page = fit_tasks_to_page(tasks[:_PAGE_TASKS])
    is_last = len(page) == len(tasks)
    return TaskPage(tasks=page, next_after=None if is_last else after + len(page))
