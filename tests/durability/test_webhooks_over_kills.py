"""Tests that a message to a webhook survives the worker that was sending it."""

import asyncio
import threading
from collections.abc import Iterator

import psycopg
import pytest

from holdfast.models.access.webhooks import WebhookDelivery
from holdfast.storage.access.webhook_delivery_rows import load_deliveries
from holdfast.webhooks.webhook_management import add_webhook
from tests.durability.worker_launcher import WorkerLauncher
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.webhook_receiver import WebhookReceiver
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

WITHIN_S = 120


@pytest.fixture
def receiver() -> Iterator[WebhookReceiver]:
    with WebhookReceiver() as receiver:
        yield receiver


@pytest.fixture
def config_toml(receiver: WebhookReceiver) -> str:
    """Lets messages go to the receiver, which is on this machine."""
    return f'[webhooks]\nallow_hosts = ["{receiver.host}"]\n'


@pytest.fixture(autouse=True)
def scripted(players: ScriptedRoles, tools: ScriptedTools) -> None:
    players.plan = plan(lookup_task("T1"), final_task("T2", "T1"))
    tools.answers = {"q": "The bridge was opened in 1932."}


@pytest.mark.conformance("API-04")
@pytest.mark.long
async def test_a_message_of_a_killed_worker_is_sent_again_by_the_next_under_the_same_id(
    client_side: RunningEngine, receiver: WebhookReceiver, workers: WorkerLauncher
) -> None:
    is_read, goes_on = threading.Event(), threading.Event()

    def answer() -> int:
        is_read.set()
        goes_on.wait(WITHIN_S)
        return 200

    receiver.answer = answer
    engine = client_side
    created = await add_webhook(
        engine.db, engine.holdfast.settings.config_file, url=receiver.url, owner=""
    )
    try:
        worker = await workers.start()
        job_id = await engine.submit("When?")
        assert await asyncio.to_thread(is_read.wait, WITHIN_S)
        worker.process.kill()
        await worker.ended()
        goes_on.set()
        claimed = await _only_delivery(engine, created.details.id)
        # Instead of the rest of the minute for which the dead worker had claimed the message.
        with psycopg.connect(_plain(engine)) as connection:
            connection.execute("update webhook_deliveries set next_attempt_at = now()")
        second_worker = await workers.start()
        await second_worker.until(lambda: len(receiver.messages) == 2)
        async with asyncio.timeout(WITHIN_S):
            while not (delivery := await _only_delivery(engine, created.details.id)).delivered_at:
                await asyncio.sleep(0.05)
    finally:
        goes_on.set()

    assert claimed.attempts == 1
    assert claimed.next_attempt_at is not None, "nobody would send the message again"
    first, second = receiver.messages
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body
    assert (delivery.job_id, delivery.event) == (job_id, "job.done")
    assert (delivery.attempts, delivery.next_attempt_at) == (2, None)


async def _only_delivery(engine: RunningEngine, webhook: str) -> WebhookDelivery:
    [delivery] = await load_deliveries(engine.db, webhook, limit=10)
    return delivery


def _plain(engine: RunningEngine) -> str:
    return engine.holdfast.endpoints.database_url.replace("+psycopg", "")
