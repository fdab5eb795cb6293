"""Record tasks that were planned, with their estimate and the question whether they may run."""

from holdfast.activities.plans.left_out_tools import log_left_out_tools
from holdfast.activities.plans.plan_approval import ask_approval
from holdfast.activities.runtime.activity_frame import Record, Recorded
from holdfast.activities.runtime.activity_services import Services
from holdfast.activities.runtime.plan_receipts import plan_receipt
from holdfast.models.jobs.activity_orders import AttemptOrder
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.jobs.job_state import PlanReceipt
from holdfast.models.plans.plan_change import PlanChange
from holdfast.models.plans.plan_change_cause import PlanChangeCause
from holdfast.models.plans.research_plan import Plan
from holdfast.storage.core.database import JobTransaction
from holdfast.storage.jobs.job_estimates import estimate_job, store_estimate
from holdfast.storage.plans import plan_change_rows


async def planned_record(
    services: Services,
    order: AttemptOrder,
    request: JobRequest,
    before: Plan,
    plan: Plan,
    *,
    explanation: str,
    tokens: int = 0,
    is_reviewed: bool = False,
) -> Record[PlanReceipt]:
    """Return the function that adds the tasks of `plan` to those of `before`.

    `tokens` is what the planning took. `is_reviewed`: the user is asked before the tasks run.
    """
    change = PlanChange(cause=PlanChangeCause.PLANNED, added=plan.tasks, explanation=explanation)
    estimate = await estimate_job(services.db, order.job_id, request, plan, services.models.prices)
    hub = services.hub.for_job(request)

    async def record(tx: JobTransaction) -> Recorded[PlanReceipt]:
        if not before.tasks:  # else the opening loop has logged them
            log_left_out_tools(tx, hub)
        number = await plan_change_rows.store_change(tx, before, change)
        await store_estimate(tx, estimate)
        questions = await ask_approval(tx, number, len(change.added)) if is_reviewed else ()
        return Recorded(plan_receipt(number, change, questions=questions, tokens=tokens))

    return record
