"""Record once each control request of a person: pause, resume, steer, cancel or retry."""

from dataclasses import dataclass

from holdfast.activities import interfaces
from holdfast.activities.interfaces import implements
from holdfast.activities.lifecycle.budget_cap_question import open_budget_question
from holdfast.activities.runtime.activity_frame import Recorded, record_once
from holdfast.activities.runtime.activity_services import Services
from holdfast.models.jobs.activity_orders import ControlOrder, RetryOrder
from holdfast.models.jobs.event_mark import Receipt
from holdfast.models.jobs.job_record import JobStatus
from holdfast.models.jobs.job_state import ControlReceipt
from holdfast.storage.core.database import JobTransaction
from holdfast.storage.jobs import job_control_rows


@dataclass(frozen=True)
class ControlActivities:
    """The activities behind the workflow's updates."""

    services: Services

    @implements(interfaces.record_control)
    async def record_control(self, order: ControlOrder) -> ControlReceipt:
        async def record(tx: JobTransaction) -> Recorded[ControlReceipt]:
            await job_control_rows.store_control(tx, order)
            asked = None
            if order.is_over_budget and not JobStatus(tx.held.status).is_final:
                asked = await open_budget_question(tx, order.key)
            return Recorded(ControlReceipt(question=asked))

        return await record_once(self.services.db, order, order.key, ControlReceipt, record)

    @implements(interfaces.retry_tasks)
    async def retry_tasks(self, order: RetryOrder) -> Receipt:
        async def record(tx: JobTransaction) -> Recorded[Receipt]:
            await job_control_rows.record_rerun(tx, order.tasks, order.rerun, order.by)
            return Recorded(Receipt())

        return await record_once(self.services.db, order, order.key, Receipt, record)
