"""Carry out erasures in PostgreSQL; each transaction adds to the receipt what it removed."""

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from holdfast.models.access.erasures import ErasureReceipt, ErasureSubject
from holdfast.models.access.quotas import QuotaHolder
from holdfast.models.errors import BadInput
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.access_tables import api_keys
from holdfast.storage.core.tables.corpus_tables import documents
from holdfast.storage.core.tables.erasure_tables import erasures
from holdfast.storage.core.tables.job_tables import jobs
from holdfast.storage.core.tables.quota_tables import quota_uses, quotas
from holdfast.storage.core.tables.schedule_tables import schedules
from holdfast.storage.core.tables.upload_tables import document_uploads
from holdfast.storage.core.tables.webhook_tables import webhooks
from holdfast.storage.jobs.job_removal import count_rows_of_job, delete_job

_OWNED_TABLES = (api_keys, webhooks, document_uploads, quota_uses, schedules)
"""Their rows have an owner of their own; rows of other tables belong to a job or a collection."""


async def has_begun(db: Database, kind: ErasureSubject, subject: str) -> bool:
    """Return True if an erasure of the subject was interrupted."""
    async with db.reading() as connection:
        return (await connection.execute(_open_erasure(kind, subject))).first() is not None


async def begin_erasure(db: Database, kind: ErasureSubject, subject: str, by: str) -> str:
    """Return the id of the erasure; an interrupted erasure of the subject continues."""
    async with db.writing() as connection:
        query = _open_erasure(kind, subject)
        if found := (await connection.execute(query)).scalar_one_or_none():
            return str(found)
        made = f"erasure-{uuid4().hex[:12]}"
        row = {"id": made, "kind": kind.value, "subject": subject, "erased_by": by}
        await connection.execute(insert(erasures).values(row))
    return made


async def job_ids_of_owner(db: Database, owner: str) -> list[str]:
    """Return the ids of the owner's jobs, the newest first: a job follows an older one."""
    query = select(jobs.c.id).where(jobs.c.owner == owner).order_by(jobs.c.created_at.desc())
    async with db.reading() as connection:
        return list((await connection.execute(query)).scalars())


async def follow_ups_of(db: Database, job_ids: Sequence[str]) -> list[str]:
    """Return the ids of all jobs that follow or fork one of these, directly or through others."""
    followed, forked = jobs.c.follow_up["job"].astext, jobs.c.fork["job"].astext
    found: list[str] = []
    newest = list(job_ids)
    async with db.reading() as connection:
        while newest:
            quotes_one = or_(followed.in_(newest), forked.in_(newest))
            query = select(jobs.c.id).where(quotes_one).order_by(jobs.c.created_at)
            known = {*job_ids, *found}
            rows = (await connection.execute(query)).scalars()
            newest = [each for each in rows if each not in known]
            found += newest
    return found


async def erase_stored_job(
    db: Database,
    erasure_id: str,
    job_id: str,
    workflow_runs: Sequence[str],
    *,
    epoch: int | None = None,
) -> None:
    """Delete the job's rows in all tables and the sources that no other job has read.

    Raises:
        BadInput: `epoch` is given, and the job was reopened since it had that epoch.
    """
    async with db.writing() as connection:
        if epoch is not None:
            held = select(jobs.c.epoch).where(jobs.c.id == job_id).with_for_update()
            if (await connection.execute(held)).scalar_one_or_none() not in (None, epoch):
                raise BadInput(f"job {job_id} was reopened while it was being erased; it stays")
        rows = await count_rows_of_job(connection, job_id)
        sources = await delete_job(connection, job_id)
        if sources.removed:
            rows["sources"] = sources.removed
        await _add(
            connection,
            erasure_id,
            rows,
            jobs=[job_id],
            workflow_runs=workflow_runs,
            shared_sources=sources.shared,
        )


async def owns_rows(db: Database, owner: str) -> bool:
    """Return True if the owner has a key, a job, a schedule, a document or another row."""
    owned = [exists().where(table.c.owner == owner) for table in (*_OWNED_TABLES, jobs)]
    owned += [exists().where(*_is_quota_of(owner)), exists().where(_is_document_of(owner))]
    async with db.reading() as connection:
        return bool((await connection.execute(select(or_(*owned)))).scalar_one())


async def erase_owned_rows(db: Database, erasure_id: str, owner: str) -> None:
    """Delete the owner's keys, webhooks, schedules and records of uploads."""
    async with db.writing() as connection:
        rows: dict[str, int] = {}
        for table in _OWNED_TABLES:
            gone = await connection.execute(delete(table).where(table.c.owner == owner))
            rows |= {table.name: gone.rowcount} if gone.rowcount else {}
        await connection.execute(delete(quotas).where(*_is_quota_of(owner)))
        await _add(connection, erasure_id, rows)


async def upload_ids_of_owner(db: Database, owner: str) -> list[str]:
    """Return the ids of the owner's uploads."""
    query = select(document_uploads.c.id).where(document_uploads.c.owner == owner)
    async with db.reading() as connection:
        return list((await connection.execute(query)).scalars())


async def collections_of_owner(db: Database, owner: str) -> list[str]:
    """Return the stored names of the collections that the owner's keys filled."""
    query = select(documents.c.collection).where(_is_document_of(owner)).distinct()
    async with db.reading() as connection:
        return list((await connection.execute(query)).scalars())


async def note_erased(db: Database, erasure_id: str, table: str, rows: int) -> None:
    """Add removed rows of a table to the receipt."""
    async with db.writing() as connection:
        await _add(connection, erasure_id, {table: rows})


async def end_erasure(
    db: Database, erasure_id: str, *, upload_folders: int, dependent_jobs: Sequence[str]
) -> ErasureReceipt:
    """Record that everything is erased, and return the receipt."""
    values = {
        "ended_at": func.now(),
        "upload_folders": erasures.c.upload_folders + upload_folders,
        "dependent_jobs": list(dependent_jobs),
    }
    statement = update(erasures).where(erasures.c.id == erasure_id).values(values)
    async with db.writing() as connection:
        return _receipt((await connection.execute(statement.returning(erasures))).one())


async def load_receipts(db: Database, limit: int) -> list[ErasureReceipt]:
    """Return the receipts, the newest first."""
    query = select(erasures).order_by(erasures.c.begun_at.desc(), erasures.c.id).limit(limit)
    async with db.reading() as connection:
        return [_receipt(row) for row in (await connection.execute(query)).all()]


def _is_quota_of(owner: str) -> tuple[ColumnElement[bool], ...]:
    return quotas.c.kind == QuotaHolder.OWNER.value, quotas.c.subject == owner


def _is_document_of(owner: str) -> ColumnElement[bool]:
    return documents.c.collection.startswith(f"{owner}/", autoescape=True)


def _open_erasure(kind: ErasureSubject, subject: str) -> Select[tuple[str]]:
    is_open = (
        erasures.c.kind == kind.value,
        erasures.c.subject == subject,
        erasures.c.ended_at.is_(None),
    )
    return select(erasures.c.id).where(*is_open).limit(1)


async def _add(
    connection: AsyncConnection,
    erasure_id: str,
    rows: dict[str, int],
    *,
    jobs: Sequence[str] = (),
    workflow_runs: Sequence[str] = (),
    shared_sources: int = 0,
) -> None:
    query = select(erasures).where(erasures.c.id == erasure_id).with_for_update()
    held = (await connection.execute(query)).one()
    summed = {name: held.rows.get(name, 0) + count for name, count in rows.items()}
    values = {
        "jobs": [*held.jobs, *jobs],
        "rows": held.rows | summed,
        "workflow_runs": [*held.workflow_runs, *workflow_runs],
        "shared_sources": held.shared_sources + shared_sources,
    }
    await connection.execute(update(erasures).where(erasures.c.id == erasure_id).values(values))


def _receipt(row: Row[Any]) -> ErasureReceipt:
    return ErasureReceipt.model_validate(dict(row._mapping))  # noqa: SLF001 - SQLAlchemy's public name
