"""Tests for the routes of webhooks: whose they are, and what they refuse."""

from typing import Any

import httpx2
import pytest

from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService

pytestmark = pytest.mark.slow


async def keyed(serving: HttpService, owner: str) -> httpx2.AsyncClient:
    body: dict[str, Any] = {"name": "laptop", "owner": owner, "scopes": ["read", "ask"]}
    async with serving.client() as client:
        key = (await client.post("/keys", json=body)).json()["key"]
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


async def test_a_webhook_that_cannot_be_sent_is_refused_whole(
    idle_engine: RunningEngine,
) -> None:
    bodies: list[dict[str, Any]] = [
        {"url": "http://127.0.0.1:9/"},
        {"url": "ftp://example.org/"},
        {"url": "https://example.org/", "job": "no-such-job"},
        {"url": "https://example.org/", "events": ["job.cooked"]},
    ]
    with HttpService(idle_engine.holdfast, writes=True) as serving:
        async with serving.client() as client:
            answers = [await client.post("/webhooks", json=body) for body in bodies]
            listed = (await client.get("/webhooks")).json()

    assert [answer.status_code for answer in answers] == [400, 400, 404, 422]
    assert listed == []
