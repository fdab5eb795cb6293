"""Define the routes of webhooks."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from holdfast.access.api_keys import key_of_owner
from holdfast.api.api_context import Asker, Reader
from holdfast.models.access.webhook_events import WebhookEvent
from holdfast.models.access.webhooks import (
    MAX_LISTED_DELIVERIES,
    CreatedWebhook,
    Webhook,
    WebhookDelivery,
)
from holdfast.models.error_fields import error_field
from holdfast.models.frozen_model import Frozen
from holdfast.storage.access.webhook_delivery_rows import load_deliveries
from holdfast.storage.access.webhook_rows import (
    find_webhook,
    load_webhooks,
    remove_stored_webhook,
    store_test_delivery,
)
from holdfast.webhooks.webhook_management import MAX_OVERLAP_HOURS, add_webhook, rotate_secret

router = APIRouter(prefix="/webhooks", tags=["webhooks"])


class NewWebhookBody(Frozen):
    """A webhook to add."""

    url: str = Field(max_length=2000, description="Where the messages are sent.")
    events: tuple[WebhookEvent, ...] = Field(
        default=tuple(WebhookEvent), min_length=1, description="By default all."
    )
    job: str | None = Field(
        default=None, max_length=200, description="The only job; by default every job of the owner."
    )
    key: str | None = Field(
        default=None,
        max_length=200,
        description="The id of the only API key whose jobs it is about, also after a rotation.",
    )


class SecretRotationBody(Frozen):
    """How a webhook gets another secret."""

    overlap_hours: int = Field(
        default=24,
        strict=True,
        ge=0,
        le=MAX_OVERLAP_HOURS,
        description="How long the old secret signs, too.",
    )


class TestMessage(Frozen):
    """A test message that will be sent."""

    __test__ = False  # for pytest, which would collect it

    delivery: int


@router.post("", status_code=201)
async def create_webhook(session: Asker, body: NewWebhookBody) -> CreatedWebhook:
    """Add a webhook; the answer is the only one that has its secret."""
    owner, keys = session.caller.owner, session.installation.db
    with error_field("key"):
        key = None if body.key is None else await key_of_owner(keys, body.key, owner)
    return await add_webhook(
        session.holdfast.db,
        session.holdfast.settings.config_file,
        url=body.url,
        owner=owner,
        events=body.events,
        job_id=body.job,
        key=key,
    )


@router.get("")
async def list_webhooks(session: Reader) -> list[Webhook]:
    """The webhooks without their secrets, the newest first."""
    return await load_webhooks(session.holdfast.db, session.caller.visible_owner)


@router.get("/{webhook}/deliveries")
async def list_webhook_deliveries(
    session: Reader,
    webhook: str,
    limit: Annotated[int, Query(ge=1, le=MAX_LISTED_DELIVERIES)] = 50,
) -> list[WebhookDelivery]:
    """The newest messages to the webhook, and what became of each."""
    found = await find_webhook(session.holdfast.db, webhook, session.caller.visible_owner)
    return await load_deliveries(session.holdfast.db, found.id, limit=limit)


@router.post("/{webhook}/test", status_code=202)
async def send_test_message(session: Asker, webhook: str) -> TestMessage:
    """Have a message of the type `webhook.test` sent."""
    owner = session.caller.visible_owner
    return TestMessage(delivery=await store_test_delivery(session.holdfast.db, webhook, owner))


@router.post("/{webhook}/rotate")
async def rotate_webhook_secret(
    session: Asker, webhook: str, body: SecretRotationBody
) -> CreatedWebhook:
    """Give the webhook another secret; during the overlap both secrets sign each message."""
    owner = session.caller.visible_owner
    hours = body.overlap_hours
    return await rotate_secret(session.holdfast.db, webhook, owner, overlap_hours=hours)


@router.delete("/{webhook}")
async def remove_webhook(session: Asker, webhook: str) -> Webhook:
    """Remove the webhook; messages that wait are not sent."""
    owner = session.caller.visible_owner
    return await remove_stored_webhook(session.holdfast.db, webhook, owner)
