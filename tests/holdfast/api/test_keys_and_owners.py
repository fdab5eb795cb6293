"""Tests for API keys: whom a key belongs to, what it may do, and when it ends."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest
from sqlalchemy import update

from holdfast.api.application import build_application
from holdfast.api.routes import job_submission_routes
from holdfast.models.access.access_scopes import Scope
from holdfast.models.jobs.job_filter import JobFilter
from holdfast.storage.core.tables.access_tables import api_keys
from holdfast.storage.core.tables.all_tables import metadata
from holdfast.storage.core.tables.job_tables import jobs
from holdfast.storage.jobs.job_rows import find_job_owner
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService

pytestmark = pytest.mark.slow

JOB_ROUTES = sorted(
    (method.upper(), path)
    for path, methods in build_application(None, None).openapi()["paths"].items()  # type: ignore[arg-type]  # serves nothing
    for method in methods
    if "{job}" in path
)
BODIES: dict[str, dict[str, Any]] = {
    "/v1/jobs/{job}/retry": {"tasks": ["T1"]},
    "/v1/jobs/{job}/steer": {"guidance": "Look at 1868."},
    "/v1/jobs/{job}/retractions": {"evidence": 1, "reason": "it is wrong"},
    "/v1/jobs/{job}/questions/{question}": {"text": "yes"},
}
WITHOUT_OWNER = {
    "service_presence": "when services were seen",
    "outages": "when services were away",
    "model_turns": "counts towards a model's limits",
    "trace_exporter": "how far traces of all jobs were sent",
    "model_pauses": "counts towards a model's limits",
    "passage_vectors": "vectors of texts by hash, read only with the passage itself",
    "sources": "passages by hash, read only through the evidence of a job",
    "source_checks": "read only through the evidence of a job",
    "quotas": "only administrators read it",
    "erasures": "only administrators read the receipts",
    "audit_entries": "only administrators read it",
    "api_keys": "only administrators read it",
}
OWNED_BY_NAME = {"documents", "passages", "collection_words"}
"""A collection's name begins with its owner."""
OWNED_BY_COLUMN = {"document_uploads", "quota_uses", "schedules"}


@pytest.fixture
def serving(idle_engine: RunningEngine) -> Iterator[HttpService]:
    with HttpService(idle_engine.holdfast, writes=True) as serving:
        yield serving


async def created(serving: HttpService, owner: str, *scopes: str, **more: Any) -> dict[str, Any]:
    body = {"name": "laptop", "owner": owner, "scopes": scopes or ["read", "ask", "steer"], **more}
    async with serving.client() as client:
        answer = await client.post("/keys", json=body)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def client_of(serving: HttpService, key: str) -> httpx2.AsyncClient:
    headers = {"Authorization": f"Bearer {key}"}
    return httpx2.AsyncClient(base_url=serving.url, headers=headers, trust_env=False, timeout=30)


async def submitted(client: httpx2.AsyncClient, **more: Any) -> str:
    answer = await client.post("/v1/jobs", json={"question": "Who built the pier?"}, **more)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["job_id"])


async def test_no_route_shows_or_changes_another_owners_job(serving: HttpService) -> None:
    mine = await created(serving, "maria")
    theirs = await created(serving, "otto", "read", "ask", "steer")
    async with client_of(serving, mine["key"]) as client:
        job = await submitted(client)
        before = (await client.get(f"/v1/jobs/{job}/log")).json()

    async with client_of(serving, theirs["key"]) as client:
        answers = {}
        for method, path in JOB_ROUTES:
            address = path.format_map(defaultdict(lambda: "1", {"job": job, "sha256": "0" * 64}))
            answer = await client.request(method, address, json=BODIES.get(path))
            # The refusal names the job as the request did, and nothing of what the job is.
            answers[method, path] = (answer.status_code, "pier" in answer.text)
        listed = (await client.get("/v1/jobs")).json()
        found = (await client.get("/v1/jobs?q=pier")).json()
        followed = await client.post("/v1/jobs", json={"question": "When?", "follows": job})

    assert {status for status, _ in answers.values()} == {404}, answers
    assert not any(is_told for _, is_told in answers.values()), answers
    assert (listed, found) == ([], [])
    assert f"there is no job '{job}'" in followed.json()["detail"]
    async with client_of(serving, mine["key"]) as client:
        assert (await client.get(f"/v1/jobs/{job}/log")).json() == before


async def test_no_route_shows_or_changes_another_owners_response(serving: HttpService) -> None:
    mine = await created(serving, "maria")
    theirs = await created(serving, "otto", "read", "ask", "steer")
    asked = {"model": "holdfast", "input": "Who built the pier?", "background": True}
    async with client_of(serving, mine["key"]) as client:
        response = (await client.post("/v1/responses", json=asked)).json()["id"]

    async with client_of(serving, theirs["key"]) as client:
        address = f"/v1/responses/{response}"
        answers = [
            await client.get(address),
            await client.get(f"{address}/input_items"),
            await client.get(f"{address}?stream=true"),
            await client.post(f"{address}/cancel"),
            await client.delete(address),
            await client.post("/v1/responses", json=asked | {"previous_response_id": response}),
        ]

    assert {answer.status_code for answer in answers} == {404}
    assert not any("pier" in answer.text for answer in answers)
    async with client_of(serving, mine["key"]) as client:
        assert (await client.get(address)).json()["status"] == "queued"


def test_every_table_belongs_to_a_job_a_collection_or_nobody() -> None:
    loose = {
        name
        for name, table in metadata.tables.items()
        if "job_id" not in table.c and name != "jobs"
    }

    assert loose - OWNED_BY_NAME - OWNED_BY_COLUMN - set(WITHOUT_OWNER) == set()


@pytest.mark.conformance("API-02")
async def test_two_owners_use_one_idempotency_key(serving: HttpService) -> None:
    jobs = []
    for owner in ("maria", "otto"):
        key = await created(serving, owner)
        async with client_of(serving, key["key"]) as client:
            jobs += [await submitted(client, headers={"Idempotency-Key": "a"}) for _ in range(2)]

    assert jobs[0] == jobs[1] != jobs[2] == jobs[3]


async def test_the_server_and_not_the_sender_says_who_acts(
    serving: HttpService, idle_engine: RunningEngine
) -> None:
    key = await created(serving, "maria")
    async with client_of(serving, key["key"]) as client:
        forged = await client.post("/v1/jobs", json={"question": "Who?", "owner": "otto"})
        job = await submitted(client)
    async with serving.client() as client:
        line = (await client.get("/audit", params={"actor": "maria (laptop)"})).json()[0]

    assert forged.status_code == 422
    assert await find_job_owner(idle_engine.holdfast.db, job) == "maria"
    assert (line["action"], line["key_id"]) == ("submit_job", key["details"]["id"])


BEYOND_SCOPES: list[tuple[list[str], str, str, dict[str, str] | None]] = [
    (["read"], "POST", "/v1/jobs", {"question": "Who?"}),
    (["read", "ask"], "POST", "/v1/jobs/J/pause", None),
    (["ask"], "GET", "/v1/jobs", None),
    (["read", "ask", "steer"], "GET", "/v1/audit", None),
    (["read", "ask", "steer"], "POST", "/v1/keys", {"name": "a", "owner": "b"}),
    (["read", "ask", "steer"], "DELETE", "/v1/keys/1", None),
]


async def test_a_key_does_only_what_its_scopes_allow(serving: HttpService) -> None:
    for scopes, method, path, body in BEYOND_SCOPES:
        key = await created(serving, "maria", *scopes)

        async with client_of(serving, key["key"]) as client:
            answer = await client.request(method, path, json=body)

        assert answer.status_code == 403, (scopes, method, path)
        assert "has no scope" in answer.json()["detail"]
        assert ", ".join(sorted(scopes)) in answer.json()["detail"]


async def test_an_administrator_sees_every_owners_jobs(serving: HttpService) -> None:
    mine = await created(serving, "maria")
    all_seeing = await created(serving, "olga", Scope.ADMIN.value)
    async with client_of(serving, mine["key"]) as client:
        job = await submitted(client)

    async with client_of(serving, all_seeing["key"]) as client:
        answer = await client.get(f"/v1/jobs/{job}")
        audit = (await client.get("/v1/audit", params={"resource": job})).json()

    assert answer.status_code == 200
    assert [(each["actor"], each["action"]) for each in audit] == [("olga (laptop)", "show_job")]


async def test_a_revoked_or_expired_key_is_refused(
    serving: HttpService, idle_engine: RunningEngine
) -> None:
    revoked, expired = await created(serving, "maria"), await created(serving, "maria")
    async with serving.client() as client:
        ended = await client.delete(f"/keys/{revoked['details']['id']}")
    async with idle_engine.holdfast.db.writing() as connection:
        await connection.execute(
            update(api_keys)
            .where(api_keys.c.id == expired["details"]["id"])
            .values(expires_at=datetime.now(UTC) - timedelta(seconds=1))
        )

    for key in (revoked, expired):
        async with client_of(serving, key["key"]) as client:
            assert (await client.get("/v1/jobs")).status_code == 401
    assert ended.json()["revoked_at"] is not None


async def test_a_rotated_key_stays_valid_for_its_overlap(serving: HttpService) -> None:
    old = await created(serving, "maria", "read", days=10)
    key_id = old["details"]["id"]
    async with serving.client() as client:
        new = (await client.post(f"/keys/{key_id}/rotate", json={"overlap_hours": 1})).json()
        listed = {key["id"]: key for key in (await client.get("/keys")).json()}
        async with client_of(serving, old["key"]) as other:
            during = (await other.get("/v1/jobs")).status_code
        newest = new["details"]["id"]
        last = (await client.post(f"/keys/{newest}/rotate", json={"overlap_hours": 0})).json()
    statuses = []
    for key in (new, last):
        async with client_of(serving, key["key"]) as other:
            statuses.append((await other.get("/v1/jobs")).status_code)

    assert during == 200
    assert statuses == [401, 200]
    assert new["details"]["replaces"] == key_id
    assert (new["details"]["owner"], new["details"]["scopes"]) == ("maria", ["read"])
    left = datetime.fromisoformat(listed[key_id]["expires_at"]) - datetime.now(UTC)
    assert timedelta(minutes=50) < left <= timedelta(hours=1)


async def test_a_secret_is_shown_once_and_never_stored(
    serving: HttpService, idle_engine: RunningEngine
) -> None:
    key = await created(serving, "maria")
    secret = key["key"].rpartition(key["details"]["id"])[2].removeprefix("_")
    async with client_of(serving, key["key"]) as client:
        await client.get("/v1/jobs")
    async with serving.client() as client:
        listed = (await client.get("/keys")).text
        used = (await client.get("/keys")).json()[0]["last_used_at"]
    async with idle_engine.holdfast.db.reading() as connection:
        row = (await connection.execute(api_keys.select())).one()

    assert len(secret) == 43
    assert secret not in listed
    assert secret not in str(tuple(row))
    assert used is not None


REFUSED_KEYS: list[tuple[dict[str, Any], int, str]] = [
    ({"name": " ", "owner": "maria"}, 400, "cannot name a key"),
    ({"name": "a", "owner": "shared"}, 400, "cannot be an owner"),
    ({"name": "a", "owner": "a/b"}, 400, "cannot be an owner"),
    ({"name": "a", "owner": "maria", "scopes": ["root"]}, 422, "body.scopes.0"),
    ({"name": "a", "owner": "maria", "scopes": []}, 422, "body.scopes"),
    ({"name": "a", "owner": "maria", "days": 0}, 422, "body.days"),
]


async def test_a_key_that_cannot_be_made_is_refused_with_the_reason(serving: HttpService) -> None:
    async with serving.client() as client:
        for body, status, words in REFUSED_KEYS:
            answer = await client.post("/keys", json=body)
            keys = (await client.get("/keys")).json()

            assert (answer.status_code, keys) == (status, []), body
            assert words in answer.json()["detail"]


async def test_a_key_that_does_not_exist_is_neither_rotated_nor_revoked(
    serving: HttpService,
) -> None:
    async with serving.client() as client:
        rotated = await client.post("/keys/0/rotate", json={})
        revoked = await client.delete("/keys/a%00b")

    assert (rotated.status_code, revoked.status_code) == (404, 404)


@pytest.mark.conformance("OPS-08")
async def test_a_query_that_forgets_its_condition_shows_nothing_of_others(
    serving: HttpService, idle_engine: RunningEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    hers = await idle_engine.submit("What is zanzibarite?")
    async with idle_engine.db.writing() as connection:
        await connection.execute(update(jobs).where(jobs.c.id == hers).values(owner="maria"))
    whole = JobFilter(limit=100)
    monkeypatch.setattr(
        job_submission_routes, "newest_jobs", lambda holdfast, _: holdfast.list_jobs(whole)
    )

    listed = {}
    for owner in ("maria", "otto"):
        made = await created(serving, owner, "read")
        headers = {"Authorization": f"Bearer {made['key']}"}
        async with serving.client() as client:
            listed[owner] = (await client.get("/jobs", headers=headers)).json()

    assert [line["job_id"] for line in listed["maria"]] == [hers]
    assert listed["otto"] == []
