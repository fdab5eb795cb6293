"""Erase jobs whose time is over, again and again, in a worker."""

import asyncio
from dataclasses import dataclass

import structlog

from holdfast.client import Holdfast
from holdfast.configuration.retention_settings import RetentionSettings
from holdfast.jobs.retention import erase_due_jobs

INTERVAL_S = 3600.0

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class RetentionUpkeep:
    """Erases ended jobs that are older than `[retention]` keeps jobs of their owner."""

    holdfast: Holdfast
    kept: RetentionSettings | None
    """None: every job is kept."""

    async def repeat(self) -> None:
        """Erase now and every hour, until cancelled."""
        while self.kept is not None:
            try:
                done = await erase_due_jobs(self.holdfast, self.kept)
                for receipt in done.receipts:
                    log.info("retention.job_erased", job_id=receipt.subject, receipt=receipt.id)
                if done.note:
                    log.warning("retention.not_whole", note=done.note[:500])
            except Exception as error:
                log.warning("retention.not_done", kind=type(error).__name__, error=str(error)[:500])
            await asyncio.sleep(INTERVAL_S)
