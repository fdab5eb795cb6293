"""Store, list and remove quotas."""

from typing import Any

from sqlalchemy import CTE, Row, Select, and_, case, delete, func, literal, or_, select, text
from sqlalchemy.dialects.postgresql import insert

from holdfast.models.access.audit_entries import AuditedAction
from holdfast.models.access.quotas import Quota, QuotaHolder, QuotaLimits
from holdfast.models.errors import NotFound
from holdfast.storage.access.audit_rows import append_with
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.access_tables import api_keys
from holdfast.storage.core.tables.quota_tables import quota_uses, quotas

_MIDNIGHT = text("date_trunc('day', now() at time zone 'UTC') at time zone 'UTC'")


async def store_quota(
    db: Database, kind: QuotaHolder, subject: str, limits: QuotaLimits, by: str
) -> Quota:
    """Store the quota, in place of an earlier one of the same owner, or of the key's line.

    A key's quota is stored for the newest key of its line, which stays in use.
    """
    values = {**limits.model_dump(include=set(QuotaLimits.model_fields)), "set_by": by}
    changed = {**values, "set_at": func.now()}
    async with db.writing() as connection:
        if kind is QuotaHolder.KEY:
            line = lines_of(select(literal(subject).label("subject")))
            newest = (
                select(api_keys.c.id)
                .where(api_keys.c.id.in_(select(line.c.key_id)))
                .order_by(api_keys.c.created_at.desc(), api_keys.c.id)
                .limit(1)
            )
            subject = (await connection.execute(newest)).scalar_one_or_none() or subject
            other = quotas.c.subject.in_(select(line.c.key_id)) & (quotas.c.subject != subject)
            await connection.execute(delete(quotas).where(quotas.c.kind == kind.value, other))
        statement = insert(quotas).values({"kind": kind.value, "subject": subject, **values})
        await connection.execute(
            statement.on_conflict_do_update(index_elements=["kind", "subject"], set_=changed)
        )
        await append_with(connection, _audited(by, "set_quota", kind, subject))
    return next(
        each for each in await load_quotas(db) if (each.kind, each.subject) == (kind, subject)
    )


async def remove_quota(db: Database, kind: QuotaHolder, subject: str, by: str) -> None:
    """Remove the quota; a key's id names the quota of all keys of its line.

    Raises:
        NotFound: there is no such quota.
    """
    line = lines_of(select(literal(subject).label("subject")))
    is_mine = quotas.c.subject == subject
    if kind is QuotaHolder.KEY:
        is_mine = quotas.c.subject.in_(select(line.c.key_id))
    mine = (quotas.c.kind == kind.value, is_mine)
    async with db.writing() as connection:
        gone = await connection.execute(delete(quotas).where(*mine))
        if gone.rowcount == 0:
            raise NotFound(
                f"there is no quota of {kind.value} {subject[:100]!r}; `holdfast quotas list` "
                "shows the quotas",
                field="subject",
            )
        await append_with(connection, _audited(by, "remove_quota", kind, subject))


async def load_quotas(db: Database) -> list[Quota]:
    """Return every quota with what is used of it today."""
    line = lines_of(select(quotas.c.subject).where(quotas.c.kind == "key"))
    of_line = select(line.c.key_id).where(line.c.subject == quotas.c.subject)
    counts_here = and_(
        quota_uses.c.began_at >= _MIDNIGHT,
        or_(
            and_(quotas.c.kind == "owner", quota_uses.c.owner == quotas.c.subject),
            and_(quotas.c.kind == "key", quota_uses.c.key_id.in_(of_line)),
        ),
    )
    query = (
        select(
            quotas,
            func.count(quota_uses.c.call_id).label("used_calls"),
            func.coalesce(func.sum(quota_uses.c.tokens), 0).label("used_tokens"),
            func.coalesce(func.sum(quota_uses.c.cost), 0).label("used_cost"),
        )
        .select_from(quotas)
        .outerjoin(quota_uses, counts_here)
        .group_by(quotas.c.kind, quotas.c.subject)
        .order_by(quotas.c.kind.desc(), quotas.c.subject)
    )
    async with db.reading() as connection:
        return [_quota(row) for row in (await connection.execute(query)).all()]


def lines_of(subjects: Select[Any]) -> CTE:
    """Return the keys of each subject's line: those made from it by rotation, and it from them.

    `subjects` has one column `subject`, the ids of keys; the result also has `key_id`.
    """
    first = subjects.add_columns(subjects.selected_columns.subject.label("key_id"))
    line = first.cte("line", recursive=True)
    either = case((api_keys.c.id == line.c.key_id, api_keys.c.replaces), else_=api_keys.c.id)
    is_next = line.c.key_id.in_([api_keys.c.id, api_keys.c.replaces])
    return line.union(
        select(line.c.subject, either).join(api_keys, is_next).where(api_keys.c.replaces != "")
    )


def _audited(by: str, action: str, kind: QuotaHolder, subject: str) -> AuditedAction:
    return AuditedAction(actor=by, action=action, resource=f"{kind.value} {subject}")


def _quota(row: Row[Any]) -> Quota:
    return Quota.model_validate(dict(row._mapping))  # noqa: SLF001 - SQLAlchemy's public name
