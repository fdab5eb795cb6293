"""Store, list and remove quotas."""

from typing import Any

from sqlalchemy import Row, and_, delete, func, or_, select, text
from sqlalchemy.dialects.postgresql import insert

from holdfast.models.access.audit_entries import AuditedAction
from holdfast.models.access.quotas import Quota, QuotaHolder, QuotaLimits
from holdfast.models.errors import NotFound
from holdfast.storage.access.audit_rows import append_with
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.quota_tables import quota_uses, quotas

_MIDNIGHT = text("date_trunc('day', now() at time zone 'UTC') at time zone 'UTC'")


async def store_quota(
    db: Database, kind: QuotaHolder, subject: str, limits: QuotaLimits, by: str
) -> Quota:
    """Store the quota, in place of an earlier one of the same owner or key."""
    values = {**limits.model_dump(include=set(QuotaLimits.model_fields)), "set_by": by}
    row = {"kind": kind.value, "subject": subject, **values}
    statement = insert(quotas).values(row)
    changed = {**values, "set_at": func.now()}
    async with db.writing() as connection:
        await connection.execute(
            statement.on_conflict_do_update(index_elements=["kind", "subject"], set_=changed)
        )
        await append_with(connection, _audited(by, "set_quota", kind, subject))
    return next(
        each for each in await load_quotas(db) if (each.kind, each.subject) == (kind, subject)
    )


async def remove_quota(db: Database, kind: QuotaHolder, subject: str, by: str) -> None:
    """Remove the quota.

    Raises:
        NotFound: there is no such quota.
    """
    mine = (quotas.c.kind == kind.value, quotas.c.subject == subject)
    async with db.writing() as connection:
        gone = await connection.execute(delete(quotas).where(*mine))
        if gone.rowcount == 0:
            raise NotFound(
                f"there is no quota of {kind.value} {subject[:100]!r}; `holdfast quotas list` "
                "shows the quotas"
            )
        await append_with(connection, _audited(by, "remove_quota", kind, subject))


async def load_quotas(db: Database) -> list[Quota]:
    """Return every quota with what is used of it today."""
    counts_here = and_(
        quota_uses.c.began_at >= _MIDNIGHT,
        or_(
            and_(quotas.c.kind == "owner", quota_uses.c.owner == quotas.c.subject),
            and_(quotas.c.kind == "key", quota_uses.c.key_id == quotas.c.subject),
        ),
    )
    query = (
        select(
            quotas,
            func.count(quota_uses.c.call_id).label("used_calls"),
            func.coalesce(func.sum(quota_uses.c.tokens), 0).label("used_tokens"),
            func.coalesce(func.sum(quota_uses.c.cost), 0).label("used_cost"),
        )
        .outerjoin(quota_uses, counts_here)
        .group_by(quotas.c.kind, quotas.c.subject)
        .order_by(quotas.c.kind.desc(), quotas.c.subject)
    )
    async with db.reading() as connection:
        return [_quota(row) for row in (await connection.execute(query)).all()]


def _audited(by: str, action: str, kind: QuotaHolder, subject: str) -> AuditedAction:
    return AuditedAction(actor=by, action=action, resource=f"{kind.value} {subject}")


def _quota(row: Row[Any]) -> Quota:
    return Quota.model_validate(dict(row._mapping))  # noqa: SLF001 - SQLAlchemy's public name
