"""Begin the runs of schedules, and say whether the job of a run has ended."""

from dataclasses import dataclass

from temporalio import activity

from holdfast.activities import interfaces
from holdfast.activities.interfaces import implements
from holdfast.activities.runtime.activity_services import Services
from holdfast.models.errors import BadConfiguration
from holdfast.models.schedules.schedule_orders import (
    RunScheduleOrder,
    ScheduledJobOrder,
    ScheduleReceipt,
)
from holdfast.storage.schedules.schedule_run_rows import has_ended


@dataclass(frozen=True)
class ScheduleActivities:
    """The activities of a schedule's runs."""

    services: Services

    @implements(interfaces.run_schedule)
    async def run_schedule(self, order: RunScheduleOrder) -> ScheduleReceipt:
        if self.services.run_schedule is None:
            raise BadConfiguration("this worker was opened without what submits scheduled jobs")
        return await self.services.run_schedule(activity.client(), order)

    @implements(interfaces.has_scheduled_job_ended)
    async def has_scheduled_job_ended(self, order: ScheduledJobOrder) -> bool:
        return await has_ended(self.services.db, order.job_id)
