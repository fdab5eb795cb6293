"""Define the routes that show one job: its state, plan, log, calls and questions."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from holdfast.api.api_context import ReadJob
from holdfast.api.commands_as_requests import (
    question_in_requests,
    status_in_requests,
)
from holdfast.api.described_streams import RESUMING_PARAMETERS, job_stream
from holdfast.api.server_sent_events import event_stream_response
from holdfast.configuration.price_settings import read_prices
from holdfast.jobs.current_status import status_of
from holdfast.jobs.dry_run_estimate import dry_run_of
from holdfast.jobs.job_lookup import plan_of, plan_revision_of
from holdfast.jobs.open_questions import open_questions_of
from holdfast.jobs.verification_lookup import verification_of
from holdfast.models.budget.cost_estimates import DryRun
from holdfast.models.calls.call_records import CallView
from holdfast.models.plans.kpi_chain_format import memory_document
from holdfast.models.plans.research_plan import Task
from holdfast.models.plans.stored_plan_change import StoredPlanChange
from holdfast.models.questions.user_questions import UserQuestion
from holdfast.models.verification.verification_views import VerificationView
from holdfast.models.views.job_views import EventView, JobView, Stats
from holdfast.models.views.status_views import StatusDocument, WaitingQuestion
from holdfast.planning.plans.plan_edits import plan_as_yaml
from holdfast.storage.plans import plan_change_rows
from holdfast.storage.questions import question_rows
from holdfast.storage.views import job_queries
from holdfast.storage.views.statistics_queries import run_statistics

_MAX_ENTRIES = 1000
_MAX_WAIT_S = 60

router = APIRouter(prefix="/jobs/{job}", tags=["jobs"])


@router.get("")
async def show_job(job: ReadJob) -> JobView:
    """The job with its tasks and its spending."""
    return await job.holdfast.show(job.id)


@router.get("/status")
async def show_status(job: ReadJob) -> StatusDocument:
    """What the job does, what blocks it, and what comes next; asks Temporal at each request."""
    return status_in_requests(await status_of(job.holdfast, job.id))


@router.get("/estimate")
async def show_estimate(job: ReadJob) -> DryRun:
    """The plan's pending tasks, and what they are expected to take."""
    return await dry_run_of(job.holdfast, job.id)


@router.get("/plan")
async def show_plan(job: ReadJob, response: Response) -> tuple[Task, ...]:
    """The current plan; the header `ETag` has its revision."""
    response.headers["ETag"] = f'"{await plan_revision_of(job.holdfast, job.id)}"'
    return (await plan_of(job.holdfast, job.id)).tasks


@router.get(
    "/plan.yaml",
    response_class=Response,
    responses={200: {"content": {"application/yaml": {}}}},
)
async def show_plan_to_edit(job: ReadJob) -> Response:
    """The current plan in the form that an edit takes."""
    revision = await plan_revision_of(job.holdfast, job.id)
    text = plan_as_yaml(await plan_of(job.holdfast, job.id))
    return Response(text, media_type="application/yaml", headers={"ETag": f'"{revision}"'})


@router.get("/plan/changes")
async def list_plan_changes(job: ReadJob) -> list[StoredPlanChange]:
    """Every change of the plan, with its cause."""
    return await plan_change_rows.load_plan_changes(job.holdfast.db, job.id)


@router.get("/memory")
async def show_memory(job: ReadJob) -> dict[str, object]:
    """The entity memory in the form of the KPI-Chain paper."""
    return dict(memory_document(await plan_of(job.holdfast, job.id)))


@router.get("/verification")
async def show_verification(job: ReadJob) -> VerificationView:
    """The verdicts of every verification round, and why verification stopped."""
    return await verification_of(job.holdfast.db, job.id)


@router.get("/calls")
async def list_calls(job: ReadJob) -> list[CallView]:
    """Every model and tool call of the job."""
    return await job_queries.job_calls(job.holdfast.db, job.id)


@router.get("/wait")
async def wait_for_job(
    job: ReadJob, seconds: Annotated[float, Query(ge=0, le=_MAX_WAIT_S)] = 20
) -> JobView:
    """The job once it has ended, or as it is after these seconds."""
    await job.context.following.wait_for_end(job.id, timedelta(seconds=seconds))
    return await job.holdfast.show(job.id)


@router.get("/log")
async def list_log_entries(
    job: ReadJob,
    after: Annotated[int, Query(ge=0, le=2**62)] = 0,
    limit: Annotated[int, Query(ge=1, le=_MAX_ENTRIES)] = 200,
) -> list[EventView]:
    """The entries of the job's log after one of them; `/events` streams them."""
    return await job_queries.events_after(job.holdfast.db, job.id, after, limit)


@router.get(
    "/events",
    response_class=Response,
    responses={200: {"content": job_stream()}},
    openapi_extra={"parameters": RESUMING_PARAMETERS},
)
async def follow_events(job: ReadJob, request: Request) -> Response:
    """The job's log as Server-Sent Events, from the entry that the request names on."""
    return await event_stream_response(job, request)


@router.get("/statistics")
async def show_job_statistics(job: ReadJob) -> Stats:
    """Calls, tokens, recoveries and failures of the job."""
    currency = read_prices(job.holdfast.settings.config_file).currency
    return await run_statistics(job.holdfast.db, job.id, currency)


@router.get("/questions")
async def list_questions(job: ReadJob) -> list[UserQuestion]:
    """Every question of the job, with its answer and where the answer came from."""
    return await question_rows.questions_of(job.holdfast.db, job.id)


@router.get("/questions/open")
async def list_open_questions(job: ReadJob) -> tuple[WaitingQuestion, ...]:
    """The questions that wait for an answer, oldest first."""
    questions = await open_questions_of(job.holdfast.db, job.id)
    return tuple(question_in_requests(job.id, question) for question in questions)
