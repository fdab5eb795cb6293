"""The end of a job: its status, its reason, and the words for both."""

from dataclasses import dataclass

from activities import interfaces
from activities.interfaces import implements
from models.jobs import JobStatus
from models.orders import EndOrder, JobOutcome
from storage import jobs, plans, receipts
from storage.database import Database

_KEY = "end"


@dataclass(frozen=True)
class Ending:
    """The activity that ends a job."""

    db: Database

    @implements(interfaces.end_job)
    async def end_job(self, order: EndOrder) -> JobOutcome:
        stored = await receipts.find(self.db, order, _KEY, JobOutcome)
        if stored is not None:
            return stored
        outcome = JobOutcome(
            job_id=order.job_id,
            status=order.status,
            reason=order.reason,
            message=order.message[:2000],
        )
        async with self.db.job(order.job_id, order.epoch) as write:
            if order.status is JobStatus.CANCELLED:
                await plans.cancel_open_tasks(write)
            await jobs.end(write, order.status, order.reason, order.message)
            await receipts.keep(write, receipts.of_run(_KEY, order.epoch), outcome)
        return outcome
