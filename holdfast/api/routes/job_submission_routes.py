"""Define the routes that submit jobs and list them."""

from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response

from holdfast.api.api_context import Asker, CallerView, Reader, check_visible_job
from holdfast.api.owned_collections import OwnedCollections
from holdfast.api.root_path import root_path_of
from holdfast.jobs.job_expectation import expectation_of_request
from holdfast.jobs.job_lookup import newest_jobs
from holdfast.jobs.job_submission import (
    CheckedSubmission,
    JobSubmission,
    check_submission,
    checked_request_key,
)
from holdfast.jobs.request_completion import completed_request
from holdfast.jobs.server_checks import check_server_names
from holdfast.models.budget.job_expectation import JobExpectation
from holdfast.models.error_fields import error_field
from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.job_filter import MAX_LISTED_JOBS, JobFilter
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.views.job_views import JobLine

_KEY = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        description="A name of your own: submitting again with it gives the same job.",
    ),
]

router = APIRouter(tags=["jobs"])


class SubmittedJob(Frozen):
    """A stored job, and what its sender should know."""

    job_id: str
    note: str = ""


class SubmissionEstimate(Frozen):
    """What a submission would become, and what such jobs took."""

    preset: str
    model: str
    note: str
    expected: JobExpectation


@router.post("/jobs", status_code=202)
async def submit_job(
    submission: JobSubmission, session: Asker, response: Response, key: _KEY = None
) -> SubmittedJob:
    """Submit a question; its job runs on, whether or not the caller stays.

    With `plan_only` the job only plans; `/v1/jobs/JOB/estimate` then says what the rest takes.
    """
    job = await submitted_job(session, submission, key)
    response.headers["Location"] = f"/v1/jobs/{job.job_id}"
    return job


async def submitted_job(
    session: CallerView, submission: JobSubmission, key: str | None
) -> SubmittedJob:
    """Submit a job for the caller; with `key`, once for each key.

    Raises:
        BadInput: the submission cannot be used.
        NotFound: the caller sees no such job or collection.
        ServiceDown: Temporal does not answer.
    """
    holdfast = session.holdfast
    key = checked_request_key(key)
    checked = await _checked(session, submission)
    request = await completed_request(holdfast, checked)
    job_id = await holdfast.submit(
        request,
        key=session.caller.own_name(key) if key else None,
        key_id=session.caller.key_id,
    )
    return SubmittedJob(job_id=job_id, note=checked.note)


async def checked_job_request(session: CallerView, submission: JobSubmission) -> JobRequest:
    """The request of a submission, checked for the caller; nothing is stored.

    Raises:
        BadInput: the submission cannot be used.
        NotFound: the caller sees no such job or collection.
    """
    return await completed_request(session.holdfast, await _checked(session, submission))


@router.post("/estimates")
async def estimate_submission(submission: JobSubmission, session: Asker) -> SubmissionEstimate:
    """Check a submission, and say what such jobs took; nothing is stored and nothing runs.

    A job that is submitted with `plan_only` gets an estimate of its own plan.
    """
    checked = await _checked(session, submission)
    request = await completed_request(session.holdfast, checked)
    return SubmissionEstimate(
        preset=request.preset,
        model=request.model,
        note=checked.note,
        expected=await expectation_of_request(session.holdfast, request),
    )


async def _checked(session: CallerView, submission: JobSubmission) -> CheckedSubmission:
    holdfast, caller = session.holdfast, session.caller
    if submission.follows is not None:
        with error_field("follows"):
            await check_visible_job(session, submission.follows)
    if submission.collection is not None:
        owned = OwnedCollections(caller)
        with error_field("collection"):
            name = await owned.existing_name(holdfast.db, submission.collection)
        submission = submission.model_copy(update={"collection": name})
    checked = check_submission(submission, holdfast.settings, caller.owner)
    with error_field("servers"):
        await check_server_names(checked.request.servers, holdfast.settings)
    return checked


@router.get("/jobs")
async def list_jobs(
    session: Reader,
    request: Request,
    response: Response,
    limit: Annotated[int, Query(ge=1, le=MAX_LISTED_JOBS)] = 20,
    status: Annotated[str | None, Query(description="Only jobs of this status.")] = None,
    preset: Annotated[str | None, Query(description="Only jobs of this preset.")] = None,
    after: Annotated[str | None, Query(description="The last job of the list before.")] = None,
    q: Annotated[str, Query(max_length=200, description="Words of question or answer.")] = "",
) -> list[JobLine]:
    """List jobs, the newest first; the header `Link` has the address of the next part."""
    which = JobFilter(
        limit=limit,
        status=status,
        preset=preset,
        owner=session.caller.visible_owner,
        after=after,
        words=q,
    )
    lines = await newest_jobs(session.holdfast, which)
    if len(lines) == limit:
        next_part = request.url.include_query_params(after=lines[-1].job_id)
        response.headers["Link"] = (
            f'<{root_path_of(request)}{next_part.path}?{next_part.query}>; rel="next"'
        )
    return lines
