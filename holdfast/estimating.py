"""What a job that was only planned would take."""

from holdfast.client import Holdfast
from models.estimates import DryRun
from planning.estimates import estimate
from storage import jobs, plans, views
from storage.typical import typical_calls


async def dry_run_of(holdfast: Holdfast, job_id: str) -> DryRun:
    """The job's plan, and what the tasks that wait would take.

    Raises:
        NotFound: there is no such job.
    """
    db = holdfast.db
    job = await jobs.load(db, job_id)
    plan = await plans.load_plan(db, job_id)
    typical = await typical_calls(db, job.request.model)
    spent = (await views.spending(db, job_id)).tokens
    return DryRun(
        job_id=job_id,
        status=job.status.value,
        stop_reason=job.stop_reason.value if job.stop_reason else None,
        message=job.message,
        tasks=plan.tasks,
        estimate=estimate(plan, job.request.strategy, typical, spent),
    )
