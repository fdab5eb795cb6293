"""Store each recovery of a job, and count the calls that were reused or sent again."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, Select, and_, func, insert, select

from holdfast.models.jobs.job_record import JobStatus
from holdfast.models.jobs.job_recovery import (
    LossCause,
    LostAttempt,
    Recovery,
    ResentCalls,
    ReusedCalls,
)
from holdfast.models.wire.event_kinds import EventKind
from holdfast.storage.core.database import Database, JobTransaction
from holdfast.storage.core.tables.call_tables import model_calls
from holdfast.storage.core.tables.job_tables import jobs
from holdfast.storage.core.tables.recovery_tables import recovered_calls, recoveries

_SAME_LOSS_WINDOW = timedelta(seconds=30)
"""Attempts lost within this time after a recovery belong to it; their retries come late."""


async def begin_recovery(
    db: Database, job_id: str, loss: LostAttempt, epoch: int | None = None
) -> int | None:
    """Return the number of the recovery that this lost attempt belongs to; store a new one.

    None if the job has ended: its log is closed then.

    Repeated calls, also of many attempts that were lost together, return the same number.

    Raises:
        NotFound: there is no such job.
        StaleEpoch: a newer run has taken over.
        StorageAway: PostgreSQL does not answer.
    """
    async with db.job(job_id, epoch) as write:
        if JobStatus(write.held.status).is_final:
            return None
        known = await _earlier_recoveries(write)
        for row in known:
            if _is_same_loss(row, loss):
                return int(row.number)
        number = len(known) + 1
        values = {
            "job_id": job_id,
            "number": number,
            "cause": loss.cause.value,
            "lost_worker": _unique_loss_name(loss.lost_worker, {row.lost_worker for row in known}),
            # Clocks differ: the loss must not be later than the resumption.
            "last_seen_at": func.least(loss.at, func.clock_timestamp()),
            "resumed_at": func.clock_timestamp(),
        }
        await write.connection.execute(insert(recoveries).values(values))
        write.event(EventKind.JOB_RECOVERED, cause=loss.cause.value, number=number)
        return number


async def recoveries_of(db: Database, job_id: str) -> list[Recovery]:
    """Return the job's recoveries in order."""
    async with db.reading() as connection:
        return [
            _recovery(row)
            for row in (await connection.execute(_recoveries_with_totals(job_id))).all()
        ]


async def _earlier_recoveries(write: JobTransaction) -> Sequence[Row[Any]]:
    query = (
        select(recoveries).where(recoveries.c.job_id == write.job_id).order_by(recoveries.c.number)
    )
    return (await write.connection.execute(query)).all()


def _is_same_loss(row: Row[Any], loss: LostAttempt) -> bool:
    """True if the recovery was from this loss; a worker without a name matches any."""
    lost = _name(row.lost_worker)
    is_same = loss.lost_worker == lost or (
        loss.cause is LossCause.WORKER and not (loss.lost_worker and lost)
    )
    return row.cause == loss.cause and is_same and loss.at <= row.resumed_at + _SAME_LOSS_WINDOW


def _unique_loss_name(lost: str, taken: set[str]) -> str:
    """Return an unused name for the loss: `lost`, or `lost (2)` for its second death."""
    names = [lost, *(f"{lost} ({n})" for n in range(2, len(taken) + 2))]
    return next(name for name in names if name not in taken)


def _name(lost: str) -> str:
    return lost.partition(" (")[0]


def _recoveries_with_totals(job_id: str) -> Select[Any]:
    calls, tokens = recovered_calls.c, model_calls.c.input_tokens + model_calls.c.output_tokens
    counts = {
        "model_reused": and_(calls.kind == "model", calls.was_reused),
        "tool_reused": and_(calls.kind == "tool", calls.was_reused),
        "model_sent": and_(calls.kind == "model", ~calls.was_reused),
        "tool_sent": and_(calls.kind == "tool", ~calls.was_reused),
    }
    is_of_recovery = and_(
        calls.job_id == recoveries.c.job_id, calls.recovery == recoveries.c.number
    )
    is_reused_call = and_(
        calls.kind == "model", calls.was_reused, model_calls.c.id == calls.call_id
    )
    return (
        select(
            recoveries,
            jobs.c.finished_at,
            func.coalesce(func.sum(tokens), 0).label("tokens"),
            *(func.count().filter(rule).label(name) for name, rule in counts.items()),
        )
        .join(jobs, jobs.c.id == recoveries.c.job_id)
        .outerjoin(recovered_calls, is_of_recovery)
        .outerjoin(model_calls, is_reused_call)
        .where(recoveries.c.job_id == job_id)
        .group_by(recoveries.c.job_id, recoveries.c.number, jobs.c.finished_at)
        .order_by(recoveries.c.number)
    )


def _recovery(row: Row[Any]) -> Recovery:
    return Recovery(
        number=row.number,
        cause=LossCause(row.cause),
        lost_worker=_name(row.lost_worker),
        last_seen_at=row.last_seen_at,
        resumed_at=row.resumed_at,
        seconds_until_resumed=(row.resumed_at - row.last_seen_at).total_seconds(),
        reused=ReusedCalls(model=row.model_reused, tool=row.tool_reused, tokens=int(row.tokens)),
        sent_again=ResentCalls(model=row.model_sent, tool=row.tool_sent),
        seconds_to_end=_seconds_to_end(row.last_seen_at, row.finished_at),
    )


def _seconds_to_end(last_seen_at: datetime, finished_at: datetime | None) -> float | None:
    """Return the seconds to the job's end; None also if the job had ended before."""
    if finished_at is None or finished_at < last_seen_at:
        return None
    return (finished_at - last_seen_at).total_seconds()
