"""Define webhooks: addresses that are told when a job ends, pauses or asks."""

from datetime import datetime
from typing import Any

from holdfast.models.access.webhook_events import WebhookEvent
from holdfast.models.frozen_model import Frozen

MAX_LISTED_DELIVERIES = 1000


TEST_EVENT = "webhook.test"


class Webhook(Frozen):
    """A webhook without its secret."""

    id: str
    owner: str
    url: str
    events: tuple[WebhookEvent, ...]
    job_id: str | None = None
    """The only job that it is about; None: every job of the owner."""
    key_id: str | None = None
    """The API key whose jobs it is about, also after a rotation; None: every job of the owner."""
    created_at: datetime


class CreatedWebhook(Frozen):
    """A webhook with its new secret, with which messages are signed; nothing shows it again."""

    secret: str
    details: Webhook


class WebhookDelivery(Frozen):
    """One message to a webhook, and what became of it."""

    id: int
    webhook_id: str
    event: str
    job_id: str | None
    seq: int | None
    """The number of the entry in the job's log."""
    created_at: datetime
    attempts: int
    next_attempt_at: datetime | None
    """None: delivered or given up."""
    delivered_at: datetime | None
    last_error: str


class DueDelivery(Frozen):
    """A message that a worker has claimed, with where to send it."""

    id: int
    webhook_id: str
    event: str
    job_id: str | None
    seq: int | None
    data: dict[str, Any]
    created_at: datetime
    attempts: int
    """With the one that begins now."""
    url: str
    secret: str
    replaced_secret: str | None = None
    """The secret before the last rotation, while its overlap lasts."""
