"""Define the routes that work with jobs as records: fork, compare, update."""

from typing import Annotated

from fastapi import APIRouter, Header, Path, Response
from pydantic import Field

from holdfast.api.api_context import AskedJob, ReadJob, check_visible_job
from holdfast.jobs.job_submission import checked_request_key
from holdfast.models.error_fields import error_field
from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.job_age import parse_age
from holdfast.records.fork_submission import ForkedJob, ForkPlan, ForkSubmission
from holdfast.records.job_comparison import JobComparison, compare_jobs
from holdfast.records.job_forking import fork_job, preview_fork
from holdfast.records.job_update import JobUpdate, update_job

_KEY = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        description="A name of your own: forking again with it gives the same job.",
    ),
]

router = APIRouter(prefix="/jobs/{job}", tags=["records"])


class CompareBody(Frozen):
    """How two jobs are compared."""

    model: str = Field(
        max_length=200, description="The model that matches the claims that rules left over."
    )


class UpdateBody(Frozen):
    """How a report is updated."""

    older_than: str | None = Field(
        default=None,
        max_length=20,
        description="Do nothing if the sources were read later than so long ago, such as `30d`.",
    )
    search: bool = Field(
        default=False,
        strict=True,
        description="Run all searches again, to find new sources as well.",
    )
    dry_run: bool = Field(
        default=False, strict=True, description="Read the sources, and start no job."
    )


@router.post("/fork", status_code=202)
async def fork(
    job: AskedJob, submission: ForkSubmission, response: Response, key: _KEY = None
) -> ForkedJob:
    """Run a job again with a change, and pay only for what the change touches.

    The fork is a job of its own. A call whose request stays the same is answered from the record.
    """
    key = checked_request_key(key)
    own = job.caller.own_name(key) if key else None
    caller = job.caller
    forked = await fork_job(
        job.holdfast,
        job.id,
        submission,
        owner=caller.owner,
        by=caller.name,
        key=own,
        key_id=caller.key_id,
    )
    response.headers["Location"] = f"/v1/jobs/{forked.job_id}"
    return forked


@router.post("/fork/preview")
async def preview(job: AskedJob, submission: ForkSubmission) -> ForkPlan:
    """Say what a fork would run and keep, and what it may cost; nothing is stored."""
    caller = job.caller
    return await preview_fork(job.holdfast, job.id, submission, owner=caller.owner, by=caller.name)


@router.get("/compare/{other}")
async def compare(
    job: ReadJob, other: Annotated[str, Path(description="The id of the other job.")]
) -> JobComparison:
    """Compare two jobs by answer, claims, tasks, sources, cost and time."""
    with error_field("other"):
        await check_visible_job(job, other)
    return await compare_jobs(job.holdfast, job.id, other)


@router.post("/compare/{other}")
async def compare_by_model(
    job: AskedJob,
    body: CompareBody,
    other: Annotated[str, Path(description="The id of the other job.")],
) -> JobComparison:
    """Compare two jobs, and let a model match the claims that rules left over.

    The one call is recorded with the other job, so that the same comparison is not paid for again.
    """
    with error_field("other"):
        await check_visible_job(job, other)
    return await compare_jobs(
        job.holdfast, job.id, other, model=body.model, installation=job.context.holdfast
    )


@router.post("/update", status_code=202)
async def update(job: AskedJob, body: UpdateBody | None = None) -> JobUpdate:
    """Read a report's sources again, and run what depends on changed ones in a new job."""
    wanted = body or UpdateBody()
    caller = job.caller
    with error_field("older_than"):
        older_than = None if wanted.older_than is None else parse_age(wanted.older_than)
    return await update_job(
        job.holdfast,
        job.id,
        owner=caller.owner,
        by=caller.name,
        key_id=caller.key_id,
        older_than=older_than,
        searches_again=wanted.search,
        is_dry_run=wanted.dry_run,
    )
