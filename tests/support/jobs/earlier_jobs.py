"""Store earlier jobs that have ended, with their plans and without any work done."""

from sqlalchemy import update

from holdfast.models.jobs.job_record import JobRequest, JobStatus, StopReason
from holdfast.models.plans.plan_change import PlanChange
from holdfast.models.plans.plan_change_cause import PlanChangeCause
from holdfast.models.plans.research_plan import Plan, TaskStatus
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.plan_tables import tasks
from holdfast.storage.jobs import job_rows
from holdfast.storage.plans import plan_change_rows


def earlier_request(question: str, *, owner: str = "", **settings: object) -> JobRequest:
    strategy = Strategy.model_validate(settings)
    return JobRequest(
        question=question, preset="kpi-chain", model="m", strategy=strategy, owner=owner
    )


async def store_ended_job(
    db: Database,
    job_id: str,
    request: JobRequest,
    plan: Plan,
    *,
    replans: int = 0,
    reason: StopReason = StopReason.ANSWERED,
    superseded: tuple[str, ...] = (),
) -> None:
    """A job that has ended: done where it was answered, else failed; its plan was worked."""
    await job_rows.submit_job(db, job_id, request, None)
    async with db.job(job_id) as write:
        first = PlanChange(cause=PlanChangeCause.PLANNED, added=plan.tasks)
        await plan_change_rows.store_change(write, Plan(), first)
        for _ in range(replans):
            again = PlanChange(cause=PlanChangeCause.REPLANNED, superseded=superseded)
            await plan_change_rows.store_change(write, plan, again)
        await write.connection.execute(
            update(tasks)
            .where(tasks.c.job_id == job_id, tasks.c.status == TaskStatus.PENDING.value)
            .values(status=TaskStatus.DONE.value)
        )
        is_done = reason in (StopReason.ANSWERED, StopReason.ANSWERED_WITH_GAPS)
        await job_rows.store_job_end(
            write, JobStatus.DONE if is_done else JobStatus.FAILED, reason, ""
        )
