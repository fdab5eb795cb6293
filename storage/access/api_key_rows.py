"""Store, find, revoke and list API keys; each change has its entry in the audit."""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Row, func, insert, or_, select, update

from holdfast.models.access.access_scopes import Scope
from holdfast.models.access.api_keys import ApiKey
from holdfast.models.access.audit_entries import AuditedAction
from holdfast.models.access.quotas import QuotaHolder
from holdfast.models.errors import NotFound
from holdfast.storage.access.audit_rows import append_with
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.access_tables import api_keys
from holdfast.storage.core.tables.quota_tables import quotas

_USE_IS_NOTED_EVERY = timedelta(minutes=1)


class FoundKey(NamedTuple):
    """A stored key, and the hash of its secret."""

    key: ApiKey
    secret_hash: str


async def store_key(
    db: Database,
    key: ApiKey,
    secret_hash: str,
    audited: AuditedAction,
    *,
    replaced_ends_at: datetime | None = None,
) -> None:
    """Store a new key; with `replaced_ends_at`, the key that it replaces ends then at the latest.

    Raises:
        NotFound: the key that it replaces is gone or was revoked meanwhile.
    """
    row = key.model_dump(exclude={"revoked_at", "last_used_at"})
    row["scopes"] = [scope.value for scope in key.scopes]
    async with db.writing() as connection:
        if replaced_ends_at is not None:
            ended = await connection.execute(
                update(api_keys)
                .where(api_keys.c.id == key.replaces, api_keys.c.revoked_at.is_(None))
                .values(expires_at=func.least(api_keys.c.expires_at, replaced_ends_at))
            )
            if ended.rowcount == 0:
                raise _missing_key(key.replaces)
            # Both keys have one quota; its list shows the key that stays in use.
            await connection.execute(
                update(quotas)
                .where(quotas.c.kind == QuotaHolder.KEY.value, quotas.c.subject == key.replaces)
                .values(subject=key.id)
            )
        await connection.execute(insert(api_keys).values(secret_hash=secret_hash, **row))
        await append_with(connection, audited)


async def revoke_stored_key(db: Database, key_id: str, audited: AuditedAction) -> ApiKey:
    """Revoke the key from now on; a key that was revoked keeps its time.

    Raises:
        NotFound: there is no such key.
    """
    statement = (
        update(api_keys)
        .where(api_keys.c.id == key_id)
        .values(revoked_at=func.coalesce(api_keys.c.revoked_at, func.now()))
        .returning(api_keys)
    )
    async with db.writing() as connection:
        row = (await connection.execute(statement)).one_or_none()
        if row is None:
            raise _missing_key(key_id)
        await append_with(connection, audited)
    return _key(row)


async def find_key(db: Database, key_id: str) -> FoundKey | None:
    """Return the key of that id, revoked or not; None if there is none."""
    async with db.reading() as connection:
        query = select(api_keys).where(api_keys.c.id == key_id)
        row = (await connection.execute(query)).one_or_none()
    return None if row is None else FoundKey(_key(row), row.secret_hash)


async def load_key(db: Database, key_id: str) -> ApiKey:
    """Return the key of that id.

    Raises:
        NotFound: there is no such key.
    """
    found = await find_key(db, key_id)
    if found is None:
        raise _missing_key(key_id)
    return found.key


async def note_key_use(db: Database, key_id: str) -> None:
    """Record that the key is used now; at most one write a minute, however many requests come."""
    is_due = or_(
        api_keys.c.last_used_at.is_(None),
        api_keys.c.last_used_at < func.now() - _USE_IS_NOTED_EVERY,
    )
    statement = update(api_keys).where(api_keys.c.id == key_id, is_due)
    async with db.writing() as connection:
        await connection.execute(statement.values(last_used_at=func.now()))


async def load_keys(db: Database) -> list[ApiKey]:
    """Return every key, the newest first."""
    query = select(api_keys).order_by(api_keys.c.created_at.desc(), api_keys.c.id)
    async with db.reading() as connection:
        return [_key(row) for row in (await connection.execute(query)).all()]


def _key(row: Row[Any]) -> ApiKey:
    return ApiKey(
        id=row.id,
        name=row.name,
        owner=row.owner,
        scopes=tuple(Scope(scope) for scope in row.scopes),
        created_at=row.created_at,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
        last_used_at=row.last_used_at,
        replaces=row.replaces,
    )


def _missing_key(key_id: str) -> NotFound:
    return NotFound(
        f"there is no key {key_id[:40]!r} that is in use; `holdfast keys list` shows the keys"
    )
