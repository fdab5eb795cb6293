"""Define the pages of schedules: the list with its form, one schedule with its runs, changes."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Annotated, Literal
from urllib.parse import quote
from zoneinfo import available_timezones

from fastapi import APIRouter, Form, Path, Query, Request, Response
from pydantic import ValidationError
from starlette.responses import RedirectResponse

from holdfast.api.api_context import CallerSession
from holdfast.api.owned_collections import OwnedCollections
from holdfast.api.routes.schedule_routes import NewScheduleBody, created_schedule
from holdfast.capabilities.model_lines import model_lines
from holdfast.configuration.price_settings import read_prices
from holdfast.corpus.collection_lookup import list_collections
from holdfast.jobs.job_submission import JobSubmission
from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.job_record import FINAL_JOB_STATUSES
from holdfast.models.schedules.overlap_policy import OverlapPolicy
from holdfast.models.schedules.schedule import ScheduledRun, ScheduleStatus
from holdfast.planning.strategies.strategy_presets import all_presets
from holdfast.schedules.schedule_management import (
    list_schedules,
    run_now,
    runs_of_schedule,
    set_status,
    show_schedule,
)
from holdfast.web.access.page_session import PageAsker, PageReader
from holdfast.web.page_route import PageRoute
from holdfast.web.rendering.amounts import limit_settings, positive_count
from holdfast.web.rendering.page_templates import page

_SHOWN_RUNS = 50
_LATEST_S = 10**11
"""A second of the year 5138: the calendar of Python ends in the year 9999."""
_BEGINS_WITHIN = timedelta(minutes=1)
"""How long the page looks for a run that it asked for: one that is left out never comes."""
_STATUSES = {
    "pause": ScheduleStatus.PAUSED,
    "resume": ScheduleStatus.ACTIVE,
    "end": ScheduleStatus.ENDED,
}

router = APIRouter(route_class=PageRoute, prefix="/schedules")
Text = Annotated[str, Form()]


class ScheduleForm(Frozen):
    """The form as its user filled it in."""

    question: str = ""
    update: str = ""
    """The job whose report is updated; empty: the question is asked."""
    search: str = ""
    collection: str = ""
    preset: str = ""
    model: str = ""
    max_cost: str = ""
    times: str = ""
    time_zone: str = "UTC"
    overlap: OverlapPolicy = OverlapPolicy.SKIP
    runs: str = ""


@router.get("")
async def show_schedules(
    session: PageReader,
    request: Request,
    update: Annotated[str, Query(max_length=200)] = "",
    question: Annotated[str, Query(max_length=20_000)] = "",
    model: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """The schedules, and the form that adds one."""
    form = ScheduleForm(update=update, question=question, model=model)
    return await _schedules_page(session, request, form)


@router.post("")
async def add_schedule(
    session: PageAsker, request: Request, form: Annotated[ScheduleForm, Form()]
) -> Response:
    """Add a schedule; the form comes back with what cannot be used."""
    try:
        made = await created_schedule(session, _body(form))
    except BadInput as error:
        return await _schedules_page(session, request, form, fault=str(error))
    return RedirectResponse(f"/schedules/{quote(made.id, safe='')}", 303)


@router.get("/{schedule}")
async def show_runs(
    session: PageReader,
    request: Request,
    schedule: str,
    asked: Annotated[int, Query(ge=0, le=_LATEST_S)] = 0,
) -> Response:
    """One schedule with its newest runs, and what changed from one to the next.

    `asked` is the second in which a run was asked for; the page looks again until it has begun.
    """
    holdfast, owner = session.holdfast, session.caller.visible_owner
    runs = await runs_of_schedule(holdfast, schedule, owner, limit=_SHOWN_RUNS)
    is_awaited = _is_awaited(runs, datetime.fromtimestamp(asked, UTC))
    return page(
        request,
        "schedule",
        schedule=await show_schedule(holdfast, schedule, owner),
        runs=runs,
        runs_shown=_SHOWN_RUNS,
        is_awaited=is_awaited,
        looks_again=is_awaited or any(_is_open(each) for each in runs[:1]),
    )


@router.post("/{schedule}/{change}")
async def change_schedule(
    session: PageAsker,
    schedule: str,
    change: Annotated[Literal["pause", "resume", "end", "run"], Path()],
) -> Response:
    """Pause, resume or end the schedule, or run it now."""
    holdfast, owner = session.holdfast, session.caller.visible_owner
    query = ""
    if change == "run":
        query = f"?asked={int(datetime.now(UTC).timestamp())}"
        await run_now(holdfast, schedule, owner)
    else:
        await set_status(holdfast, schedule, owner, _STATUSES[change])
    return RedirectResponse(f"/schedules/{quote(schedule, safe='')}{query}", 303)


def _is_awaited(runs: Sequence[ScheduledRun], asked_at: datetime) -> bool:
    """True if a run that was asked for a moment ago has not begun yet."""
    has_begun = bool(runs) and runs[0].begun_at >= asked_at
    return not has_begun and datetime.now(UTC) < asked_at + _BEGINS_WITHIN


def _is_open(run: ScheduledRun) -> bool:
    """True if the run has a job that has not ended."""
    return run.status is not None and run.status not in FINAL_JOB_STATUSES


@cache
def _time_zones() -> tuple[str, ...]:
    """The names of all time zones; reading them takes longer than the rest of the page."""
    return tuple(sorted({"UTC", *available_timezones()}))


def _body(form: ScheduleForm) -> NewScheduleBody:
    """The form as the API takes it.

    Raises:
        BadInput: a field of the form cannot be used.
    """
    limits = limit_settings(form.max_cost)
    runs = positive_count("the number of runs", form.runs)
    ask = None
    if not form.update:
        ask = JobSubmission(
            question=form.question,
            collection=form.collection or None,
            preset=form.preset or None,
            model=form.model or None,
            settings=limits,
        )
    try:
        return NewScheduleBody(
            times=form.times,
            ask=ask,
            update=form.update or None,
            search=bool(form.search),
            time_zone=form.time_zone,
            overlap=form.overlap,
            runs=runs,
        )
    except ValidationError as error:
        fault = error.errors()[0]
        raise BadInput(f"{fault['loc'][-1]}: {fault['msg']}") from error


async def _schedules_page(
    session: CallerSession, request: Request, form: ScheduleForm, *, fault: str = ""
) -> Response:
    holdfast, caller = session.holdfast, session.caller
    settings = holdfast.settings
    return page(
        request,
        "schedules",
        code=400 if fault else 200,
        form=form,
        fault=fault,
        schedules=await list_schedules(holdfast, caller.visible_owner),
        collections=OwnedCollections(caller).visible(await list_collections(holdfast)),
        models=model_lines(settings),
        presets=list(all_presets()),
        usual_preset=settings.preset,
        zones=_time_zones(),
        currency=read_prices(settings.config_file).currency,
    )
