"""Earlier jobs for tests: answered, or ended in another way, with their plans and no work done."""

from sqlalchemy import update

from models.jobs import JobRequest, JobStatus, StopReason
from models.plan import Plan, TaskStatus
from models.strategy import Strategy
from models.tables import tasks
from storage import jobs, plans
from storage.database import Database
from storage.plans import Revision


def asked(question: str, *, owner: str = "", **settings: object) -> JobRequest:
    strategy = Strategy.model_validate(settings)
    return JobRequest(
        question=question, preset="kpi-chain", model="m", strategy=strategy, owner=owner
    )


async def ended(
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
    await jobs.submit(db, job_id, request, None)
    names = tuple(task.id for task in plan.tasks)
    async with db.job(job_id) as write:
        first = Revision(revision=0, cause="planned", added=names)
        await plans.store_revision(write, plan, first, {name: name for name in names})
        for _ in range(replans):
            again = Revision(revision=0, cause="replanned", superseded=superseded)
            await plans.store_revision(write, plan, again, {})
        await write.connection.execute(
            update(tasks)
            .where(tasks.c.job_id == job_id, tasks.c.status == TaskStatus.PENDING.value)
            .values(status=TaskStatus.DONE.value)
        )
        is_done = reason in (StopReason.ANSWERED, StopReason.ANSWERED_WITH_GAPS)
        await jobs.end(write, JobStatus.DONE if is_done else JobStatus.FAILED, reason, "")
