"""Recoveries: one row for what was lost and when work went on, and the calls noted under it."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, Select, and_, func, insert, select

from models.jobs import FINAL
from models.recoveries import Cause, Loss, Recovery, Reused, SentAgain
from models.tables import jobs, llm_calls, recovered_calls, recoveries
from storage.database import Database, JobWrite

_ONE_LOSS = timedelta(seconds=30)
"""Attempts that were lost so soon after a recovery were lost with it: they are retried late."""


async def begin(db: Database, job_id: str, loss: Loss, epoch: int | None = None) -> int | None:
    """The number of the job's recovery from this loss, stored with its event if it is the first.

    None where the job has ended: then nothing goes on, and its log is closed.

    Repeating, at once or from many attempts that were lost together, gives the same number.

    Raises:
        NotFound: there is no such job.
        StaleEpoch: a newer run has taken over.
        StorageAway: PostgreSQL does not answer.
    """
    async with db.job(job_id, epoch) as write:
        if write.held.status in FINAL:
            return None
        known = await _known(write)
        for row in known:
            if _is_of(row, loss):
                return int(row.number)
        number = len(known) + 1
        values = {
            "job_id": job_id,
            "number": number,
            "cause": loss.cause.value,
            "lost": _free_name(loss.lost, {row.lost for row in known}),
            # Clocks differ: nothing is lost after work has gone on.
            "lost_at": func.least(loss.at, func.clock_timestamp()),
            "resumed_at": func.clock_timestamp(),
        }
        await write.connection.execute(insert(recoveries).values(values))
        write.event("job.recovered", cause=loss.cause.value, number=number)
        return number


async def of_job(db: Database, job_id: str) -> list[Recovery]:
    """The job's recoveries, the first one first."""
    async with db.reading() as connection:
        return [_recovery(row) for row in (await connection.execute(_sums(job_id))).all()]


async def _known(write: JobWrite) -> Sequence[Row[Any]]:
    query = (
        select(recoveries).where(recoveries.c.job_id == write.job_id).order_by(recoveries.c.number)
    )
    return (await write.connection.execute(query)).all()


def _is_of(row: Row[Any], loss: Loss) -> bool:
    """Whether the recovery was from this loss; a worker without a name may be any."""
    lost = _name(row.lost)
    is_same = loss.lost == lost or (loss.cause is Cause.WORKER and not (loss.lost and lost))
    return row.cause == loss.cause and is_same and loss.at <= row.resumed_at + _ONE_LOSS


def _free_name(lost: str, taken: set[str]) -> str:
    """A name that no recovery of the job has: `lost`, or `lost (2)` for its second death."""
    names = [lost, *(f"{lost} ({n})" for n in range(2, len(taken) + 2))]
    return next(name for name in names if name not in taken)


def _name(lost: str) -> str:
    return lost.partition(" (")[0]


def _sums(job_id: str) -> Select[Any]:
    calls, tokens = recovered_calls.c, llm_calls.c.input_tokens + llm_calls.c.output_tokens
    counts = {
        "model_reused": and_(calls.kind == "model", calls.was_reused),
        "tool_reused": and_(calls.kind == "tool", calls.was_reused),
        "model_sent": and_(calls.kind == "model", ~calls.was_reused),
        "tool_sent": and_(calls.kind == "tool", ~calls.was_reused),
    }
    is_of_recovery = and_(
        calls.job_id == recoveries.c.job_id, calls.recovery == recoveries.c.number
    )
    is_reused_call = and_(calls.kind == "model", calls.was_reused, llm_calls.c.id == calls.call_id)
    return (
        select(
            recoveries,
            jobs.c.finished_at,
            func.coalesce(func.sum(tokens), 0).label("tokens"),
            *(func.count().filter(rule).label(name) for name, rule in counts.items()),
        )
        .join(jobs, jobs.c.id == recoveries.c.job_id)
        .outerjoin(recovered_calls, is_of_recovery)
        .outerjoin(llm_calls, is_reused_call)
        .where(recoveries.c.job_id == job_id)
        .group_by(recoveries.c.job_id, recoveries.c.number, jobs.c.finished_at)
        .order_by(recoveries.c.number)
    )


def _recovery(row: Row[Any]) -> Recovery:
    return Recovery(
        number=row.number,
        cause=Cause(row.cause),
        lost=_name(row.lost),
        lost_at=row.lost_at,
        resumed_at=row.resumed_at,
        seconds_until_resumed=(row.resumed_at - row.lost_at).total_seconds(),
        reused=Reused(model=row.model_reused, tool=row.tool_reused, tokens=int(row.tokens)),
        sent_again=SentAgain(model=row.model_sent, tool=row.tool_sent),
        seconds_to_end=_seconds_to_end(row.lost_at, row.finished_at),
    )


def _seconds_to_end(lost_at: datetime, finished_at: datetime | None) -> float | None:
    """None, too, where the job had ended before, and was reopened."""
    if finished_at is None or finished_at < lost_at:
        return None
    return (finished_at - lost_at).total_seconds()
