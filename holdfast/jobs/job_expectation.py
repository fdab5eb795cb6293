"""Say what a job is expected to take before it has a plan: what such jobs took here."""

from holdfast.client import Holdfast
from holdfast.configuration.price_settings import read_prices
from holdfast.models.budget.job_expectation import JobExpectation
from holdfast.models.jobs.job_record import JobRequest
from holdfast.storage.jobs import job_rows
from holdfast.storage.views.usual_usage_queries import load_usual_usage


async def expectation_of(holdfast: Holdfast, job_id: str) -> JobExpectation:
    """What jobs of the same preset and model took, and the limits of this job.

    Raises:
        NotFound: there is no such job.
        BadConfiguration: the prices in `holdfast.toml` cannot be read.
    """
    request = (await job_rows.load_job(holdfast.db, job_id)).request
    return await expectation_of_request(holdfast, request)


async def expectation_of_request(holdfast: Holdfast, request: JobRequest) -> JobExpectation:
    """The same before the job is submitted.

    Raises:
        BadConfiguration: the prices in `holdfast.toml` cannot be read.
    """
    return JobExpectation(
        usual=await load_usual_usage(holdfast.db, request.preset, request.model),
        max_tool_calls=request.strategy.max_tool_calls,
        max_tokens=request.strategy.max_tokens,
        max_cost=request.strategy.max_cost,
        currency=read_prices(holdfast.settings.config_file).currency,
    )
