"""Start the workflows of stored jobs that have none, because the client ended while submitting."""

import asyncio
from datetime import timedelta

import structlog
from temporalio.client import Client

from holdfast.storage.core.database import Database
from holdfast.storage.jobs import job_rows
from holdfast.temporal.workflow_start import start_workflow

_INTERVAL_S = 10.0
_CLIENTS_TIME = timedelta(seconds=10)
"""A client that lives has started the workflow of its job within this time."""
_MAX_JOBS = 1000

log = structlog.get_logger(__name__)


async def start_queued_jobs(client: Client, db: Database, task_queue: str) -> None:
    """Look for queued jobs without a workflow every ten seconds, until cancelled."""
    checked: set[str] = set()
    while True:
        try:
            queued = await job_rows.queued_job_ids(db, _CLIENTS_TIME, _MAX_JOBS)
            # A job that waits for a free slot is queued, too: each job is looked at once.
            for job_id in [each for each in queued if each not in checked]:
                job = await job_rows.load_job(db, job_id)
                # Nothing happens if the job has a workflow.
                await start_workflow(client, task_queue, job_id, job.request)
                checked.add(job_id)
            checked.intersection_update(queued)
        except Exception as error:
            log.warning("queued_jobs.not_started", kind=type(error).__name__, error=str(error))
        await asyncio.sleep(_INTERVAL_S)
