"""What people do to running jobs, recorded once with who did it."""

from dataclasses import dataclass

from activities import interfaces
from activities.budget import open_budget_question
from activities.interfaces import implements
from models.base import Frozen
from models.jobs import FINAL
from models.orders import ControlOrder, RetryOrder
from storage import control, receipts
from storage.database import Database


class Done(Frozen):
    """The receipt of something that gives nothing back."""


@dataclass(frozen=True)
class Controlling:
    """The activities behind the workflow's updates."""

    db: Database

    @implements(interfaces.record_control)
    async def record_control(self, order: ControlOrder) -> None:
        if await receipts.find(self.db, order, order.key, Done) is not None:
            return
        async with self.db.job(order.job_id, order.epoch) as write:
            await control.record(write, order)
            if order.is_over_budget and write.held.status not in FINAL:
                await open_budget_question(write, order.key)
            await receipts.keep(write, order.key, Done())

    @implements(interfaces.retry_tasks)
    async def retry_tasks(self, order: RetryOrder) -> None:
        if await receipts.find(self.db, order, order.key, Done) is not None:
            return
        async with self.db.job(order.job_id, order.epoch) as write:
            await control.retry(write, order.tasks, order.again, order.by)
            await receipts.keep(write, order.key, Done())
