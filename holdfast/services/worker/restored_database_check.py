"""Let idle workflows compare themselves with PostgreSQL, which may be restored from a backup.

A workflow that runs activities notices a restored PostgreSQL by itself
(`workflows/database_comparison.py`). A paused workflow, or one that waits for an answer, runs none:
it gets a signal when a worker starts and when PostgreSQL has started or its tables are new.
"""

import asyncio

import structlog
from temporalio.client import Client, WorkflowHandle
from temporalio.service import RPCError

from holdfast.storage.core.database import Database
from holdfast.storage.core.event_marks import tables_in_use
from holdfast.temporal.workflow_handle import open_workflow_ids

_INTERVAL_S = 10.0

log = structlog.get_logger(__name__)


async def check_for_restored_database(client: Client, db: Database, task_queue: str) -> None:
    """Signal the idle workflows now and whenever PostgreSQL may be another, until cancelled."""
    known = ""
    while True:
        try:
            present = await tables_in_use(db)
            if present != known:
                await signal_idle_workflows(client, task_queue)
                known = present
        except Exception as error:
            log.warning("restored_database.unchecked", kind=type(error).__name__, error=str(error))
        await asyncio.sleep(_INTERVAL_S)


async def signal_idle_workflows(client: Client, task_queue: str) -> None:
    """Ask each open workflow that runs no activity to compare PostgreSQL with itself."""
    for job_id in await open_workflow_ids(client, task_queue):
        handle = client.get_workflow_handle(job_id)
        try:
            await _signal_if_idle(handle)
        except RPCError as error:
            log.info("workflow.not_signalled", job_id=job_id, error=error.message)


async def _signal_if_idle(handle: WorkflowHandle[object, object]) -> None:
    described = (await handle.describe()).raw_description
    if not described.pending_activities:
        await handle.signal("compare")
