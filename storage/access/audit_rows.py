"""Append entries to the audit, and list them."""

from typing import Any

from sqlalchemy import Row, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from holdfast.models.access.audit_entries import AuditedAction, AuditEntry, AuditFilter
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.access_tables import audit_entries


async def append_audit_entry(db: Database, action: AuditedAction) -> None:
    """Store an entry in a transaction of its own, before the action is carried out."""
    async with db.writing() as connection:
        await append_with(connection, action)


async def append_with(connection: AsyncConnection, action: AuditedAction) -> None:
    """Store an entry in the transaction of the action."""
    await connection.execute(insert(audit_entries).values(**action.model_dump()))


async def load_audit_entries(db: Database, which: AuditFilter) -> list[AuditEntry]:
    """Return the entries of the filter, the newest first."""
    query = select(audit_entries).order_by(audit_entries.c.id.desc()).limit(which.limit)
    if which.before is not None:
        query = query.where(audit_entries.c.id < which.before)
    if which.actor is not None:
        query = query.where(audit_entries.c.actor == which.actor)
    if which.resource is not None:
        query = query.where(audit_entries.c.resource.contains(which.resource, autoescape=True))
    async with db.reading() as connection:
        return [_entry(row) for row in (await connection.execute(query)).all()]


def _entry(row: Row[Any]) -> AuditEntry:
    return AuditEntry.model_validate(dict(row._mapping))  # noqa: SLF001 - SQLAlchemy's public name
