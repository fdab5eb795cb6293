"""Taking a job over: its epoch, and its structure and statuses in pages."""

from dataclasses import dataclass

from activities import interfaces
from activities.interfaces import implements
from models.jobs import FINAL, Job, JobStatus, StopReason
from models.orders import BeginOrder, JobBrief, ReadTasksOrder, TaskPage
from models.state import EndJob, TaskState
from storage import jobs, plans, views
from storage.database import Database

PAGE_BYTES = 20_000
"""Well below the 32 KB that no payload of ours may pass."""
_PAGE_TASKS = 200


@dataclass(frozen=True)
class Begin:
    """The activities that read a job's structure for the workflow."""

    db: Database

    @implements(interfaces.begin_job)
    async def begin_job(self, order: BeginOrder) -> JobBrief:
        epoch = await jobs.begin(self.db, order.job_id, order.run_id)
        job = await jobs.load(self.db, order.job_id)
        counts = await views.counts(self.db, order.job_id)
        question = " ".join(job.request.question.split())
        return JobBrief(
            epoch=epoch,
            label=question[:200],
            strategy=job.request.strategy,
            page=await _page(self.db, order.job_id, 0),
            attempt=job.attempt,
            is_paused=job.status is JobStatus.PAUSED,
            closing=_closing(job),
            outcome=_outcome(job),
            **counts.model_dump(),
        )

    @implements(interfaces.read_tasks)
    async def read_tasks(self, order: ReadTasksOrder) -> TaskPage:
        return await _page(self.db, order.job_id, order.after)


def _outcome(job: Job) -> EndJob | None:
    """How the job has ended, if it has: a run that was started too late changes nothing."""
    if job.status not in FINAL or job.stop_reason is None:
        return None
    return EndJob(status=job.status, reason=job.stop_reason, message=job.message)


def _closing(job: Job) -> EndJob | None:
    """How the job is to end again after its report: it had ended, and was reopened for that."""
    if job.status in FINAL or job.stop_reason is None:
        return None
    was_cancelled = job.stop_reason in (StopReason.CANCELLED, StopReason.PLAN_REFUSED)
    status = JobStatus.CANCELLED if was_cancelled else JobStatus.FAILED
    return EndJob(status=status, reason=job.stop_reason, message=job.message)


async def _page(db: Database, job_id: str, after: int) -> TaskPage:
    found = await plans.task_states(db, job_id, after, _PAGE_TASKS + 1)
    fitting = fitted(found[:_PAGE_TASKS])
    is_last = len(fitting) == len(found)
    return TaskPage(tasks=fitting, next_after=None if is_last else after + len(fitting))


def fitted(tasks: list[TaskState]) -> tuple[TaskState, ...]:
    """As many tasks, from the first on, as one payload may hold; at least one if there is any."""
    size, kept = 0, 0
    for task in tasks:
        size += len(task.model_dump_json().encode())
        if size > PAGE_BYTES and kept:
            break
        kept += 1
    return tuple(tasks[:kept])
