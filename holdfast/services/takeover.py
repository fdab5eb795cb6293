"""Takes over what dead workers had in hand, at once and not when their heartbeats are missed."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import PendingActivityState
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.api.workflowservice.v1 import ResetStickyTaskQueueRequest
from temporalio.client import Client, WorkflowExecutionDescription, WorkflowExecutionStatus
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from holdfast.services.lives import Death
from storage import jobs
from storage.database import Database

_MOST_JOBS = 1000
_AT_ONCE = 10
_AT_ONCE_AGAIN = timedelta(milliseconds=1)

log = structlog.get_logger(__name__)


async def take_over(client: Client, db: Database, task_queue: str, deaths: Sequence[Death]) -> None:
    """Free the open jobs of `task_queue` from workers that are known to be dead.

    A fault is logged and no more: heartbeats find a dead worker too, some seconds later.
    """
    if not deaths:
        return
    sweep = _Sweep(client, task_queue, {death.identity: death.died_at for death in deaths})
    try:
        job_ids = await jobs.open_ids(db, _MOST_JOBS)
        async with asyncio.TaskGroup() as group:
            for job_id in job_ids:
                group.create_task(sweep.free(job_id))
    except Exception:
        log.exception("takeover.broke")
    log.info("takeover.done", jobs=sweep.jobs, attempts=sweep.attempts)


@dataclass
class _Sweep:
    client: Client
    task_queue: str
    died_at: dict[str, datetime]
    jobs: int = 0
    attempts: int = 0
    room: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE))

    async def free(self, job_id: str) -> None:
        """Let any worker have the job's next workflow task, and its lost activities."""
        async with self.room:
            try:
                await self._free(job_id)
            except RPCError as error:
                # NOT_FOUND: it ended meanwhile, or has no workflow in Temporal.
                if error.status is not RPCStatusCode.NOT_FOUND:
                    log.warning("takeover.failed", job_id=job_id, error=error.message)

    async def _free(self, job_id: str) -> None:
        described = await self.client.get_workflow_handle(job_id).describe()
        if not self._is_ours(described):
            return
        self.jobs += 1
        lost = [
            self._fail(described, each)
            for each in described.raw_description.pending_activities
            if self._is_lost(each)
        ]
        await asyncio.gather(self._unstick(described), *lost)

    def _is_ours(self, described: WorkflowExecutionDescription) -> bool:
        is_open = described.status is WorkflowExecutionStatus.RUNNING
        return is_open and described.task_queue == self.task_queue

    def _is_lost(self, pending: PendingActivityInfo) -> bool:
        """Whether its attempt was the dead worker's; one that waits may be begun by now."""
        waits = pending.state == PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED
        return not waits and pending.last_worker_identity in self.died_at

    async def _unstick(self, described: WorkflowExecutionDescription) -> None:
        execution = WorkflowExecution(workflow_id=described.id, run_id=described.run_id)
        await self.client.workflow_service.reset_sticky_task_queue(
            ResetStickyTaskQueueRequest(namespace=self.client.namespace, execution=execution)
        )

    async def _fail(
        self, described: WorkflowExecutionDescription, lost: PendingActivityInfo
    ) -> None:
        """Fail the attempt that died; whoever has the next one reads how it ended."""
        dead = lost.last_worker_identity
        facts = {"worker": dead, "died_at": self.died_at[dead].isoformat()}
        handle = self.client.get_async_activity_handle(
            workflow_id=described.id, run_id=described.run_id, activity_id=lost.activity_id
        )
        error = ApplicationError(
            "the worker died", facts, type="WorkerDied", next_retry_delay=_AT_ONCE_AGAIN
        )
        try:
            await handle.fail(error)
            self.attempts += 1
        except RPCError as problem:
            # NOT_FOUND: its heartbeat was missed before, and it is retried already.
            if problem.status is not RPCStatusCode.NOT_FOUND:
                raise
