"""Put the schedules of PostgreSQL into a Temporal that lacks them.

Temporal lacks a schedule if it has lost its data, or if a client ended while adding the schedule.
Runs that were due meanwhile are made up for, within the schedule's own limit.
"""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime

import structlog
from temporalio.client import Client

from holdfast.models.schedules.schedule import Schedule, ScheduleStatus
from holdfast.storage.core.database import Database
from holdfast.storage.schedules.schedule_rows import open_schedules
from holdfast.storage.schedules.schedule_run_rows import load_runs
from holdfast.temporal.job_schedules import (
    create_temporal_schedule,
    is_paused_in_temporal,
    pause_temporal_schedule,
)

INTERVAL_S = 60.0

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class ScheduleUpkeep:
    """Compares the schedules of Temporal with those of PostgreSQL."""

    client: Client
    db: Database
    task_queue: str

    async def repeat(self) -> None:
        """Compare now and every minute, until cancelled."""
        while True:
            try:
                await self.compare_all()
            except Exception as error:
                log.warning("schedules.not_compared", kind=type(error).__name__, error=str(error))
            await asyncio.sleep(INTERVAL_S)

    async def compare_all(self) -> None:
        """Create each schedule that Temporal lacks, and pause what PostgreSQL says is paused."""
        for schedule in await open_schedules(self.db):
            try:
                await self._compare(schedule)
            except Exception as error:
                log.warning(
                    "schedule.not_compared",
                    schedule_id=schedule.id,
                    kind=type(error).__name__,
                    error=str(error),
                )

    async def _compare(self, schedule: Schedule) -> None:
        is_paused = await is_paused_in_temporal(self.client, schedule.id)
        if is_paused is None:
            await self._create(schedule)
        elif is_paused is not (schedule.status is ScheduleStatus.PAUSED):
            await pause_temporal_schedule(self.client, schedule.id, is_paused=not is_paused)

    async def _create(self, schedule: Schedule) -> None:
        now = datetime.now(UTC)
        runs = await load_runs(self.db, schedule.id, 1)
        last = [each.begun_at for each in runs]
        # A run that has begun has its row, so a period that contains it gives no second job.
        since = max(schedule.continued_at, now - schedule.terms.catch_up, *last)
        is_active = schedule.status is ScheduleStatus.ACTIVE
        missed = (since, now) if is_active and since < now else None
        if await create_temporal_schedule(self.client, self.task_queue, schedule, missed=missed):
            log.info("schedule.created", schedule_id=schedule.id)
