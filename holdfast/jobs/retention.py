"""Erase ended jobs that are older than `[retention]` keeps jobs of their owner."""

import structlog

from holdfast.client import Holdfast
from holdfast.configuration.retention_settings import RetentionSettings
from holdfast.jobs.erasure import erase_job
from holdfast.models.access.erasures import ErasureReceipt
from holdfast.models.errors import BadInput, NotFound, ServiceDown
from holdfast.models.frozen_model import Frozen
from holdfast.storage.core.exclusive_turns import exclusive_turn
from holdfast.storage.jobs.job_pruning import EndedJob, jobs_past_retention
from holdfast.temporal.temporal_connection import connect

ERASED_BY = "retention"
"""Who erased the job, in its receipt and in the audit."""
RETENTION_TURN = "retention"

_NO_TURN = (
    "another process erases the due jobs now, as a worker does every hour, so this one erased "
    "none; look again in a minute with `holdfast prune --dry-run`"
)

log = structlog.get_logger(__name__)


class RetentionRound(Frozen):
    """What one round erased."""

    receipts: tuple[ErasureReceipt, ...] = ()
    note: str = ""
    """Why due jobs were not erased; empty: nothing was in the way."""


async def jobs_due(holdfast: Holdfast, kept: RetentionSettings) -> list[EndedJob]:
    """Return the jobs whose time is over, the newest first: a job follows an older one."""
    return await jobs_past_retention(holdfast.db, kept.after, kept.owners)


async def erase_due_jobs(holdfast: Holdfast, kept: RetentionSettings) -> RetentionRound:
    """Erase each of these jobs; only one process at a time does it.

    A job stays while a younger job that is kept follows it or was forked from it. A job that cannot
    be erased does not hold up the others; only if Temporal itself does not answer, the round ends.
    """
    receipts: list[ErasureReceipt] = []
    troubles: list[str] = []
    async with exclusive_turn(holdfast.db, RETENTION_TURN) as has_turn:
        if not has_turn:
            return RetentionRound(note=_NO_TURN)
        for job in await jobs_due(holdfast, kept):
            # Somebody may have reopened it since the list was read.
            if not await jobs_past_retention(holdfast.db, kept.after, kept.owners, only=job.job_id):
                continue
            try:
                receipts.append(
                    await erase_job(holdfast, job.job_id, by=ERASED_BY, only_ended=True)
                )
            except NotFound:
                continue  # somebody has removed it meanwhile
            except BadInput as error:
                log.info("retention.job_kept", job_id=job.job_id, reason=str(error))
            except ServiceDown as error:
                troubles.append(f"{job.job_id}: {error}")
                if not await _has_temporal(holdfast):
                    break
    note = f"{len(troubles)} due jobs could not be erased: {'; '.join(troubles[:3])}"
    return RetentionRound(receipts=tuple(receipts), note=note if troubles else "")


async def _has_temporal(holdfast: Holdfast) -> bool:
    try:
        await connect(holdfast.settings, holdfast.endpoints)
    except ServiceDown:
        return False
    return True
