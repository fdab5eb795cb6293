"""Remove ended jobs from Temporal and from PostgreSQL."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.client import Holdfast
from holdfast.storage.jobs import job_removal, job_rows
from holdfast.storage.jobs.job_pruning import EndedJob
from holdfast.storage.jobs.job_removal import RemovedJob
from holdfast.temporal.history_deletion import delete_histories
from holdfast.temporal.temporal_connection import connect
from holdfast.temporal.workflow_handle import wait_until_closed

if TYPE_CHECKING:
    from temporalio.client import Client


async def remove_ended_job(holdfast: Holdfast, job_id: str) -> RemovedJob:
    """Remove the job, which has ended, with its histories in Temporal.

    Raises:
        NotFound: there is no such job.
        BadInput: the job has not ended.
        ServiceDown: Temporal does not answer, or the workflow does not close.
    """
    temporal = await connect(holdfast.settings, holdfast.endpoints)
    return await _remove(holdfast, temporal, job_id)


async def remove_ended_jobs(holdfast: Holdfast, jobs: Sequence[EndedJob]) -> list[RemovedJob]:
    """Remove the jobs, one after the other; an interrupted removal can be repeated.

    Raises:
        As `remove_ended_job`.
    """
    temporal = await connect(holdfast.settings, holdfast.endpoints)
    return [await _remove(holdfast, temporal, job.job_id) for job in jobs]


async def _remove(holdfast: Holdfast, temporal: "Client", job_id: str) -> RemovedJob:
    job = await job_rows.load_job(holdfast.db, job_id)
    if not job.status.is_final:
        raise job_removal.not_ended_error(job_id, job.status.value)
    await wait_until_closed(temporal, job_id)
    # First: the job remains as the name under which an interrupted removal is repeated.
    await delete_histories(temporal, job_id)
    return await job_removal.remove_job(holdfast.db, job_id)
