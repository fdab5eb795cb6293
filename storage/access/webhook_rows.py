"""Store, list and remove webhooks."""

from datetime import timedelta
from typing import Any

from sqlalchemy import Row, delete, func, insert, select, update

from holdfast.models.access.webhook_events import WebhookEvent
from holdfast.models.access.webhooks import TEST_EVENT, Webhook
from holdfast.models.errors import BadInput, NotFound
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.webhook_tables import webhook_deliveries, webhooks


async def store_webhook(db: Database, webhook: Webhook, secret: str, *, most: int) -> None:
    """Store a new webhook.

    Raises:
        BadInput: the owner has `most` webhooks already.
    """
    row = webhook.model_dump(exclude={"events"})
    row["events"] = [event.value for event in webhook.events]
    owned = select(func.count()).where(webhooks.c.owner == webhook.owner)
    async with db.writing() as connection:
        if (await connection.execute(owned)).scalar_one() >= most:
            raise BadInput(f"{webhook.owner} has {most} webhooks already; remove one first")
        await connection.execute(insert(webhooks).values(secret=secret, **row))


async def load_webhooks(db: Database, owner: str | None) -> list[Webhook]:
    """Return the webhooks of one owner or of all, the newest first."""
    query = select(webhooks).order_by(webhooks.c.created_at.desc(), webhooks.c.id)
    if owner is not None:
        query = query.where(webhooks.c.owner == owner)
    async with db.reading() as connection:
        return [_webhook(row) for row in (await connection.execute(query)).all()]


async def remove_stored_webhook(db: Database, webhook_id: str, owner: str | None) -> Webhook:
    """Remove the webhook with its deliveries; with `owner`, only if it is the owner's.

    Raises:
        NotFound: there is no such webhook.
    """
    statement = delete(webhooks).where(webhooks.c.id == webhook_id)
    if owner is not None:
        statement = statement.where(webhooks.c.owner == owner)
    async with db.writing() as connection:
        row = (await connection.execute(statement.returning(webhooks))).one_or_none()
    if row is None:
        raise _missing_webhook(webhook_id)
    return _webhook(row)


async def replace_secret(
    db: Database, webhook_id: str, owner: str | None, secret: str, *, overlap: timedelta
) -> Webhook:
    """Sign with the new secret from now on, and with the old one as well during the overlap.

    Raises:
        NotFound: there is no such webhook.
    """
    statement = update(webhooks).where(webhooks.c.id == webhook_id)
    if owner is not None:
        statement = statement.where(webhooks.c.owner == owner)
    statement = statement.values(
        secret=secret,
        replaced_secret=webhooks.c.secret if overlap else None,
        replaced_secret_ends_at=func.now() + overlap if overlap else None,
    )
    async with db.writing() as connection:
        row = (await connection.execute(statement.returning(webhooks))).one_or_none()
    if row is None:
        raise _missing_webhook(webhook_id)
    return _webhook(row)


async def store_test_delivery(db: Database, webhook_id: str, owner: str | None) -> int:
    """Put a test message into the outbox and return its number.

    Raises:
        NotFound: there is no such webhook.
    """
    await find_webhook(db, webhook_id, owner)
    statement = insert(webhook_deliveries).values(webhook_id=webhook_id, event=TEST_EVENT, data={})
    async with db.writing() as connection:
        made = await connection.execute(statement.returning(webhook_deliveries.c.id))
        return int(made.scalar_one())


async def find_webhook(db: Database, webhook_id: str, owner: str | None) -> Webhook:
    """Return the webhook; with `owner`, only if it is the owner's.

    Raises:
        NotFound: there is no such webhook.
    """
    for webhook in await load_webhooks(db, owner):
        if webhook.id == webhook_id:
            return webhook
    raise _missing_webhook(webhook_id)


def _webhook(row: Row[Any]) -> Webhook:
    return Webhook(
        id=row.id,
        owner=row.owner,
        url=row.url,
        events=tuple(WebhookEvent(event) for event in row.events),
        job_id=row.job_id,
        key_id=row.key_id,
        created_at=row.created_at,
    )


def _missing_webhook(webhook_id: str) -> NotFound:
    return NotFound(
        f"there is no webhook {webhook_id[:40]!r}; `holdfast webhooks list` shows the webhooks"
    )
