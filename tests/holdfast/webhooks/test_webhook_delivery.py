"""Tests for the sending of webhooks: signed, from an outbox, again after each failure."""

import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import openai
import psycopg
import pytest

from holdfast.models.access.webhook_events import WebhookEvent
from holdfast.models.access.webhooks import CreatedWebhook, WebhookDelivery
from holdfast.models.errors import BadInput
from holdfast.models.wire.event_kinds import EventKind
from holdfast.storage.access.webhook_delivery_rows import claim_due_deliveries, load_deliveries
from holdfast.storage.access.webhook_rows import store_test_delivery
from holdfast.tools.web.http_client.address_rules import AllowedHosts
from holdfast.tools.web.http_client.http_exchange import HttpClient
from holdfast.webhooks.webhook_management import add_webhook, rotate_secret
from holdfast.webhooks.webhook_sender import WebhookSender, message_id
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.webhook_receiver import ReceivedMessage, WebhookReceiver
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.conformance("API-04")]


@pytest.fixture
def receiver() -> Iterator[WebhookReceiver]:
    with WebhookReceiver() as receiver:
        yield receiver


async def added(
    engine: RunningEngine, receiver: WebhookReceiver, tmp_path: Path, **more: object
) -> CreatedWebhook:
    config = tmp_path / "holdfast.toml"
    config.write_text(f'[webhooks]\nallow_hosts = ["{receiver.host}"]\n', "utf-8")
    return await add_webhook(engine.db, config, url=receiver.url, owner="", **more)  # type: ignore[arg-type]  # as given


def sender_to(engine: RunningEngine, *hosts: str) -> WebhookSender:
    return WebhookSender(engine.db, AllowedHosts.of(hosts), first_pause=timedelta(seconds=0))


async def sent_once(sender: WebhookSender) -> None:
    async with HttpClient(sender.allowed, "test", timeout_s=10) as client:
        await sender.send_due(client)


async def deliveries(engine: RunningEngine, created: CreatedWebhook) -> list[WebhookDelivery]:
    return await load_deliveries(engine.db, created.details.id, limit=100)


async def test_the_openai_client_accepts_the_message_of_a_job_that_ended(
    engine: RunningEngine,
    receiver: WebhookReceiver,
    players: ScriptedRoles,
    tools: ScriptedTools,
    tmp_path: Path,
) -> None:
    tools.answers = lambda argument: f"found {argument}"
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    created = await added(engine, receiver, tmp_path)

    job = (await engine.run("Who?")).job_id
    await sent_once(sender_to(engine, receiver.host))
    await sent_once(sender_to(engine, receiver.host))

    [message] = receiver.messages
    client = openai.OpenAI(api_key="none", webhook_secret=created.secret)
    told = client.webhooks.unwrap(message.body, message.headers)
    assert (told.type, json.loads(message.body)["data"]["job_id"]) == ("job.done", job)
    with pytest.raises(openai.InvalidWebhookSignatureError):
        client.webhooks.unwrap(message.body + " ", message.headers)


async def test_the_outbox_has_each_event_if_and_only_if_the_log_has_it(
    idle_engine: RunningEngine, receiver: WebhookReceiver, tmp_path: Path
) -> None:
    job = await idle_engine.submit("Who?")
    every = await added(idle_engine, receiver, tmp_path)
    asks = await added(idle_engine, receiver, tmp_path, events=[WebhookEvent.JOB_ASKS], job_id=job)
    kinds = (EventKind.JOB_PAUSED, EventKind.QUESTION_ASKED, EventKind.TASK_DONE)

    async with idle_engine.db.job(job) as write:
        for kind in kinds:
            write.event(kind)
        for status in ("done", "failed", "cancelled"):
            write.event(EventKind.JOB_ENDED, status=status)
    with suppress(ZeroDivisionError):
        async with idle_engine.db.job(job) as write:
            write.event(EventKind.JOB_PAUSED)
            raise ZeroDivisionError
    other = await idle_engine.submit("Another?")
    async with idle_engine.db.job(other) as write:
        write.event(EventKind.QUESTION_ASKED)

    stored = [each.event for each in reversed(await deliveries(idle_engine, every))]
    assert stored == ["job.paused", "job.asks", "job.done", "job.failed", "job.failed", "job.asks"]
    assert [each.event for each in await deliveries(idle_engine, asks)] == ["job.asks"]


async def test_a_receiver_that_was_away_gets_the_message_once(
    idle_engine: RunningEngine, tmp_path: Path
) -> None:
    with WebhookReceiver() as away:
        created = await added(idle_engine, away, tmp_path)
    await store_test_delivery(idle_engine.db, created.details.id, None)
    sender = sender_to(idle_engine, away.host)
    await sent_once(sender)
    [waiting] = await deliveries(idle_engine, created)

    with WebhookReceiver(port=away.port) as back:
        for _ in range(3):
            await sent_once(sender)

    assert "does not take the connection" in waiting.last_error
    assert (waiting.attempts, waiting.delivered_at) == (1, None)
    assert len(back.messages) == 1


async def test_another_worker_sends_what_a_dead_worker_had_claimed(
    idle_engine: RunningEngine, receiver: WebhookReceiver, tmp_path: Path
) -> None:
    created = await added(idle_engine, receiver, tmp_path)
    await store_test_delivery(idle_engine.db, created.details.id, None)
    [claimed] = await claim_due_deliveries(idle_engine.db, lease=timedelta(days=1))
    sender = sender_to(idle_engine, receiver.host)
    await sent_once(sender)
    before = len(receiver.messages)
    with psycopg.connect(_plain(idle_engine)) as connection:
        connection.execute("update webhook_deliveries set next_attempt_at = now()")

    await sent_once(sender)

    assert before == 0, "the claim of the dead worker holds until its lease ends"
    assert [each.headers["webhook-id"] for each in receiver.messages] == [message_id(claimed)]
    assert [each.attempts for each in await deliveries(idle_engine, created)] == [2]


@pytest.mark.parametrize("status", [302, 307, 404, 500])
async def test_a_refusal_or_redirect_is_tried_again_for_72_hours(
    idle_engine: RunningEngine, receiver: WebhookReceiver, tmp_path: Path, status: int
) -> None:
    receiver.answer = lambda: status
    created = await added(idle_engine, receiver, tmp_path)
    await store_test_delivery(idle_engine.db, created.details.id, None)
    sender = sender_to(idle_engine, receiver.host)
    due = []
    for age in ("0 hours", "71 hours 59 minutes", "72 hours"):
        with psycopg.connect(_plain(idle_engine)) as connection:
            connection.execute(
                f"update webhook_deliveries set created_at = now() - interval '{age}'"
            )
        await sent_once(sender)
        [delivery] = await deliveries(idle_engine, created)
        due.append(delivery.next_attempt_at is not None)

    assert due == [True, True, False]
    assert delivery.last_error == f"the receiver answered {status}"
    assert len(receiver.messages) == 3, "no redirect is followed, and nothing is sent after 72 h"


async def test_a_private_address_is_reached_only_while_the_operator_names_it(
    idle_engine: RunningEngine, receiver: WebhookReceiver, tmp_path: Path
) -> None:
    refused = r"allow_hosts below \[webhooks\]"
    for url in (receiver.url, "https://169.254.169.254/", "https://user:x@example.org/"):
        with pytest.raises(BadInput, match=refused):
            await add_webhook(idle_engine.db, None, url=url, owner="")
    with pytest.raises(BadInput, match="not encrypted"):
        await add_webhook(idle_engine.db, None, url="http://example.org/", owner="")
    created = await added(idle_engine, receiver, tmp_path)
    await store_test_delivery(idle_engine.db, created.details.id, None)

    await sent_once(sender_to(idle_engine))

    [delivery] = await deliveries(idle_engine, created)
    assert "[webhooks]" in delivery.last_error
    assert receiver.messages == []


async def test_both_secrets_sign_until_the_overlap_of_a_rotation_ends(
    idle_engine: RunningEngine, receiver: WebhookReceiver, tmp_path: Path
) -> None:
    created = await added(idle_engine, receiver, tmp_path)
    webhook = created.details.id
    with pytest.raises(BadInput, match="0 to 720"):
        await rotate_secret(idle_engine.db, webhook, None, overlap_hours=721)
    rotated = await rotate_secret(idle_engine.db, webhook, None, overlap_hours=1)
    sender = sender_to(idle_engine, receiver.host)

    async def accepted() -> list[bool]:
        """Whether a receiver with the old and one with the new secret takes the next message."""
        await store_test_delivery(idle_engine.db, webhook, None)
        await sent_once(sender)
        return [_is_accepted(receiver.messages[-1], each.secret) for each in (created, rotated)]

    during = await accepted()
    with psycopg.connect(_plain(idle_engine)) as connection:
        connection.execute("update webhooks set replaced_secret_ends_at = now()")
    after = await accepted()

    assert (during, after) == ([True, True], [False, True])


def _is_accepted(message: ReceivedMessage, secret: str) -> bool:
    client = openai.OpenAI(api_key="none", webhook_secret=secret)
    try:
        client.webhooks.unwrap(message.body, message.headers)
    except openai.InvalidWebhookSignatureError:
        return False
    return True


def _plain(engine: RunningEngine) -> str:
    return engine.holdfast.endpoints.database_url.replace("+psycopg", "")
