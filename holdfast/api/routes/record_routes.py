"""Define the routes that work with jobs as records: fork."""

from typing import Annotated

from fastapi import APIRouter, Header, Response

from holdfast.api.api_context import AskedJob
from holdfast.jobs.job_submission import checked_request_key
from holdfast.records.fork_submission import ForkedJob, ForkPlan, ForkSubmission
from holdfast.records.job_forking import fork_job, preview_fork

_KEY = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        description="A name of your own: forking again with it gives the same job.",
    ),
]

router = APIRouter(prefix="/jobs/{job}", tags=["records"])


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
        job.holdfast, job.id, submission, owner=caller.owner, by=caller.name, key=own
    )
    response.headers["Location"] = f"/v1/jobs/{forked.job_id}"
    return forked


@router.post("/fork/preview")
async def preview(job: AskedJob, submission: ForkSubmission) -> ForkPlan:
    """Say what a fork would run and keep, and what it may cost; nothing is stored."""
    caller = job.caller
    return await preview_fork(job.holdfast, job.id, submission, owner=caller.owner, by=caller.name)
