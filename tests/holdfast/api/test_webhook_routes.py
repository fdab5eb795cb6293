"""Tests for the routes of webhooks: whose they are, and what they refuse."""

from typing import Any

import httpx2
import pytest

from holdfast.models.wire.event_kinds import EventKind
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService

pytestmark = pytest.mark.slow


async def new_key(serving: HttpService, owner: str) -> dict[str, Any]:
    body: dict[str, Any] = {"name": "laptop", "owner": owner, "scopes": ["read", "ask"]}
    async with serving.client() as client:
        return dict((await client.post("/keys", json=body)).json())


async def keyed(serving: HttpService, owner: str) -> httpx2.AsyncClient:
    return client_with(serving, (await new_key(serving, owner))["key"])


def client_with(serving: HttpService, key: str) -> httpx2.AsyncClient:
    headers = {"Authorization": f"Bearer {key}"}
    return httpx2.AsyncClient(
        base_url=f"{serving.url}/v1", headers=headers, trust_env=False, timeout=30
    )


@pytest.mark.conformance("API-04")
async def test_an_owner_sees_only_its_own_webhooks(idle_engine: RunningEngine) -> None:
    with HttpService(idle_engine.holdfast, writes=True) as serving:
        async with await keyed(serving, "maria") as maria, await keyed(serving, "otto") as otto:
            made = (await maria.post("/webhooks", json={"url": "https://example.org/h"})).json()
            address = f"/webhooks/{made['details']['id']}"
            foreign = [
                await otto.get(f"{address}/deliveries"),
                await otto.post(f"{address}/test"),
                await otto.post(f"{address}/rotate", json={}),
                await otto.delete(address),
            ]
            listed = (await otto.get("/webhooks")).json()
            tested = await maria.post(f"{address}/test")
            sent = (await maria.get(f"{address}/deliveries")).json()
            shown = (await maria.get("/webhooks")).text
            rotated = (await maria.post(f"{address}/rotate", json={"overlap_hours": 2})).json()
            removed = await maria.delete(address)
            left = (await maria.get("/webhooks")).json()

    assert [answer.status_code for answer in foreign] == [404] * 4
    assert listed == []
    assert (tested.status_code, [each["event"] for each in sent]) == (202, ["webhook.test"])
    assert made["secret"].startswith("whsec_")
    assert made["secret"] not in shown
    assert rotated["details"] == made["details"]
    assert rotated["secret"] not in ("", made["secret"])
    assert (removed.status_code, left) == (200, [])


@pytest.mark.conformance("API-04")
async def test_a_webhook_of_a_key_is_told_of_its_jobs_also_after_a_rotation(
    idle_engine: RunningEngine,
) -> None:
    async def submitted(client: httpx2.AsyncClient) -> str:
        return str((await client.post("/jobs", json={"question": "Who?"})).json()["job_id"])

    with HttpService(idle_engine.holdfast, writes=True) as serving:
        first, other = await new_key(serving, "maria"), await new_key(serving, "maria")
        foreign = await new_key(serving, "otto")
        body = {"url": "https://example.org/h", "key": first["details"]["id"]}
        async with serving.client() as admin:
            rotation = f"/keys/{first['details']['id']}/rotate"
            newer = (await admin.post(rotation, json={})).json()
        async with client_with(serving, first["key"]) as client:
            made = (await client.post("/webhooks", json=body)).json()["details"]
            jobs = [await submitted(client)]
        async with client_with(serving, newer["key"]) as client:
            jobs.append(await submitted(client))
        async with client_with(serving, other["key"]) as client:
            jobs.append(await submitted(client))
        async with client_with(serving, foreign["key"]) as client:
            refused = await client.post("/webhooks", json=body)
        for job in jobs:
            # As a request of the owner stores it, whose role reads no keys.
            async with idle_engine.holdfast.on_behalf_of("maria").db.job(job) as write:
                write.event(EventKind.JOB_PAUSED)
        async with client_with(serving, other["key"]) as client:
            sent = (await client.get(f"/webhooks/{made['id']}/deliveries")).json()

    assert made["key_id"] == first["details"]["id"]
    assert refused.status_code == 404
    assert "otto has no key" in refused.json()["detail"]
    assert [each["job_id"] for each in reversed(sent)] == jobs[:2]


async def test_a_webhook_that_cannot_be_sent_is_refused_whole(
    idle_engine: RunningEngine,
) -> None:
    bodies: list[dict[str, Any]] = [
        {"url": "http://127.0.0.1:9/"},
        {"url": "ftp://example.org/"},
        {"url": "https://example.org/", "job": "no-such-job"},
        {"url": "https://example.org/", "key": "no-such-key"},
        {"url": "https://example.org/", "events": ["job.cooked"]},
    ]
    with HttpService(idle_engine.holdfast, writes=True) as serving:
        async with serving.client() as client:
            answers = [await client.post("/webhooks", json=body) for body in bodies]
            listed = (await client.get("/webhooks")).json()

    assert [answer.status_code for answer in answers] == [400, 400, 404, 404, 422]
    assert listed == []
