"""Start the workflows of jobs that have none, so that no person has to.

A job has no workflow if its client ended while submitting, if Temporal has lost its data, or if
its workflow was terminated. A lost workflow cannot write any more once its job is released: the
next run has the next epoch.
"""

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import timedelta

import structlog
from temporalio.client import Client

from holdfast.models.errors import BadInput
from holdfast.models.jobs.job_record import Job, JobStatus
from holdfast.models.wire.event_kinds import EventKind
from holdfast.storage.core.database import Database
from holdfast.storage.jobs import job_control_rows, job_rows
from holdfast.temporal.workflow_handle import find_open_workflow, open_workflow_ids
from holdfast.temporal.workflow_start import start_workflow
from holdfast.workflows.control_updates import ENGINE_ACTOR

INTERVAL_S = 10.0
_CLIENTS_TIME = timedelta(seconds=10)
"""A client that lives has started the workflow of its job within this time."""
_MAX_JOBS = 1000
_LONGEST_PAUSE = 360
"""The most looks, an hour, before the workflow of a job is started again that ends at once."""

log = structlog.get_logger(__name__)


@dataclass
class LostWorkflowStart:
    """Starts the workflows of this task queue's jobs that have none."""

    client: Client
    db: Database
    task_queue: str
    _starts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    _looks_to_wait: dict[str, int] = field(default_factory=dict)

    async def repeat(self) -> None:
        """Look for such jobs now and every ten seconds, until cancelled."""
        while True:
            try:
                await self.start_all()
            except Exception as error:
                log.warning(
                    "lost_workflows.not_started", kind=type(error).__name__, error=str(error)
                )
            await asyncio.sleep(INTERVAL_S)

    async def start_all(self) -> None:
        """Start the workflow of each open job that has none."""
        jobs = await job_rows.open_jobs(self.db, _CLIENTS_TIME, _MAX_JOBS)
        if not jobs:
            return
        is_open = await open_workflow_ids(self.client, self.task_queue)
        for job in jobs:
            if job.id not in is_open and self._is_due(job.id):
                await self._start(job)

    def _is_due(self, job_id: str) -> bool:
        """False while a workflow that ended again and again has to wait for its next start."""
        self._looks_to_wait[job_id] = self._looks_to_wait.get(job_id, 1) - 1
        return self._looks_to_wait[job_id] <= 0

    async def _start(self, job: Job) -> None:
        # The list of workflows can be older than the job.
        if await find_open_workflow(self.client, job.id) is not None:
            return
        if job.status is not JobStatus.QUEUED and not await self._is_released(job):
            return
        await start_workflow(self.client, self.task_queue, job.id, job.request)
        self._starts[job.id] += 1
        self._looks_to_wait[job.id] = min(2 ** (self._starts[job.id] - 1), _LONGEST_PAUSE)
        log.info("lost_workflow.started", job_id=job.id, starts=self._starts[job.id])

    async def _is_released(self, job: Job) -> bool:
        """Release the job from its lost run; False if somebody else has changed the job."""
        try:
            async with job_rows.unchanged_job(self.db, job) as write:
                await job_control_rows.release_from_lost_run(write)
                if job.status is not JobStatus.PAUSED:
                    write.event(EventKind.JOB_RESUMED, by=ENGINE_ACTOR, lost="workflow")
        except BadInput:
            return False
        return True
