"""Add webhooks, after their address and events were checked, and rotate their secrets."""

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from holdfast.models.access.api_keys import ApiKey
from holdfast.models.access.webhook_events import WebhookEvent
from holdfast.models.access.webhooks import CreatedWebhook, Webhook
from holdfast.models.error_fields import error_field
from holdfast.models.errors import BadInput, NotFound
from holdfast.storage.access.webhook_rows import replace_secret, store_webhook
from holdfast.storage.core.database import Database
from holdfast.storage.jobs.job_rows import find_job_owner
from holdfast.webhooks.webhook_settings import read_webhook_hosts, webhook_target
from holdfast.webhooks.webhook_signature import new_secret

MAX_WEBHOOKS = 100
MAX_OVERLAP_HOURS = 720
_ID_BYTES = 8


async def add_webhook(
    db: Database,
    config_file: Path | None,
    *,
    url: str,
    owner: str,
    events: Sequence[WebhookEvent] = (),
    job_id: str | None = None,
    key: ApiKey | None = None,
) -> CreatedWebhook:
    """Add a webhook for every job of the owner, for one, or for those of one API key.

    Without `events`, it is told all of them.

    Raises:
        BadInput: the address may not be reached, or the owner has too many webhooks.
        NotFound: the owner has no such job.
    """
    with error_field("url"):
        webhook_target(url, read_webhook_hosts(config_file))
        if not url.isascii():
            raise BadInput(f"{url[:300]!r} has letters outside of ASCII; encode them with %")
    if job_id is not None and await find_job_owner(db, job_id) != owner:
        raise NotFound(
            f"{owner} has no job {job_id[:200]!r}; `holdfast list` lists the jobs", field="job"
        )
    made = Webhook(
        id=f"wh_{secrets.token_hex(_ID_BYTES)}",
        owner=owner,
        url=url,
        events=tuple(sorted(set(events or WebhookEvent))),
        job_id=job_id,
        key_id=key and key.id,
        created_at=datetime.now(UTC),
    )
    secret = new_secret()
    await store_webhook(db, made, secret, most=MAX_WEBHOOKS)
    return CreatedWebhook(secret=secret, details=made)


async def rotate_secret(
    db: Database, webhook_id: str, owner: str | None, *, overlap_hours: int
) -> CreatedWebhook:
    """Give the webhook another secret; for `overlap_hours` the old one signs as well.

    Only one old secret is kept: a second rotation ends the overlap of the first.

    Raises:
        NotFound: the owner has no such webhook.
        BadInput: the overlap cannot be used.
    """
    if not 0 <= overlap_hours <= MAX_OVERLAP_HOURS:
        raise BadInput(
            f"the old secret signs for 0 to {MAX_OVERLAP_HOURS} more hours, not {overlap_hours}"
        )
    secret = new_secret()
    overlap = timedelta(hours=overlap_hours)
    kept = await replace_secret(db, webhook_id, owner, secret, overlap=overlap)
    return CreatedWebhook(secret=secret, details=kept)
