"""Estimate the calls, tokens, cost and time of a job that has only been planned."""

from holdfast.client import Holdfast
from holdfast.configuration.price_settings import read_prices
from holdfast.models.budget.cost_estimates import DryRun
from holdfast.storage.jobs import job_rows
from holdfast.storage.jobs.job_estimates import estimate_job
from holdfast.storage.plans import task_queries


async def dry_run_of(holdfast: Holdfast, job_id: str) -> DryRun:
    """The job's plan, and an estimate of its pending tasks.

    Raises:
        NotFound: there is no such job.
        BadConfiguration: the prices in `holdfast.toml` cannot be read.
    """
    db = holdfast.db
    job = await job_rows.load_job(db, job_id)
    plan = await task_queries.load_plan(db, job_id)
    prices = read_prices(holdfast.settings.config_file)
    return DryRun(
        job_id=job_id,
        status=job.status.value,
        stop_reason=job.stop_reason.value if job.stop_reason else None,
        message=job.message,
        tasks=plan.tasks,
        estimate=await estimate_job(db, job_id, job.request, plan, prices),
        currency=prices.currency,
    )
