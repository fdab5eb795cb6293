"""The Python client of one installation: submit jobs, show jobs and wait for their end."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

from pydantic import JsonValue

from holdfast.configuration.price_settings import read_prices
from holdfast.job_view_assembly import JobRecords, job_line, job_view
from holdfast.models.errors import ServiceDown
from holdfast.models.jobs.job_filter import JobFilter
from holdfast.models.jobs.job_record import FINAL_JOB_STATUSES, Job, JobRequest, JobStatus
from holdfast.models.views.job_views import JobLine, JobView, TemporalView
from holdfast.settings import Endpoints, Settings
from holdfast.storage.core.database import Database
from holdfast.storage.forks.fork_rows import forks_of
from holdfast.storage.jobs import job_rows
from holdfast.storage.jobs.job_estimates import load_estimate
from holdfast.storage.ledger import job_recovery_rows
from holdfast.storage.plans import plan_change_rows, task_queries
from holdfast.storage.views import job_queries
from holdfast.storage.views.answer_queries import AnswerState, load_answer_states
from holdfast.storage.views.idle_spans import load_idle_spans
from holdfast.storage.views.job_stage_queries import job_stages_of
from holdfast.storage.views.status_and_last_event import load_job_progress
from holdfast.temporal.temporal_connection import connect, ui_url
from holdfast.temporal.workflow_start import start_workflow

if TYPE_CHECKING:
    from temporalio.client import Client

_POLL_INTERVAL = timedelta(milliseconds=100)
_CHECK_INTERVAL = timedelta(seconds=5)
_MAX_FAILED_CHECKS = 4
"""A worker starts a lost workflow within ten seconds, so only later checks count."""


@dataclass(frozen=True)
class Holdfast:
    """A connection to one installation."""

    settings: Settings
    endpoints: Endpoints
    db: Database
    temporal: "Client | None" = None
    """An open connection to Temporal, as a worker has one; None: requests that need one open it."""
    _connecting: "list[asyncio.Task[Client]]" = field(
        default_factory=list, repr=False, compare=False
    )
    """The connection that is being opened for all requests that wait for one, if there is one.

    A list, so that the copies which `on_behalf_of` makes share it.
    """
    _open: "list[Client]" = field(default_factory=list, repr=False, compare=False)
    """The connection that stays open for readings, if there is one; shared in the same way."""

    def on_behalf_of(self, owner: str | None) -> "Holdfast":
        """The installation as the owner may see it; None: all of it."""
        return self if owner is None else replace(self, db=self.db.on_behalf_of(owner))

    async def submit(
        self,
        request: JobRequest,
        *,
        key: str | None = None,
        key_id: str = "",
        prepare: job_rows.Preparation | None = None,
        asked: JsonValue = None,
    ) -> str:
        """Store the job and start its workflow; returns the job's id.

        Submitting the same request again with the same `key` returns the same job. `key_id` is the
        API key of the request. `prepare` writes what a new job begins with. `asked` is what counts
        as the same request, if it is not `request` itself.

        Raises:
            BadInput: the key belongs to another request.
            ServiceDown: Temporal does not answer; the job is stored and can be started again.
        """
        temporal = self.temporal or await self.shared_connection()
        job_id, is_new = await job_rows.submit_job(
            self.db, new_job_id(), request, key, prepare, key_id=key_id, asked=asked
        )
        if is_new or not (await load_job_progress(self.db, job_id)).has_ended:
            await start_workflow(temporal, self.settings.task_queue, job_id, request)
        return job_id

    async def shared_connection(self) -> "Client":
        """Open a connection to Temporal; requests that need one at the same time share it.

        Of 200 that are opened at once, most take longer than a connection may.

        Raises:
            ServiceDown: Temporal does not answer.
        """
        if not self._connecting:
            opening = asyncio.create_task(connect(self.settings, self.endpoints))
            self._connecting.append(opening)
            opening.add_done_callback(self._connecting.remove)
        return await asyncio.shield(self._connecting[0])

    @property
    def has_reading_connection(self) -> bool:
        """True if a connection for readings is open, which may have lost its server since."""
        return self.temporal is not None or bool(self._open)

    async def reading_connection(self) -> "Client":
        """Return a connection to Temporal for readings; it stays open for the next of them.

        A reading that gets no answer over it calls `forget_connection`: the next one then finds a
        server that is away as fast as a new connection does.

        Raises:
            ServiceDown: Temporal does not answer.
        """
        if self.temporal is not None:
            return self.temporal
        if not self._open:
            opened = await self.shared_connection()
            self._open[:] = [opened]
        return self._open[0]

    def forget_connection(self, connection: "Client") -> None:
        """Use another connection for later readings than this one, which gave no answer."""
        self._open[:] = [each for each in self._open if each is not connection]

    async def show(self, job_id: str) -> JobView:
        """The job with its tasks and its spending.

        Raises:
            NotFound: there is no such job.
        """
        return await self.view(await self.load_records(job_id))

    async def load_records(self, job_id: str) -> JobRecords:
        """What PostgreSQL stores about the job.

        Raises:
            NotFound: there is no such job.
        """
        job = await job_rows.load_job(self.db, job_id)
        # Before the tasks: a plan that changes between the two is newer than its revision here, so
        # an answer about the plan is refused. The other way round, it would count for another plan.
        changes = await plan_change_rows.load_plan_changes(self.db, job_id)
        spending = await job_queries.job_spending(self.db, job_id)
        return JobRecords(
            job=job,
            answer_state=(await load_answer_states(self.db, [job_id])).get(job_id, AnswerState()),
            tasks=await task_queries.load_tasks(self.db, job_id),
            spending=spending,
            stages=await job_stages_of(self.db, job, spending.bills, changes),
            plan_changes=changes,
            estimate=await load_estimate(self.db, job_id),
            recoveries=await job_recovery_rows.recoveries_of(self.db, job_id),
            forks=await forks_of(self.db, job_id),
            idle=(await load_idle_spans(self.db, [job])).get(job_id, ()),
        )

    async def view(self, records: JobRecords) -> JobView:
        """The view of the job whose records were loaded."""
        job_id = records.job.id
        run_id = await job_queries.load_workflow_run_id(self.db, job_id)
        ran_here = run_id is not None or not records.job.status.is_final
        temporal = TemporalView(
            workflow_id=job_id,
            run_id=run_id,
            url=ui_url(self.settings, self.endpoints, job_id, run_id) if ran_here else None,
        )
        return job_view(records, temporal, read_prices(self.settings.config_file).currency)

    async def list_jobs(self, which: JobFilter) -> list[JobLine]:
        """The jobs of the filter, the newest first.

        Raises:
            NotFound: there is no job `which.after`.
        """
        jobs = await job_rows.load_newest_jobs(self.db, which)
        states = await load_answer_states(self.db, [job.id for job in jobs])
        idle = await load_idle_spans(self.db, jobs)
        return [
            job_line(job, states.get(job.id, AnswerState()), idle.get(job.id, ())) for job in jobs
        ]

    async def wait(
        self, job_id: str, within: timedelta | None = None, *, or_paused: bool = False
    ) -> Job:
        """The job once it has ended (or paused, with `or_paused`), or after the time `within`.

        Raises:
            NotFound: there is no such job.
        """
        awaited = FINAL_JOB_STATUSES | {JobStatus.PAUSED} if or_paused else FINAL_JOB_STATUSES
        loop = asyncio.get_running_loop()
        end = None if within is None else loop.time() + within.total_seconds()
        next_check = loop.time() + _CHECK_INTERVAL.total_seconds()
        failed_checks = 0
        while True:
            status = await job_rows.load_job_status(self.db, job_id)
            is_late = end is not None and loop.time() >= end
            if status in awaited or is_late:
                job = await job_rows.load_job(self.db, job_id)
                if job.status in awaited or is_late:  # else it went on in between
                    return job
            if loop.time() >= next_check:
                try:
                    await self.check_workflow_is_open(job_id)
                    failed_checks = 0
                except ServiceDown:
                    failed_checks += 1
                    if failed_checks >= _MAX_FAILED_CHECKS:
                        raise
                next_check = loop.time() + _CHECK_INTERVAL.total_seconds()
            await asyncio.sleep(_POLL_INTERVAL.total_seconds())

    async def check_workflow_is_open(self, job_id: str) -> None:
        """Check that the job's workflow can still end the job.

        Raises:
            ServiceDown: the workflow is lost or was ended from outside.
        """
        from temporalio.client import WorkflowExecutionStatus
        from temporalio.service import RPCError

        temporal = await connect(self.settings, self.endpoints)
        try:
            description = await temporal.get_workflow_handle(job_id).describe()
        except RPCError as error:
            raise ServiceDown(
                f"Temporal has no workflow of {job_id}: {error.message}; "
                f"a worker starts it again, or `holdfast resume {job_id}` does"
            ) from error
        is_open = description.status in (None, WorkflowExecutionStatus.RUNNING)
        if is_open or (await job_rows.load_job(self.db, job_id)).status.is_final:
            return
        how = description.status.name.lower() if description.status else "closed"
        raise ServiceDown(
            f"the workflow of job {job_id} is {how} in Temporal before the job has ended; "
            f"a worker starts it again, or `holdfast resume {job_id}` does"
        )


@asynccontextmanager
async def open_client(settings: Settings, endpoints: Endpoints) -> AsyncIterator[Holdfast]:
    """A connection to the installation at `endpoints`, closed at the end."""
    db = Database(endpoints.database_url, pool_size=settings.pool_size)
    try:
        yield Holdfast(settings, endpoints, db)
    finally:
        await db.close()


def new_job_id() -> str:
    """A job id that sorts by time and can be typed: `job-261121-1432-9f3a6c`."""
    return f"job-{datetime.now(UTC):%y%m%d-%H%M}-{uuid4().hex[:6]}"
