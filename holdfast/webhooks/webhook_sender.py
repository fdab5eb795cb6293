"""Send the messages of the outbox to their webhooks, until each is taken or 72 hours old.

A worker claims due messages for the time of a lease, sends each, and records the outcome. If the
worker dies in between, the lease ends and another worker sends the message again, with the same
`webhook-id`: a receiver gets each message at least once, and knows it by that id. All memory is in
PostgreSQL, so it needs no workflow of its own.
"""

import asyncio
import json
import time
from dataclasses import dataclass
from datetime import timedelta

import structlog

from holdfast.models.access.webhooks import DueDelivery
from holdfast.models.errors import HoldfastError
from holdfast.storage.access.webhook_delivery_rows import (
    claim_due_deliveries,
    note_delivered,
    note_failed_attempt,
)
from holdfast.storage.core.database import Database
from holdfast.tools.web.http_client.address_rules import AllowedHosts
from holdfast.tools.web.http_client.http_exchange import Headers, HttpClient, HttpRequest
from holdfast.webhooks.webhook_settings import webhook_target
from holdfast.webhooks.webhook_signature import signed_headers

log = structlog.get_logger(__name__)

INTERVAL_S = 1.0
TIMEOUT_S = 15.0
LEASE = timedelta(seconds=60)
GIVE_UP_AFTER = timedelta(hours=72)
FIRST_PAUSE = timedelta(seconds=5)
LONGEST_PAUSE = timedelta(hours=1)


class _BodyRefused(Exception):
    """Raised after the headers of an answer with status 200, whose body is not read."""


@dataclass
class WebhookSender:
    """Sends the messages of one database's outbox."""

    db: Database
    allowed: AllowedHosts
    lease: timedelta = LEASE
    first_pause: timedelta = FIRST_PAUSE

    async def repeat(self) -> None:
        """Look for due messages every second, until cancelled."""
        async with HttpClient(self.allowed, "holdfast-webhooks", timeout_s=TIMEOUT_S) as client:
            while True:
                try:
                    await self.send_due(client)
                except Exception as error:
                    log.warning("webhooks.not_sent", kind=type(error).__name__, error=str(error))
                await asyncio.sleep(INTERVAL_S)

    async def send_due(self, client: HttpClient) -> None:
        """Send every message that is due now, together."""
        due = await claim_due_deliveries(self.db, lease=self.lease)
        async with asyncio.TaskGroup() as group:
            for each in due:
                group.create_task(self._send(client, each))

    async def _send(self, client: HttpClient, due: DueDelivery) -> None:
        try:
            error = await self._posted(client, due)
        except HoldfastError as failure:
            error = str(failure)
        if not error:
            await note_delivered(self.db, due.id)
            return
        pause = min(self.first_pause * 2 ** min(due.attempts - 1, 20), LONGEST_PAUSE)
        await note_failed_attempt(self.db, due, error, pause=pause, give_up_after=GIVE_UP_AFTER)
        log.info("webhook.refused", webhook=due.webhook_id, attempts=due.attempts, error=error)

    async def _posted(self, client: HttpClient, due: DueDelivery) -> str:
        """Send the message; return why it was not taken, or an empty text."""
        body = message_body(due)
        known = [secret for secret in (due.secret, due.replaced_secret) if secret]
        headers = signed_headers(known, message_id(due), int(time.time()), body)
        request = HttpRequest(
            webhook_target(due.url, self.allowed),
            method="POST",
            headers={
                "Content-Type": "application/json",
                "Content-Length": str(len(body)),
                **headers,
            },
            content=body,
            accepts=_refuse_body,
        )
        try:
            reply = await client.send(request)
        except _BodyRefused:
            return ""
        # A redirect is not followed: it would carry the message to an address nobody checked.
        return "" if 200 <= reply.status < 300 else f"the receiver answered {reply.status}"


def message_id(due: DueDelivery) -> str:
    """Return the id that stays the same over all attempts."""
    return f"msg_{due.webhook_id.removeprefix('wh_')}_{due.id}"


def message_body(due: DueDelivery) -> bytes:
    """Return the message; it is the same at each attempt."""
    message = {
        "id": message_id(due),
        "object": "event",
        "type": due.event,
        "created_at": int(due.created_at.timestamp()),
        "timestamp": due.created_at.isoformat(),
        "data": due.data | {"job_id": due.job_id, "seq": due.seq},
    }
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()


def _refuse_body(headers: Headers) -> None:  # noqa: ARG001 - as HttpRequest calls it
    raise _BodyRefused
