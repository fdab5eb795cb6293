"""Release the workflow tasks and activities of dead workers at once, before heartbeats time out."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import PendingActivityState
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.api.workflowservice.v1 import ResetStickyTaskQueueRequest
from temporalio.client import (
    Client,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowQueryFailedError,
)
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from holdfast.services.supervisor.worker_identity import WorkerDeath
from holdfast.storage.core.database import Database
from holdfast.storage.jobs import job_rows, worker_stall_rows

_MAX_JOBS = 1000
_CONCURRENT_JOBS = 10
_RETRY_DELAY = timedelta(milliseconds=1)
_REPLAY_DELAY_S = 0.1
"""The released activities send their calls first; a replay then takes none of their time."""
_REPLAY_TIMEOUT = timedelta(seconds=10)
_METADATA_QUERY = "__temporal_workflow_metadata"
"""A query that the SDK answers for every workflow."""

log = structlog.get_logger(__name__)


async def record_stalls(db: Database, deaths: Sequence[WorkerDeath]) -> None:
    """Store which activities have stalled workers; a stall that is known is passed over.

    Raises:
        StorageAway: PostgreSQL does not answer.
    """
    for death in deaths:
        if death.stalled_in is not None:
            await worker_stall_rows.record_stall(
                db, death.identity, death.stalled_in, death.died_at
            )


async def take_over_work(
    client: Client, db: Database, task_queue: str, deaths: Sequence[WorkerDeath]
) -> None:
    """Release the open jobs of `task_queue` from dead workers.

    A fault is only logged: missed heartbeats release the jobs too, some seconds later.
    """
    if not deaths:
        return
    sweep = _Takeover(client, task_queue, {death.identity: death.died_at for death in deaths})
    try:
        job_ids = await job_rows.open_job_ids(db, _MAX_JOBS)
        async with asyncio.TaskGroup() as group:
            for job_id in job_ids:
                group.create_task(sweep.release_job(job_id))
    except Exception:
        log.exception("takeover.broke")
    log.info("takeover.done", jobs=sweep.released, attempts=sweep.attempts)
    await asyncio.sleep(_REPLAY_DELAY_S)
    await asyncio.gather(*(sweep.replay(described) for described in sweep.interrupted))


@dataclass
class _Takeover:
    client: Client
    task_queue: str
    died_at: dict[str, datetime]
    released: int = 0
    attempts: int = 0
    interrupted: list[WorkflowExecutionDescription] = field(default_factory=list)
    room: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_CONCURRENT_JOBS))

    async def release_job(self, job_id: str) -> None:
        """Release the job's next workflow task and its lost activities to any worker."""
        async with self.room:
            try:
                await self._free(job_id)
            except RPCError as error:
                # NOT_FOUND: the workflow ended meanwhile, or Temporal has none.
                if error.status is not RPCStatusCode.NOT_FOUND:
                    log.warning("takeover.failed", job_id=job_id, error=error.message)

    async def _free(self, job_id: str) -> None:
        described = await self.client.get_workflow_handle(job_id).describe()
        if not self._is_ours(described):
            return
        self.released += 1
        lost = [
            self._fail(described, activity)
            for activity in described.raw_description.pending_activities
            if self._is_lost(activity)
        ]
        await asyncio.gather(self._unstick(described), *lost)
        if lost:
            self.interrupted.append(described)

    async def replay(self, described: WorkflowExecutionDescription) -> None:
        """Have a workflow replayed while its activities run, and not when the first of them ends.

        A query is answered by a worker that has the workflow in memory, and writes no history.
        """
        async with self.room:
            handle = self.client.get_workflow_handle(described.id, run_id=described.run_id)
            try:
                await handle.query(_METADATA_QUERY, rpc_timeout=_REPLAY_TIMEOUT)
            except (RPCError, WorkflowQueryFailedError) as error:
                log.info("takeover.not_replayed", job_id=described.id, error=error.message)
            else:
                log.info("takeover.replayed", job_id=described.id)

    def _is_ours(self, described: WorkflowExecutionDescription) -> bool:
        is_open = described.status is WorkflowExecutionStatus.RUNNING
        return is_open and described.task_queue == self.task_queue

    def _is_lost(self, pending: PendingActivityInfo) -> bool:
        """True if a dead worker ran the attempt; a waiting activity may have started by now."""
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
        """Fail the lost attempt, with a reason for the next attempt."""
        dead = lost.last_worker_identity
        facts = {"worker": dead, "died_at": self.died_at[dead].isoformat()}
        handle = self.client.get_async_activity_handle(
            workflow_id=described.id, run_id=described.run_id, activity_id=lost.activity_id
        )
        error = ApplicationError(
            "the worker died", facts, type="WorkerDied", next_retry_delay=_RETRY_DELAY
        )
        try:
            await handle.fail(error)
            self.attempts += 1
        except RPCError as problem:
            # NOT_FOUND: Temporal noticed the missed heartbeat and has already retried the activity.
            if problem.status is not RPCStatusCode.NOT_FOUND:
                raise
