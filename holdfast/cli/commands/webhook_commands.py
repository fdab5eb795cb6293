"""Implement `holdfast webhooks`."""

import asyncio
import time
from collections.abc import Sequence

from holdfast.access.api_keys import key_of_owner
from holdfast.cli.installation_access import run_with_client
from holdfast.cli.render.plain_table import plain_table
from holdfast.cli.render.terminal_output import (
    console,
    count_with_noun,
    print_json,
    print_progress,
    print_text,
)
from holdfast.client import Holdfast
from holdfast.jobs.current_user import current_user
from holdfast.models.access.webhook_events import WebhookEvent
from holdfast.models.access.webhooks import CreatedWebhook, Webhook, WebhookDelivery
from holdfast.models.errors import ServiceDown
from holdfast.storage.access.webhook_delivery_rows import load_deliveries
from holdfast.storage.access.webhook_rows import (
    load_webhooks,
    remove_stored_webhook,
    store_test_delivery,
)
from holdfast.webhooks.webhook_management import add_webhook, rotate_secret

_LOOK_EVERY_S = 0.2


def list_webhooks_command(*, json_output: bool) -> None:
    """Print the webhooks of all owners."""
    found = run_with_client(lambda holdfast: load_webhooks(holdfast.db, None))
    if json_output:
        print_json(found)
        return
    rows = [
        (each.id, each.owner, _jobs_of(each), " ".join(each.events), each.url) for each in found
    ]
    console().print(plain_table(("webhook", "owner", "jobs", "events", "address"), rows))


def _jobs_of(webhook: Webhook) -> str:
    of_key = webhook.key_id and f"of key {webhook.key_id}"
    return " ".join(each for each in (webhook.job_id, of_key) if each) or "all jobs"


def add_webhook_command(
    url: str,
    events: Sequence[WebhookEvent],
    job: str | None,
    key: str | None,
    owner: str | None,
    *,
    json_output: bool,
) -> None:
    """Add a webhook and print its secret."""
    whose = owner or current_user()

    async def add(holdfast: Holdfast) -> CreatedWebhook:
        return await add_webhook(
            holdfast.db,
            holdfast.settings.config_file,
            url=url,
            owner=whose,
            events=events,
            job_id=job,
            key=None if key is None else await key_of_owner(holdfast.db, key, whose),
        )

    _print_secret(run_with_client(add), json_output=json_output)


def rotate_secret_command(webhook_id: str, overlap_hours: int, *, json_output: bool) -> None:
    """Give a webhook another secret and print it."""
    rotated = run_with_client(
        lambda holdfast: rotate_secret(holdfast.db, webhook_id, None, overlap_hours=overlap_hours)
    )
    _print_secret(rotated, json_output=json_output)


def _print_secret(webhook: CreatedWebhook, *, json_output: bool) -> None:
    if json_output:
        print_json(webhook)
    else:
        print_text(webhook.secret)
    print_progress(
        f"webhook {webhook.details.id}; store the secret now, because it is not shown again"
    )


def remove_webhook_command(webhook_id: str, *, json_output: bool) -> None:
    """Remove a webhook."""
    removed = run_with_client(lambda holdfast: remove_stored_webhook(holdfast.db, webhook_id, None))
    if json_output:
        print_json(removed)
    else:
        print_text(f"removed {removed.id}")


def send_test_command(webhook_id: str, seconds: float, *, json_output: bool) -> None:
    """Have a test message sent and print what became of it."""
    delivery = run_with_client(lambda holdfast: _tested(holdfast, webhook_id, seconds))
    if json_output:
        print_json(delivery)
    if delivery.delivered_at is None:
        raise ServiceDown(
            f"the test message was not taken: {delivery.last_error or 'no worker has sent it'}; "
            "it is tried again for 72 hours. `holdfast up` starts a worker"
        )
    if not json_output:
        print_text(f"delivered after {count_with_noun(delivery.attempts, 'attempt')}")


async def _tested(holdfast: Holdfast, webhook_id: str, seconds: float) -> WebhookDelivery:
    number = await store_test_delivery(holdfast.db, webhook_id, None)
    until = time.monotonic() + seconds
    while True:
        newest = await load_deliveries(holdfast.db, webhook_id, limit=1000)
        found = next(each for each in newest if each.id == number)
        if found.delivered_at or found.last_error or time.monotonic() >= until:
            return found
        await asyncio.sleep(_LOOK_EVERY_S)
