"""Store and read the runs of schedules, and what changed from one run to the next."""

from typing import Any, NamedTuple

from sqlalchemy import CompoundSelect, Row, func, insert, select, union_all, update
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.ext.asyncio import AsyncConnection

from holdfast.models.jobs.job_record import FINAL_JOB_STATUSES
from holdfast.models.schedules.schedule import ReportChanges, ScheduledRun, ScheduleStatus
from holdfast.storage.core.database import Database, JobTransaction
from holdfast.storage.core.tables.job_tables import jobs, reports
from holdfast.storage.core.tables.schedule_tables import schedule_runs, schedules

_RUNS = select(schedule_runs, jobs.c.status).outerjoin(jobs, jobs.c.id == schedule_runs.c.job_id)


class NoRunLeft(Exception):
    """The schedule has had all its runs."""


class ScheduleOfJob(NamedTuple):
    """The schedule that asked for a job, and the job with the report before."""

    schedule_id: str
    compared_job: str | None
    """None: no run before delivered a report."""


async def find_run(db: Database, schedule_id: str, run: str) -> ScheduledRun | None:
    """Return the run; None if it has not begun."""
    mine = (schedule_runs.c.schedule_id == schedule_id, schedule_runs.c.run == run)
    async with db.reading() as connection:
        row = (await connection.execute(_RUNS.where(*mine))).one_or_none()
    return None if row is None else _run(row)


async def load_runs(db: Database, schedule_id: str, limit: int) -> list[ScheduledRun]:
    """Return the runs of the schedule, the newest first."""
    query = (
        _RUNS.where(schedule_runs.c.schedule_id == schedule_id)
        .order_by(schedule_runs.c.begun_at.desc(), schedule_runs.c.run)
        .limit(limit)
    )
    async with db.reading() as connection:
        return [_run(row) for row in (await connection.execute(query)).all()]


async def count_runs(db: Database, schedule_id: str) -> int:
    """Return how many runs the schedule has had."""
    async with db.reading() as connection:
        return await _count(connection, schedule_id)


async def store_run_of_job(write: JobTransaction, schedule_id: str, run: str) -> None:
    """Store the run with its job, in the transaction that stores the job.

    The row refers to the schedule, so a schedule that was erased meanwhile submits no job.

    Raises:
        NoRunLeft: the schedule has had all its runs.
    """
    await _insert(write.connection, schedule_id, run, job_id=write.job_id)


async def store_run_without_job(db: Database, schedule_id: str, run: str, note: str) -> None:
    """Store that the run submitted no job, and why.

    Raises:
        NoRunLeft: the schedule has had all its runs.
    """
    async with db.writing() as connection:
        await _insert(connection, schedule_id, run, note=note)


async def newest_report_of_schedule(db: Database, schedule_id: str) -> str | None:
    """Return the job of the newest run that delivered a report; None if there is none."""
    async with db.reading() as connection:
        return await _newest_report(connection, schedule_id)


def jobs_of_open_schedules() -> CompoundSelect[tuple[str]]:
    """Select the jobs whose reports the next runs of schedules update or compare with."""
    is_open = schedules.c.status != ScheduleStatus.ENDED.value
    newest = (
        select(schedule_runs.c.job_id)
        .join(schedules, schedules.c.id == schedule_runs.c.schedule_id)
        .join(reports, reports.c.job_id == schedule_runs.c.job_id)
        .where(is_open)
        .ext(distinct_on(schedule_runs.c.schedule_id))
        .order_by(
            schedule_runs.c.schedule_id,
            schedule_runs.c.begun_at.desc(),
            schedule_runs.c.run.desc(),
        )
    )
    return union_all(
        select(schedules.c.updated_job).where(is_open), select(newest.subquery().c.job_id)
    )


async def find_schedule_of_job(db: Database, job_id: str) -> ScheduleOfJob | None:
    """Return the schedule that asked for the job; None if no schedule did."""
    mine = select(schedule_runs.c.schedule_id).where(schedule_runs.c.job_id == job_id)
    origin = select(jobs.c.fork["job"].astext).where(jobs.c.id == job_id)
    async with db.reading() as connection:
        schedule_id = (await connection.execute(mine)).scalar_one_or_none()
        if schedule_id is None:
            return None
        before = (await connection.execute(origin)).scalar_one_or_none()
        if not before:
            before = await _newest_report(connection, schedule_id, but=job_id)
    return ScheduleOfJob(schedule_id, before)


async def store_changes(write: JobTransaction, changes: ReportChanges) -> None:
    """Store what changed up to the report of the transaction's job."""
    statement = update(schedule_runs).where(schedule_runs.c.job_id == write.job_id)
    await write.connection.execute(statement.values(changes=changes.model_dump(mode="json")))


async def has_ended(db: Database, job_id: str) -> bool:
    """Return True if the job has ended or was removed."""
    query = select(jobs.c.status).where(jobs.c.id == job_id)
    async with db.reading() as connection:
        status = (await connection.execute(query)).scalar_one_or_none()
    return status is None or status in FINAL_JOB_STATUSES


async def _newest_report(
    connection: AsyncConnection, schedule_id: str, but: str = ""
) -> str | None:
    query = (
        select(schedule_runs.c.job_id)
        .join(reports, reports.c.job_id == schedule_runs.c.job_id)
        .where(schedule_runs.c.schedule_id == schedule_id, schedule_runs.c.job_id != but)
        .order_by(schedule_runs.c.begun_at.desc(), schedule_runs.c.run.desc())
        .limit(1)
    )
    return (await connection.execute(query)).scalar_one_or_none()


async def _count(connection: AsyncConnection, schedule_id: str) -> int:
    query = select(func.count()).where(schedule_runs.c.schedule_id == schedule_id)
    return int((await connection.execute(query)).scalar_one())


async def _insert(
    connection: AsyncConnection, schedule_id: str, run: str, **values: object
) -> None:
    # Locked, so that of runs which begin at the same time each counts those before.
    terms = select(schedules.c.runs).where(schedules.c.id == schedule_id).with_for_update()
    most = (await connection.execute(terms)).scalar_one_or_none()
    if most is not None and await _count(connection, schedule_id) >= most:
        raise NoRunLeft
    row = {"schedule_id": schedule_id, "run": run, **values}
    await connection.execute(insert(schedule_runs).values(row))


def _run(row: Row[Any]) -> ScheduledRun:
    changes = ReportChanges.model_validate(row.changes) if row.changes else None
    return ScheduledRun(
        run=row.run,
        job_id=row.job_id,
        begun_at=row.begun_at,
        note=row.note or ("" if row.job_id else "its job was removed"),
        status=row.status,
        changes=changes,
    )
