"""Store, list, pause and end schedules."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import Row, func, insert, select, update

from holdfast.models.errors import BadInput, NotFound
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.schedules.schedule import (
    MAX_SCHEDULES,
    Schedule,
    ScheduledWork,
    ScheduleStatus,
    ScheduleTerms,
)
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.schedule_tables import schedules

_NOT_ENDED = schedules.c.status != ScheduleStatus.ENDED.value


async def store_schedule(db: Database, schedule: Schedule) -> Schedule:
    """Store a new schedule, and return it with its time of creation.

    Raises:
        BadInput: the owner has the most schedules already.
    """
    mine = select(func.count()).where(schedules.c.owner == schedule.owner, _NOT_ENDED)
    async with db.writing() as connection:
        if (await connection.execute(mine)).scalar_one() >= MAX_SCHEDULES:
            raise BadInput(f"{schedule.owner} has {MAX_SCHEDULES} schedules already; end one first")
        made = await connection.execute(
            insert(schedules).values(_values(schedule)).returning(schedules)
        )
        return _schedule(made.one())


async def load_schedules(db: Database, owner: str | None) -> list[Schedule]:
    """Return the schedules of one owner or of all, the newest first; ended ones come last."""
    query = select(schedules).order_by(
        schedules.c.status == ScheduleStatus.ENDED.value,
        schedules.c.created_at.desc(),
        schedules.c.id,
    )
    if owner is not None:
        query = query.where(schedules.c.owner == owner)
    async with db.reading() as connection:
        return [_schedule(row) for row in (await connection.execute(query)).all()]


async def open_schedules(db: Database) -> list[Schedule]:
    """Return the schedules that have not ended."""
    async with db.reading() as connection:
        rows = (await connection.execute(select(schedules).where(_NOT_ENDED))).all()
    return [_schedule(row) for row in rows]


async def find_schedule(db: Database, schedule_id: str, owner: str | None) -> Schedule:
    """Return the schedule; with `owner`, only if it is the owner's.

    Raises:
        NotFound: there is no such schedule.
    """
    query = select(schedules).where(schedules.c.id == schedule_id)
    if owner is not None:
        query = query.where(schedules.c.owner == owner)
    async with db.reading() as connection:
        row = (await connection.execute(query)).one_or_none()
    if row is None:
        raise NotFound(
            f"there is no schedule {schedule_id[:60]!r}; `holdfast schedules list` shows the "
            "schedules"
        )
    return _schedule(row)


async def set_schedule_status(
    db: Database, schedule_id: str, status: ScheduleStatus, *, note: str = ""
) -> None:
    """Record that the schedule runs, is paused or has ended; an ended one stays ended."""
    values: dict[str, object] = {"status": status.value, "note": note}
    if status is ScheduleStatus.ACTIVE:
        values["continued_at"] = func.now()
    statement = update(schedules).where(schedules.c.id == schedule_id, _NOT_ENDED).values(values)
    async with db.writing() as connection:
        await connection.execute(statement)


async def schedule_ids_of_owner(db: Database, owner: str) -> Sequence[str]:
    """Return the ids of the owner's schedules, with ended ones."""
    query = select(schedules.c.id).where(schedules.c.owner == owner)
    async with db.reading() as connection:
        return list((await connection.execute(query)).scalars())


def _values(schedule: Schedule) -> dict[str, object]:
    work, terms = schedule.work, schedule.terms
    return {
        "id": schedule.id,
        "owner": schedule.owner,
        "key_id": schedule.key_id,
        "question": schedule.question,
        "request": work.request.model_dump(mode="json") if work.request else None,
        "updated_job": work.updated_job,
        "searches_again": work.searches_again,
        "times": terms.times,
        "time_zone": terms.time_zone,
        "overlap": terms.overlap.value,
        "catch_up_s": int(terms.catch_up.total_seconds()),
        "runs": terms.runs,
        "status": schedule.status.value,
        "note": schedule.note,
    }


def _schedule(row: Row[Any]) -> Schedule:
    return Schedule(
        id=row.id,
        owner=row.owner,
        key_id=row.key_id,
        question=row.question,
        work=ScheduledWork(
            request=JobRequest.model_validate(row.request) if row.request else None,
            updated_job=row.updated_job,
            searches_again=row.searches_again,
        ),
        terms=ScheduleTerms(
            times=row.times,
            time_zone=row.time_zone,
            overlap=row.overlap,
            catch_up=timedelta(seconds=row.catch_up_s),
            runs=row.runs,
        ),
        status=ScheduleStatus(row.status),
        note=row.note,
        created_at=row.created_at,
        continued_at=row.continued_at,
    )
