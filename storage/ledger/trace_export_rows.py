"""Record which spans were sent to the collector, and which worker sends them now."""

from collections.abc import Collection
from datetime import datetime, timedelta

from sqlalchemy import func, or_, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from holdfast.models.jobs.job_record import JobStatus
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.job_tables import jobs
from holdfast.storage.core.tables.trace_tables import sent_spans, sent_traces, trace_exporter

_OVERLAP = timedelta(hours=1)
"""A transaction that ends a job may commit this much after the time that it wrote."""


async def lease_export(
    db: Database, holder: str, *, duration: timedelta
) -> tuple[datetime, datetime] | None:
    """Become the one worker that exports, for this time; None while another worker is.

    Returns the present time, and the time until which every ended job was exported. The first
    export begins with the jobs that end from now on.
    """
    row = trace_exporter.c
    is_free = or_(row.leased_until.is_(None), row.leased_until < func.now(), row.holder == holder)
    statement = (
        update(trace_exporter)
        .where(is_free)
        .values(
            holder=holder,
            leased_until=func.now() + duration,
            exported_until=func.coalesce(row.exported_until, func.now()),
        )
        .returning(func.now().label("now"), row.exported_until)
    )
    async with db.writing() as connection:
        leased = (await connection.execute(statement)).one_or_none()
    return None if leased is None else (leased.now, leased.exported_until)


async def note_exported(db: Database, holder: str, until: datetime) -> None:
    """Record that the traces of all jobs that ended before this time are sent."""
    statement = update(trace_exporter).where(trace_exporter.c.holder == holder)
    async with db.writing() as connection:
        await connection.execute(statement.values(exported_until=until))


async def ended_jobs_to_send(db: Database, since: datetime, *, most: int) -> list[str]:
    """Return the ids of jobs that ended since then and are not sent up to their end, oldest first.

    There are at most `most`.
    """
    is_sent = (sent_traces.c.job_id == jobs.c.id) & (sent_traces.c.attempt == jobs.c.attempt)
    ended = (
        select(jobs.c.id)
        .where(jobs.c.finished_at > since - _OVERLAP)
        .where(~select(sent_traces.c.job_id).where(is_sent).exists())
        .order_by(jobs.c.finished_at)
        .limit(most)
    )
    async with db.reading() as connection:
        return list(await connection.scalars(ended))


async def running_jobs(db: Database) -> list[str]:
    """Return the ids of the jobs that run now."""
    query = select(jobs.c.id).where(jobs.c.status == JobStatus.RUNNING.value)
    async with db.reading() as connection:
        return list(await connection.scalars(query))


async def spans_sent(db: Database, job_id: str) -> frozenset[str]:
    """Return the ids of the job's spans that the collector has."""
    query = select(sent_spans.c.span_id).where(sent_spans.c.job_id == job_id)
    async with db.reading() as connection:
        return frozenset(await connection.scalars(query))


async def note_sent_spans(
    db: Database, job_id: str, span_ids: Collection[str], *, ended_attempt: int | None
) -> None:
    """Record that the collector has these spans; nothing is recorded of a job that was removed.

    With `ended_attempt`, the trace is complete until the job is reopened.
    """
    async with db.writing() as connection:
        # Held until the commit, so that the job is not removed in between.
        held = (
            select(jobs.c.id).where(jobs.c.id == job_id).with_for_update(read=True, key_share=True)
        )
        is_there = (await connection.execute(held)).one_or_none()
        if is_there is None:
            return
        if span_ids:
            rows = [{"job_id": job_id, "span_id": each} for each in sorted(span_ids)]
            await connection.execute(upsert(sent_spans).on_conflict_do_nothing(), rows)
        if ended_attempt is not None:
            complete = upsert(sent_traces).values(job_id=job_id, attempt=ended_attempt)
            await connection.execute(
                complete.on_conflict_do_update(
                    index_elements=["job_id"], set_={"attempt": ended_attempt}
                )
            )
