"""Record how a job ended: its status, its stop reason and its message."""

from dataclasses import dataclass

from temporalio import activity
from temporalio.service import RPCError, RPCStatusCode

from holdfast.activities import interfaces
from holdfast.activities.interfaces import implements
from holdfast.activities.lifecycle.response_cancelling import cancel_left_responses
from holdfast.activities.lifecycle.schedule_digest import changes_since_last_run
from holdfast.activities.runtime.activity_frame import ReceiptScope, Recorded, record_once
from holdfast.activities.runtime.activity_services import Services
from holdfast.models.jobs.activity_orders import CancelWorkflowOrder, EndOrder, JobOutcome
from holdfast.models.jobs.job_record import StopReason
from holdfast.models.text.message_limits import MessageLimit, cut_message
from holdfast.models.wire import stored_keys
from holdfast.storage.core.database import JobTransaction
from holdfast.storage.jobs import job_rows
from holdfast.storage.plans import plan_change_rows


@dataclass(frozen=True)
class JobEndActivities:
    """The activities that end a job and its workflow."""

    services: Services

    @implements(interfaces.end_job)
    async def end_job(self, order: EndOrder) -> JobOutcome:
        digest = await changes_since_last_run(self.services.db, order.job_id)

        async def record(tx: JobTransaction) -> Recorded[JobOutcome]:
            # A job that was only planned runs its tasks when it is resumed.
            if order.reason is not StopReason.PLANNED:
                await plan_change_rows.cancel_open_tasks(tx)
            await digest.store(tx)
            await job_rows.store_job_end(
                tx, order.status, order.reason, order.message, digest.facts
            )
            return Recorded(_outcome(order), ReceiptScope.RUN)

        outcome = await record_once(
            self.services.db, order, stored_keys.END_RECEIPT, JobOutcome, record
        )
        await cancel_left_responses(self.services, order.job_id)
        return outcome

    @implements(interfaces.cancel_workflow)
    async def cancel_workflow(self, order: CancelWorkflowOrder) -> None:
        run_id = activity.info().workflow_run_id
        handle = activity.client().get_workflow_handle(order.job_id, run_id=run_id)
        try:
            await handle.cancel()
        except RPCError as error:
            # NOT_FOUND: an earlier attempt has requested it, and the run has closed.
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise


def _outcome(order: EndOrder) -> JobOutcome:
    return JobOutcome(
        job_id=order.job_id,
        status=order.status,
        reason=order.reason,
        message=cut_message(order.message, MessageLimit.ENTRY),
    )
