"""Tests for the audit of requests: what it records, and that nobody changes it."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from tests.holdfast.api.test_keys_and_owners import client_of, created, submitted
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService

pytestmark = pytest.mark.slow


@pytest.fixture
def serving(idle_engine: RunningEngine) -> Iterator[HttpService]:
    with HttpService(idle_engine.holdfast, writes=True) as serving:
        yield serving


async def entries(serving: HttpService, **which: Any) -> list[tuple[str, str, int | None]]:
    async with serving.client() as client:
        found = (await client.get("/audit", params=which)).json()
    return [(each["actor"], each["action"], each["refused"]) for each in reversed(found)]


async def test_changes_and_refusals_are_recorded_and_an_owners_reads_are_not(
    serving: HttpService,
) -> None:
    key = await created(serving, "maria", "read", "ask")
    async with client_of(serving, key["key"]) as client:
        job = await submitted(client)
        await client.get(f"/v1/jobs/{job}")
        await client.post(f"/v1/jobs/{job}/pause")
        await client.post("/v1/jobs", json={"question": " "})

    assert await entries(serving, actor="maria (laptop)") == [
        ("maria (laptop)", "submit_job", None),
        ("maria (laptop)", "pause_job", None),
        ("maria (laptop)", "pause_job", 403),
        ("maria (laptop)", "submit_job", None),
        ("maria (laptop)", "submit_job", 400),
    ]


async def test_the_token_leaves_a_trace_where_it_reads_another_owners_job(
    serving: HttpService,
) -> None:
    key = await created(serving, "maria")
    async with client_of(serving, key["key"]) as client:
        job = await submitted(client)
    async with serving.client() as client:
        own = (await client.post("/jobs", json={"question": "Who?"})).json()["job_id"]
        await client.get(f"/jobs/{own}")
        await client.get(f"/jobs/{job}")

    assert [action for _, action, _ in await entries(serving, resource=own)] == []
    assert [action for _, action, _ in await entries(serving, resource=job)] == ["show_job"]


async def test_keys_are_audited_with_their_change(serving: HttpService) -> None:
    key_id = (await created(serving, "maria"))["details"]["id"]
    async with serving.client() as client:
        new = (await client.post(f"/keys/{key_id}/rotate", json={})).json()["details"]["id"]
        await client.delete(f"/keys/{new}")

    actions = [action for _, action, _ in await entries(serving, limit=3)]
    assert actions == ["create_key", "rotate_key", "revoke_key"]
    async with serving.client() as client:
        older = (await client.get("/audit", params={"limit": 1, "before": 2})).json()
    assert [each["id"] for each in older] == [1]


@pytest.mark.parametrize(
    "statement",
    [
        "update audit_entries set actor = 'nobody'",
        "delete from audit_entries",
        "truncate audit_entries",
    ],
)
async def test_no_entry_is_changed_or_removed(
    statement: str, serving: HttpService, idle_engine: RunningEngine
) -> None:
    await created(serving, "maria")
    before = await entries(serving)

    with pytest.raises(DBAPIError, match="never changed"):
        async with idle_engine.holdfast.db.engine.begin() as connection:
            await connection.execute(text(statement))

    assert await entries(serving) == before != []
