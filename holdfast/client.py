"""The jobs as a program sees them: submit, look, wait. The command line is a thin layer on it."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING
from uuid import uuid4

from holdfast.prices import read_prices
from holdfast.settings import Endpoints, Settings
from holdfast.temporal import connect, ui_url
from models.errors import ServiceDown
from models.estimates import Comparison
from models.jobs import FINAL, Job, JobRequest, JobStatus
from models.orders import JobOrder
from models.spending import Spend
from models.views import JobLine, JobView, TaskView, TemporalView
from planning.comparing import compared
from storage import jobs, plans, recoveries, views
from storage.database import Database
from storage.estimates import Told, kept_estimate
from storage.plans import StoredTask
from storage.views import Spending

if TYPE_CHECKING:
    from temporalio.client import Client

_WORKFLOW_TASK = timedelta(seconds=3)
"""What a killed worker had just begun to decide is decided elsewhere after so long; a replay of the
longest run takes a second. The server's default is 10 s."""
_POLL = timedelta(milliseconds=100)
_CHECK_EVERY = timedelta(seconds=5)


@dataclass(frozen=True)
class Holdfast:
    """A connection to one installation."""

    settings: Settings
    endpoints: Endpoints
    db: Database

    async def submit(self, request: JobRequest, *, key: str | None = None) -> str:
        """Store the job and start its workflow; gives the job's id.

        With a `key`, submitting the same request again gives the same job.

        Raises:
            BadInput: the key belongs to another request.
            ServiceDown: Temporal does not answer; the job is stored and can be started again.
        """
        temporal = await connect(self.settings, self.endpoints)
        job_id, is_new = await jobs.submit(self.db, new_job_id(), request, key)
        if is_new or (await jobs.load(self.db, job_id)).status not in FINAL:
            await start_workflow(temporal, self.settings.task_queue, job_id, request)
        return job_id

    async def show(self, job_id: str) -> JobView:
        """The job with its tasks and what it spent.

        Raises:
            NotFound: there is no such job.
        """
        job = await jobs.load(self.db, job_id)
        tasks = await plans.load_tasks(self.db, job_id)
        spent = await views.spending(self.db, job_id)
        revisions = await plans.revisions(self.db, job_id)
        run_id = await views.run_id(self.db, job_id)
        told = await kept_estimate(self.db, job_id)
        return JobView(
            job_id=job.id,
            question=job.request.question,
            preset=job.request.preset,
            model=job.request.model,
            status=job.status.value,
            stop_reason=job.stop_reason.value if job.stop_reason else None,
            message=job.message,
            answer=job.answer,
            tasks=tuple(_task(each, spent.of_tasks) for each in tasks),
            replans=sum(each.cause == "replanned" for each in revisions),
            revision=len(revisions),
            depth=job.depth,
            breadth=job.breadth,
            tokens=spent.tokens,
            cost=spent.spent.total.cost,
            currency=read_prices(self.settings.config_file).currency,
            spent=spent.spent,
            estimate=told and _compared(job, told, spent),
            calls=spent.calls,
            repeated_calls=spent.repeated_calls,
            reused_calls=spent.reused_calls,
            recoveries=tuple(await recoveries.of_job(self.db, job_id)),
            config_hash=job.config_hash,
            created_at=job.created_at,
            seconds=_seconds(job),
            temporal=TemporalView(
                workflow_id=job_id,
                run_id=run_id,
                url=ui_url(self.settings, self.endpoints, job_id, run_id),
            ),
        )

    async def lines(self, limit: int, status: str | None, preset: str | None) -> list[JobLine]:
        """The newest jobs, a line each."""
        found = await jobs.newest(self.db, limit, status, preset)
        return [_line(job) for job in found]

    async def wait(
        self, job_id: str, within: timedelta | None = None, *, or_paused: bool = False
    ) -> Job:
        """The job once it has ended, `or_paused`; as it is, when `within` has passed before.

        Raises:
            NotFound: there is no such job.
        """
        awaited = FINAL | {JobStatus.PAUSED} if or_paused else FINAL
        loop = asyncio.get_running_loop()
        end = None if within is None else loop.time() + within.total_seconds()
        next_check = loop.time() + _CHECK_EVERY.total_seconds()
        while True:
            job = await jobs.load(self.db, job_id)
            if job.status in awaited or (end is not None and loop.time() >= end):
                return job
            if loop.time() >= next_check:
                await self.check_is_worked(job_id)
                next_check = loop.time() + _CHECK_EVERY.total_seconds()
            await asyncio.sleep(_POLL.total_seconds())

    async def check_is_worked(self, job_id: str) -> None:
        """Make sure that somebody may still end the job.

        Raises:
            ServiceDown: its workflow was ended from outside, so that nobody will.
        """
        from temporalio.client import WorkflowExecutionStatus
        from temporalio.service import RPCError

        temporal = await connect(self.settings, self.endpoints)
        try:
            described = await temporal.get_workflow_handle(job_id).describe()
        except RPCError as error:
            raise ServiceDown(
                f"Temporal knows no workflow of {job_id}: {error.message}; "
                f"`holdfast resume {job_id}` goes on from PostgreSQL"
            ) from error
        is_open = described.status in (None, WorkflowExecutionStatus.RUNNING)
        if is_open or (await jobs.load(self.db, job_id)).status in FINAL:
            return
        how = described.status.name.lower() if described.status else "closed"
        raise ServiceDown(
            f"job {job_id} will not end: its workflow is {how} in Temporal; "
            f"`holdfast resume {job_id}` goes on from PostgreSQL"
        )


@asynccontextmanager
async def connected(settings: Settings, endpoints: Endpoints) -> AsyncIterator[Holdfast]:
    """A connection to the installation at `endpoints`, closed at the end."""
    db = Database(endpoints.database_url, pool_size=4)
    try:
        yield Holdfast(settings, endpoints, db)
    finally:
        await db.close()


async def start_workflow(
    temporal: "Client",
    task_queue: str,
    job_id: str,
    request: JobRequest,
    *,
    delay: timedelta | None = None,
) -> None:
    """Start the job's workflow, unless it runs already.

    Raises:
        ServiceDown: Temporal refused.
    """
    from temporalio.common import (
        SearchAttributePair,
        TypedSearchAttributes,
        WorkflowIDConflictPolicy,
        WorkflowIDReusePolicy,
    )
    from temporalio.service import RPCError

    from workflows.display import OWNER, PRESET, STATUS

    question = " ".join(request.question.split())
    pairs = [
        SearchAttributePair(STATUS, JobStatus.QUEUED.value),
        SearchAttributePair(PRESET, request.preset),
    ]
    if request.owner:
        pairs.append(SearchAttributePair(OWNER, request.owner))
    try:
        await temporal.start_workflow(
            "research_job",
            JobOrder(job_id=job_id),
            id=job_id,
            task_queue=task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            # Whether there is work left is for PostgreSQL to say: a run of a job that has ended
            # changes nothing.
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
            start_delay=delay,
            task_timeout=_WORKFLOW_TASK,
            static_summary=question[:180],
            static_details=_details(job_id, request),
            memo={"preset": request.preset, "model": request.model},
            search_attributes=TypedSearchAttributes(pairs),
        )
    except RPCError as error:
        raise ServiceDown(
            f"job {job_id} is stored, but Temporal did not start it ({error.message}); start it "
            f"with `holdfast resume {job_id}` once Temporal answers"
        ) from error


def _details(job_id: str, request: JobRequest) -> str:
    """What the Temporal UI says of the job beside its question, as Markdown."""
    owner = f" for {request.owner}" if request.owner else ""
    work = f"preset `{request.preset}`, model `{request.model}`{owner}"
    return f"{work}\n\n`holdfast show {job_id}` has the findings, the calls and the cost."


def new_job_id() -> str:
    """A job id that sorts by time and can be typed: `job-261121-1432-9f3a6c`."""
    return f"job-{datetime.now(UTC):%y%m%d-%H%M}-{uuid4().hex[:6]}"


def _compared(job: Job, told: Told, spent: Spending) -> Comparison:
    end = job.finished_at if job.status in FINAL else datetime.now(UTC)
    tool_calls, took = spent.calls.tool, _between(told.at, end)
    return compared(told.estimate, spent.spent, tool_calls=tool_calls, seconds=took)


def _task(stored: StoredTask, spent: Mapping[str, Spend]) -> TaskView:
    task = stored.task
    paid = spent.get(task.id, Spend(name=task.id, calls=0, cost=Decimal(0)))
    return TaskView(
        id=task.id,
        kind=task.kind.value,
        description=task.description,
        tool=task.tool,
        agent=task.agent,
        parent=task.parent,
        status=task.status.value,
        depends_on=task.depends_on,
        priority=task.priority,
        attempt=stored.attempt,
        root=stored.root,
        confidence=stored.confidence,
        entities=dict(task.result),
        failure=stored.failure.model_dump(mode="json") if stored.failure else None,
        seconds=_between(stored.started_at, stored.finished_at),
        tokens=paid.tokens,
        cost=paid.cost,
    )


def _line(job: Job) -> JobLine:
    return JobLine(
        job_id=job.id,
        question=job.request.question,
        preset=job.request.preset,
        model=job.request.model,
        status=job.status.value,
        stop_reason=job.stop_reason.value if job.stop_reason else None,
        answer=job.answer,
        created_at=job.created_at,
        seconds=_seconds(job),
    )


def _seconds(job: Job) -> float | None:
    """From submission to the end, or until now while it runs."""
    if job.status in FINAL:
        return _between(job.created_at, job.finished_at)
    return _between(job.created_at, datetime.now(UTC))


def _between(start: datetime | None, end: datetime | None) -> float | None:
    return round((end - start).total_seconds(), 3) if start and end else None
