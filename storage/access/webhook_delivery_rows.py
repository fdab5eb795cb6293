"""Claim the due messages of the outbox, and record what became of each attempt."""

from datetime import timedelta

from sqlalchemy import case, func, select, update

from holdfast.models.access.webhooks import DueDelivery, WebhookDelivery
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.webhook_tables import webhook_deliveries, webhooks

_COLUMNS = webhook_deliveries.c


async def claim_due_deliveries(
    db: Database, *, lease: timedelta, most: int = 20
) -> list[DueDelivery]:
    """Claim due messages for the time of the lease; after it, another worker may send them."""
    due = (
        select(_COLUMNS.id)
        .where(_COLUMNS.next_attempt_at <= func.now())
        .order_by(_COLUMNS.next_attempt_at, _COLUMNS.id)
        .limit(most)
        .with_for_update(skip_locked=True)
    )
    claim = (
        update(webhook_deliveries)
        .where(_COLUMNS.id.in_(due), webhooks.c.id == _COLUMNS.webhook_id)
        .values(attempts=_COLUMNS.attempts + 1, next_attempt_at=func.now() + lease)
        .returning(
            *(_COLUMNS[name] for name in DueDelivery.model_fields if name in _COLUMNS),
            webhooks.c.url,
            webhooks.c.secret,
            case(
                (webhooks.c.replaced_secret_ends_at > func.now(), webhooks.c.replaced_secret)
            ).label("replaced_secret"),
        )
    )
    async with db.writing() as connection:
        rows = (await connection.execute(claim)).mappings().all()
    return sorted((DueDelivery.model_validate(dict(row)) for row in rows), key=lambda due: due.id)


async def note_delivered(db: Database, delivery_id: int) -> None:
    """Record that the receiver took the message."""
    await _note(db, delivery_id, delivered_at=func.now(), next_attempt_at=None, last_error="")


async def note_failed_attempt(
    db: Database, due: DueDelivery, error: str, *, pause: timedelta, give_up_after: timedelta
) -> None:
    """Record a failed attempt; the next one is after `pause`, unless the message is too old."""
    query = select(func.now() - due.created_at >= give_up_after)
    async with db.reading() as connection:
        is_over = (await connection.execute(query)).scalar_one()
    next_at = None if is_over else func.now() + pause
    await _note(db, due.id, next_attempt_at=next_at, last_error=error[:500])


async def load_deliveries(db: Database, webhook_id: str, *, limit: int) -> list[WebhookDelivery]:
    """Return the newest messages to the webhook."""
    query = (
        select(*(_COLUMNS[name] for name in WebhookDelivery.model_fields))
        .where(_COLUMNS.webhook_id == webhook_id)
        .order_by(_COLUMNS.id.desc())
        .limit(limit)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).mappings().all()
    return [WebhookDelivery.model_validate(dict(row)) for row in rows]


async def _note(db: Database, delivery_id: int, **values: object) -> None:
    statement = update(webhook_deliveries).where(
        _COLUMNS.id == delivery_id, _COLUMNS.delivered_at.is_(None)
    )
    async with db.writing() as connection:
        await connection.execute(statement.values(**values))
