"""Erase ended jobs that are older than `[retention]` keeps jobs of their owner."""

from contextlib import suppress

import structlog

from holdfast.client import Holdfast
from holdfast.configuration.retention_settings import RetentionSettings
from holdfast.jobs.erasure import erase_job
from holdfast.models.access.erasures import ErasureReceipt
from holdfast.models.errors import BadInput, NotFound
from holdfast.storage.jobs.job_pruning import EndedJob, jobs_past_retention
from holdfast.storage.jobs.retention_turns import retention_turn

ERASED_BY = "retention"
"""Who erased the job, in its receipt and in the audit."""

log = structlog.get_logger(__name__)


async def jobs_due(holdfast: Holdfast, kept: RetentionSettings) -> list[EndedJob]:
    """Return the jobs whose time is over, the newest first: a job follows an older one."""
    return await jobs_past_retention(holdfast.db, kept.after, kept.owners)


async def erase_due_jobs(holdfast: Holdfast, kept: RetentionSettings) -> list[ErasureReceipt]:
    """Erase each of these jobs, and return the receipts; only one process at a time does it.

    A job stays while a younger job that is kept follows it or was forked from it.

    Raises:
        ServiceDown: Temporal does not answer; the next round goes on.
    """
    receipts: list[ErasureReceipt] = []
    async with retention_turn(holdfast.db) as has_turn:
        for job in await jobs_due(holdfast, kept) if has_turn else ():
            with suppress(NotFound):  # somebody has removed it meanwhile
                try:
                    receipts.append(await erase_job(holdfast, job.job_id, by=ERASED_BY))
                except BadInput as error:
                    log.info("retention.job_kept", job_id=job.job_id, reason=str(error))
    return receipts
