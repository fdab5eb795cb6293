"""Gather what the page of one job shows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from holdfast.client import Holdfast
from holdfast.jobs.current_status import status_of_job
from holdfast.models.calls.call_records import CallView
from holdfast.models.errors import NotFound
from holdfast.models.evidence.evidence import Report, StoredEvidence
from holdfast.models.jobs.idle_span import IdleSpan
from holdfast.models.jobs.job_record import Job
from holdfast.models.plans.research_plan import ExpectedEntity, TaskStatus
from holdfast.models.plans.stored_plan_change import StoredPlanChange
from holdfast.models.tasks.stored_task import StoredTask
from holdfast.models.text.value_text import value_as_text
from holdfast.models.views.job_views import JobView
from holdfast.models.views.status_views import StatusDocument
from holdfast.models.wire.stored_keys import ATTEMPT_SEPARATOR
from holdfast.storage.core.database import Database
from holdfast.storage.evidence.evidence_rows import evidence_of, load_report
from holdfast.storage.views import job_queries

_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class JobPage:
    """The records of one job that its page is made of."""

    job: Job
    view: JobView
    status: StatusDocument
    tasks: Sequence[StoredTask]
    changes: Sequence[StoredPlanChange]
    calls: Sequence[CallView]
    idle: Sequence[IdleSpan]
    report: Report | None

    def task(self, task_id: str) -> StoredTask:
        """The task.

        Raises:
            NotFound: the job has no such task.
        """
        return find_task(self.tasks, self.job.id, task_id)


def find_task(tasks: Sequence[StoredTask], job_id: str, task_id: str) -> StoredTask:
    """The task among those of the job.

    Raises:
        NotFound: the job has no such task.
    """
    for each in tasks:
        if each.task.id == task_id:
            return each
    raise NotFound(f"job {job_id} has no task {task_id[:60]!r}")


def first_shown_task(tasks: Sequence[StoredTask]) -> str:
    """The task to show while nobody has chosen one; empty if none has begun.

    One that runs, else one that failed and was not replaced, else the one that ended last.
    """
    own = [each for each in tasks if not each.task.parent and each.started_at is not None]
    for status in (TaskStatus.RUNNING, TaskStatus.FAILED):
        for each in own:
            if each.task.status is status:
                return each.task.id
    ended = [
        each for each in own if each.finished_at is not None and not each.task.status.is_discarded
    ]
    return max(ended, key=lambda each: each.finished_at or _NEVER).task.id if ended else ""


async def load_job_page(holdfast: Holdfast, job_id: str) -> JobPage:
    """The job's records.

    Raises:
        NotFound: there is no such job.
    """
    async with holdfast.db.shared_reading() as db:
        stored = replace(holdfast, db=db)
        records = await stored.load_records(job_id)
        view = await stored.view(records)
        calls = await job_queries.job_calls(db, job_id)
        report = await load_report(db, job_id)
    spent = records.spending.spent.total
    return JobPage(
        job=records.job,
        view=view,
        status=await status_of_job(holdfast, records.job, spent, records.stages, report),
        tasks=records.tasks,
        changes=records.plan_changes,
        calls=calls,
        idle=records.idle,
        report=report,
    )


@dataclass(frozen=True)
class Promise:
    """A value that a task promises: found, weak, missing, or still open."""

    entity: ExpectedEntity
    state: str
    value: str
    confidence: float | None
    quotes: tuple[StoredEvidence, ...]


@dataclass(frozen=True)
class TaskDetails:
    """What the page shows of one task."""

    stored: StoredTask
    promises: tuple[Promise, ...]
    calls: tuple[CallView, ...]
    steps: tuple[StoredTask, ...]
    is_loop: bool


async def load_task_details(db: Database, page: JobPage, task_id: str) -> TaskDetails:
    """One task with its promises, quotes, calls and steps.

    Raises:
        NotFound: the job has no such task.
    """
    stored = page.task(task_id)
    quotes = await evidence_of(db, page.job.id, task_id)
    steps = tuple(each for each in page.tasks if each.task.parent == task_id)
    calls = tuple(each for each in page.calls if _task_of(each) == task_id)
    return TaskDetails(
        stored=stored,
        promises=tuple(_promise(stored, each, quotes) for each in stored.task.expects),
        calls=calls,
        steps=steps,
        is_loop=any("loop" in each.role for each in calls),
    )


def _task_of(call: CallView) -> str:
    return call.task.partition(ATTEMPT_SEPARATOR)[0]


def _promise(
    stored: StoredTask, entity: ExpectedEntity, quotes: Sequence[StoredEvidence]
) -> Promise:
    shown = tuple(each for each in quotes if each.entity == entity.name)
    if entity.name in stored.task.result:
        value = value_as_text(stored.task.result[entity.name])
        return Promise(entity, "found", value, stored.confidence, shown)
    weak = {each.name: each for each in stored.failure.weak_values} if stored.failure else {}
    if entity.name in weak:
        value = value_as_text(weak[entity.name].value)
        return Promise(entity, "weak", value, weak[entity.name].confidence, shown)
    status = stored.task.status
    state = "replaced" if status.is_discarded else "missing" if status.is_final else "open"
    return Promise(entity, state, "", None, shown)
