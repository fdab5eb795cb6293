"""What a job that was only planned would take."""

from holdfast.client import Holdfast
from holdfast.prices import read_prices
from models.estimates import DryRun
from storage import jobs, plans
from storage.estimates import estimate_of


async def dry_run_of(holdfast: Holdfast, job_id: str) -> DryRun:
    """The job's plan, and what the tasks that wait would take.

    Raises:
        NotFound: there is no such job.
        BadConfiguration: the prices in `holdfast.toml` cannot be read.
    """
    db = holdfast.db
    job = await jobs.load(db, job_id)
    plan = await plans.load_plan(db, job_id)
    prices = read_prices(holdfast.settings.config_file)
    return DryRun(
        job_id=job_id,
        status=job.status.value,
        stop_reason=job.stop_reason.value if job.stop_reason else None,
        message=job.message,
        tasks=plan.tasks,
        estimate=await estimate_of(db, job_id, job.request, plan, prices),
        currency=prices.currency,
    )
