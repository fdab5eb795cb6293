"""Define the routes of schedules."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from holdfast.api.api_context import Asker, CallerView, Reader, check_visible_job
from holdfast.api.routes.job_submission_routes import checked_job_request
from holdfast.jobs.job_submission import JobSubmission
from holdfast.models.error_fields import error_field
from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.job_age import parse_age
from holdfast.models.schedules.overlap_policy import OverlapPolicy
from holdfast.models.schedules.schedule import (
    MAX_LISTED_RUNS,
    ScheduledRun,
    ScheduleStatus,
    ScheduleTerms,
    ScheduleView,
)
from holdfast.schedules.schedule_management import (
    list_schedules,
    run_now,
    runs_of_schedule,
    schedule_question,
    schedule_update,
    set_status,
    show_schedule,
)

router = APIRouter(prefix="/schedules", tags=["schedules"])


class NewScheduleBody(Frozen):
    """A schedule to add: of a question, or of a report."""

    times: str = Field(
        max_length=120,
        description="`every 6h`, `daily 08:00`, `weekly on monday 08:00`, `monthly on 1 08:00`.",
    )
    ask: JobSubmission | None = Field(
        default=None, description="The question that each run asks in a new job."
    )
    update: str | None = Field(
        default=None, max_length=200, description="The job whose report each run updates."
    )
    search: bool = Field(
        default=False,
        strict=True,
        description="With `update`: run all searches again, to find new sources.",
    )
    time_zone: str = Field(
        default="UTC", max_length=60, description="A name such as Europe/Berlin."
    )
    overlap: OverlapPolicy = Field(
        default=OverlapPolicy.SKIP, description="What happens if the job before has not ended."
    )
    catch_up: str = Field(
        default="1d",
        max_length=20,
        description="A run that an outage delays by less is made up for, such as `12h`; answers "
        "have the form of ISO 8601, such as `PT12H`, which is taken too.",
    )
    runs: int | None = Field(
        default=None,
        strict=True,
        ge=1,
        le=100_000,
        description="The schedule ends after so many runs.",
    )


@router.post("", status_code=201)
async def create_schedule(session: Asker, body: NewScheduleBody) -> ScheduleView:
    """Ask a question, or update a report, at certain times."""
    return await created_schedule(session, body)


async def created_schedule(session: CallerView, body: NewScheduleBody) -> ScheduleView:
    """Add a schedule for the caller.

    Raises:
        BadInput: the times, the question or the job cannot be used.
        NotFound: the caller sees no such job or collection.
        ServiceDown: Temporal does not answer.
    """
    with error_field("catch_up"):
        catch_up = parse_age(body.catch_up)
    terms = ScheduleTerms(
        times=body.times,
        time_zone=body.time_zone,
        overlap=body.overlap,
        catch_up=catch_up,
        runs=body.runs,
    )
    if (body.ask is None) == (body.update is None):
        raise BadInput(
            "give either `ask`, a question, or `update`, a job with a report", field="ask"
        )
    if body.search and body.update is None:
        raise BadInput(
            "`search` belongs to `update`; a question searches at each run anyway", field="search"
        )
    caller, holdfast = session.caller, session.holdfast
    if body.ask is not None:
        with error_field("ask"):
            request = await checked_job_request(session, body.ask)
        return await schedule_question(holdfast, request, terms, key_id=caller.key_id)
    job_id = body.update or ""
    with error_field("update"):
        await check_visible_job(session, job_id)
    return await schedule_update(
        holdfast,
        job_id,
        terms,
        owner=caller.owner,
        key_id=caller.key_id,
        searches_again=body.search,
    )


@router.get("")
async def get_schedules(session: Reader) -> list[ScheduleView]:
    """The schedules with their last and next run; ended ones come last."""
    return await list_schedules(session.holdfast, session.caller.visible_owner)


@router.get("/{schedule}")
async def get_schedule(session: Reader, schedule: str) -> ScheduleView:
    """One schedule."""
    return await show_schedule(session.holdfast, schedule, session.caller.visible_owner)


@router.get("/{schedule}/runs")
async def get_runs(
    session: Reader, schedule: str, limit: Annotated[int, Query(ge=1, le=MAX_LISTED_RUNS)] = 20
) -> list[ScheduledRun]:
    """The newest runs of the schedule, and what changed from one to the next."""
    owner = session.caller.visible_owner
    return await runs_of_schedule(session.holdfast, schedule, owner, limit=limit)


@router.post("/{schedule}/pause")
async def pause_schedule(session: Asker, schedule: str) -> ScheduleView:
    """Begin no more runs; a running job goes on."""
    owner = session.caller.visible_owner
    return await set_status(session.holdfast, schedule, owner, ScheduleStatus.PAUSED)


@router.post("/{schedule}/resume")
async def resume_schedule(session: Asker, schedule: str) -> ScheduleView:
    """Begin runs again; what was due meanwhile is left out."""
    owner = session.caller.visible_owner
    return await set_status(session.holdfast, schedule, owner, ScheduleStatus.ACTIVE)


@router.post("/{schedule}/run", status_code=202)
async def run_schedule(session: Asker, schedule: str) -> ScheduleView:
    """Run the schedule now, besides its times."""
    return await run_now(session.holdfast, schedule, session.caller.visible_owner)


@router.delete("/{schedule}")
async def end_schedule(session: Asker, schedule: str) -> ScheduleView:
    """End the schedule for good; its jobs stay, and its runs stay listed."""
    owner = session.caller.visible_owner
    return await set_status(session.holdfast, schedule, owner, ScheduleStatus.ENDED)
