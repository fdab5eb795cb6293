"""Tests that a key sees and changes nothing of another owner, on every route and in every table."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from sqlalchemy import text

from holdfast.api.application import build_application
from holdfast.storage.core.tables.all_tables import metadata
from holdfast.storage.core.tables.job_tables import jobs
from tests.support.endpoints.scripted_roles import ScriptedRoles, extractor_script
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.conformance("API-03")]

MARK = "zanzibarite"
"""A word that only Maria's rows have."""
ROUTES = sorted(
    (method.upper(), path)
    for path, methods in build_application(None, None).openapi()["paths"].items()  # type: ignore[arg-type]  # serves nothing
    for method in methods
)
WITHOUT_OWNER = {"/v1/tools", "/v1/agents", "/v1/configured-models/check", "/v1/estimates"}
"""They show what the installation offers, and start every tool server or ask a model for it."""
OF_THE_REQUESTS = {"api_keys", "audit_entries"}
"""Every request writes these: who asked, and when a key was used last."""


async def table_contents(engine: RunningEngine) -> dict[str, str]:
    """A hash of the rows of every table that has some, by table."""
    contents = {}
    async with engine.db.reading() as connection:
        for name in metadata.tables.keys() - OF_THE_REQUESTS - {"passage_vectors"}:
            query = text(f"select md5(string_agg(t::text, '|' order by t::text)) from {name} as t")
            if found := (await connection.execute(query)).scalar_one():
                contents[name] = str(found)
    return contents


async def tables_with_mark(engine: RunningEngine) -> set[str]:
    """The tables in which Maria's word stands."""
    found = set()
    async with engine.db.reading() as connection:
        for name in metadata.tables.keys() - {"passage_vectors"}:
            query = text(f"select count(*) from {name} as t where t::text like :word")
            if (await connection.execute(query, {"word": f"%{MARK}%"})).scalar_one():
                found.add(name)
    return found


async def client_of(serving: HttpService, owner: str) -> httpx2.AsyncClient:
    body = {"name": "laptop", "owner": owner, "scopes": ["read", "ask", "steer"]}
    async with serving.client() as client:
        key = (await client.post("/keys", json=body)).json()["key"]
    headers = {"Authorization": f"Bearer {key}"}
    return httpx2.AsyncClient(base_url=serving.url, headers=headers, trust_env=False, timeout=60)


async def fill(engine: RunningEngine, marias: httpx2.AsyncClient) -> dict[str, str]:
    """Give Maria a job, a collection, an upload, a webhook, a schedule and a response; their ids by parameter."""
    job_id = (await engine.run(f"Where is {MARK}?")).job_id
    async with engine.db.writing() as connection:
        await connection.execute(jobs.update().where(jobs.c.id == job_id).values(owner="maria"))
    await engine.add_document("maria/papers", f"{MARK} is a stone.")
    files = {"files": ("stone.md", f"{MARK} is rare.".encode())}
    upload = await marias.post("/v1/collections/rare/documents", files=files)
    url = f"https://example.com/{MARK}"
    webhook = await marias.post("/v1/webhooks", json={"url": url})
    weekly = {"times": "weekly on monday 08:00", "ask": {"question": f"Where is {MARK}?"}}
    schedule = await marias.post("/v1/schedules", json=weekly)
    asked = {"model": "holdfast", "input": f"What is {MARK}?", "background": True}
    response = await marias.post("/v1/responses", json=asked)
    for answer in (upload, webhook, schedule, response):
        assert answer.status_code < 300, answer.text
    upload_id = upload.json()["id"]
    async with asyncio.timeout(120):  # nothing is left that changes rows by itself
        while (await marias.get(f"/v1/uploads/{upload_id}")).json()["finished_at"] is None:
            await asyncio.sleep(0.1)
    for line in (await marias.get("/v1/jobs")).json():
        await engine.holdfast.wait(line["job_id"], timedelta(seconds=120))
    return {
        "job": job_id,
        "upload": upload_id,
        "webhook": webhook.json()["details"]["id"],
        "schedule": schedule.json()["id"],
        "response": response.json()["id"],
        "collection": "maria/papers",
        "sha256": "0" * 64,
    }


def bodies(ids: Mapping[str, str]) -> dict[str, Any]:
    """What Otto sends, by path; each body names what is Maria's."""
    job = ids["job"]
    asked = {"model": "holdfast", "input": "When?", "previous_response_id": ids["response"]}
    return {
        "/v1/jobs": {"question": "When?", "follows": job},
        "/v1/jobs/{job}/retry": {"tasks": ["T1"]},
        "/v1/jobs/{job}/steer": {"guidance": "Look at 1868."},
        "/v1/jobs/{job}/retractions": {"evidence": 1, "reason": "it is wrong"},
        "/v1/jobs/{job}/questions/{question}": {"text": "yes"},
        "/v1/erasures": {"job": job},
        "/v1/webhooks": {"url": "https://example.com/", "job": job},
        "/v1/schedules": {"times": "daily 08:00", "update": job},
        "/v1/responses": asked,
        "/v1/collections/{collection}/search": {"query": MARK},
    }


async def test_no_route_shows_or_changes_a_row_of_another_owner(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    tools.answers = lambda argument: f"found {argument}"
    players.parts["extractor"] = extractor_script("found", 0.9)
    players.plan = plan(lookup_task("T1", query=MARK), final_task("T2", "T1"))
    with HttpService(engine.holdfast, writes=True) as serving:
        marias, ottos = await client_of(serving, "maria"), await client_of(serving, "otto")
        ids = await fill(engine, marias)
        filled = await tables_with_mark(engine)
        before = await table_contents(engine)
        told, ways = {}, defaultdict(set)
        for method, path in ROUTES:
            if path in WITHOUT_OWNER:
                continue
            address = path.format_map(defaultdict(lambda: "1", ids))
            body = bodies(ids).get(path)
            answer = await ottos.request(method, address, json=body)
            ways[answer.status_code].add(f"{method} {path}")
            if MARK in answer.text or MARK in str(answer.headers):
                told[f"{method} {path}"] = answer.text[:200]
        after = await table_contents(engine)
        hers = [
            await marias.get(f"/v1/jobs/{ids['job']}"),
            await marias.get("/v1/collections/papers/documents"),
            await marias.get(f"/v1/uploads/{ids['upload']}"),
            await marias.get("/v1/webhooks"),
            await marias.get("/v1/schedules"),
        ]
        missing = await marias.delete(
            "/v1/collections/papers/documents", params={"address": "nowhere"}
        )
        await marias.aclose()
        await ottos.aclose()

    assert filled >= {"jobs", "tasks", "model_calls", "tool_calls", "sources", "evidence"}
    assert filled >= {"documents", "passages", "webhooks", "schedules", "responses"}
    assert told == {}
    changed = {name for name in before if after.get(name) != before[name]}
    assert changed == set(), dict(ways)
    assert not ways.keys() & {500, 502}, dict(ways)
    # What is Maria's was there to be seen.
    assert [answer.status_code for answer in hers] == [200] * 5
    assert MARK in hers[0].text + hers[3].text
    # A refusal names her collection as she does: the stored name is none for her.
    assert (missing.status_code, "maria/" in missing.text) == (404, False)
