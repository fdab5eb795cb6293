"""Add, list, pause, resume, run and end schedules."""

import secrets
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from holdfast.client import Holdfast
from holdfast.jobs.job_lookup import report_of
from holdfast.models.error_fields import error_field
from holdfast.models.errors import BadInput, ServiceDown
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.schedules.schedule import (
    Schedule,
    ScheduledRun,
    ScheduledWork,
    ScheduleStatus,
    ScheduleTerms,
    ScheduleView,
)
from holdfast.models.schedules.schedule_times import checked_time_zone, parse_times
from holdfast.storage.jobs import job_rows
from holdfast.storage.schedules import schedule_rows
from holdfast.storage.schedules.schedule_run_rows import load_runs
from holdfast.temporal.job_schedules import (
    create_temporal_schedule,
    delete_temporal_schedule,
    next_run_time,
    pause_temporal_schedule,
    trigger_temporal_schedule,
)
from holdfast.temporal.temporal_connection import connect

if TYPE_CHECKING:
    from temporalio.client import Client

_LONGEST_CATCH_UP = timedelta(days=366)


async def schedule_question(
    holdfast: Holdfast, request: JobRequest, terms: ScheduleTerms, *, key_id: str = ""
) -> ScheduleView:
    """Ask the question of a checked request again at the times of the terms.

    Raises:
        BadInput: the terms cannot be used, or the question waits for a person at each run.
        ServiceDown: Temporal does not answer; the schedule is stored, and a worker starts it.
    """
    if request.strategy.review or request.strategy.plan_only:
        raise BadInput(
            "a schedule runs without a person, so its jobs can neither wait for approval of their "
            "plan nor only plan; leave out `review` and `plan_only` (--review and --dry-run)"
        )
    work = ScheduledWork(request=request)
    return await _add(holdfast, request.owner, request.question, work, terms, key_id)


async def schedule_update(
    holdfast: Holdfast,
    job_id: str,
    terms: ScheduleTerms,
    *,
    owner: str,
    key_id: str = "",
    searches_again: bool = False,
) -> ScheduleView:
    """Update the report of the job at the times of the terms, from its newest update each time.

    Raises:
        NotFound: there is no such job, or it has no report.
        BadInput: the terms cannot be used.
        ServiceDown: Temporal does not answer; the schedule is stored, and a worker starts it.
    """
    with error_field("update"):
        await report_of(holdfast, job_id)
    job = await job_rows.load_job(holdfast.db, job_id)
    work = ScheduledWork(updated_job=job_id, searches_again=searches_again)
    return await _add(holdfast, owner, job.request.question, work, terms, key_id)


async def list_schedules(holdfast: Holdfast, owner: str | None) -> list[ScheduleView]:
    """Return the schedules of one owner or of all, with the last and the next run."""
    temporal = await _answering_temporal(holdfast)
    found = await schedule_rows.load_schedules(holdfast.db, owner)
    return [await _view(holdfast, temporal, each) for each in found]


async def show_schedule(holdfast: Holdfast, schedule_id: str, owner: str | None) -> ScheduleView:
    """Return the schedule; with `owner`, only if it is the owner's.

    Raises:
        NotFound: there is no such schedule.
    """
    found = await schedule_rows.find_schedule(holdfast.db, schedule_id, owner)
    return await _view(holdfast, await _answering_temporal(holdfast), found)


async def runs_of_schedule(
    holdfast: Holdfast, schedule_id: str, owner: str | None, *, limit: int
) -> list[ScheduledRun]:
    """Return the runs of the schedule, the newest first.

    Raises:
        NotFound: there is no such schedule.
    """
    found = await schedule_rows.find_schedule(holdfast.db, schedule_id, owner)
    return await load_runs(holdfast.db, found.id, limit)


async def set_status(
    holdfast: Holdfast, schedule_id: str, owner: str | None, status: ScheduleStatus
) -> ScheduleView:
    """Pause the schedule, let it run again, or end it for good.

    What was due while a schedule was paused is not made up for.

    Raises:
        NotFound: there is no such schedule.
        BadInput: the schedule has ended.
        ServiceDown: Temporal does not answer.
    """
    found = await schedule_rows.find_schedule(holdfast.db, schedule_id, owner)
    if found.status is ScheduleStatus.ENDED:
        raise BadInput(f"schedule {found.id} has ended; add another one")
    temporal = await connect(holdfast.settings, holdfast.endpoints)
    await schedule_rows.set_schedule_status(holdfast.db, found.id, status)
    if status is ScheduleStatus.ENDED:
        await delete_temporal_schedule(temporal, found.id)
    else:
        is_paused = status is ScheduleStatus.PAUSED
        await pause_temporal_schedule(temporal, found.id, is_paused=is_paused)
    return await show_schedule(holdfast, found.id, None)


async def run_now(holdfast: Holdfast, schedule_id: str, owner: str | None) -> ScheduleView:
    """Have the schedule run now, besides its times.

    Raises:
        NotFound: there is no such schedule.
        BadInput: the schedule is paused or has ended.
        ServiceDown: Temporal does not answer, or a worker has not yet started the schedule there.
    """
    found = await schedule_rows.find_schedule(holdfast.db, schedule_id, owner)
    if found.status is not ScheduleStatus.ACTIVE:
        way_out = "resume it first" if found.status is ScheduleStatus.PAUSED else "add another one"
        raise BadInput(f"schedule {found.id} is {found.status.value}; {way_out}")
    temporal = await connect(holdfast.settings, holdfast.endpoints)
    await trigger_temporal_schedule(temporal, found)
    return await _view(holdfast, temporal, found)


async def _add(
    holdfast: Holdfast,
    owner: str,
    question: str,
    work: ScheduledWork,
    terms: ScheduleTerms,
    key_id: str,
) -> ScheduleView:
    with error_field("times"):
        parse_times(terms.times)
    with error_field("time_zone"):
        checked_time_zone(terms.time_zone)
    if not timedelta(0) <= terms.catch_up <= _LONGEST_CATCH_UP:
        raise BadInput("`catch_up` is a time up to 366 days, such as 12h or 3d", field="catch_up")
    now = datetime.now(UTC)
    made = Schedule(
        id=f"schedule-{secrets.token_hex(5)}",
        owner=owner,
        key_id=key_id,
        question=question,
        work=work,
        terms=terms,
        created_at=now,
        continued_at=now,
    )
    temporal = await connect(holdfast.settings, holdfast.endpoints)
    stored = await schedule_rows.store_schedule(holdfast.db, made)
    await create_temporal_schedule(temporal, holdfast.settings.task_queue, stored)
    return await _view(holdfast, temporal, stored)


async def _answering_temporal(holdfast: Holdfast) -> "Client | None":
    """Return a connection; None if Temporal does not answer, because lists are read without it."""
    try:
        return await connect(holdfast.settings, holdfast.endpoints)
    except ServiceDown:
        return None


async def _view(holdfast: Holdfast, temporal: "Client | None", schedule: Schedule) -> ScheduleView:
    runs = await load_runs(holdfast.db, schedule.id, 1)
    next_run = None
    if temporal is not None and schedule.status is ScheduleStatus.ACTIVE:
        next_run = await next_run_time(temporal, schedule.id)
    return ScheduleView(
        id=schedule.id,
        owner=schedule.owner,
        question=schedule.question,
        updates=schedule.work.updated_job,
        terms=schedule.terms,
        status=schedule.status,
        note=schedule.note,
        created_at=schedule.created_at,
        next_run=next_run,
        last_run=runs[0] if runs else None,
    )
