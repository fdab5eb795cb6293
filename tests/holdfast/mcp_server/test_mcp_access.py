"""Tests of who may use the MCP server over HTTP, and of what the audit has."""

from typing import Any

import httpx2
import pytest

from holdfast.models.access.audit_entries import AuditFilter
from holdfast.storage.access.audit_rows import load_audit_entries
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService
from tests.support.services.mcp_host import answer_of, mcp_host, refusal_of

pytestmark = pytest.mark.slow

QUESTION: dict[str, Any] = {"question": "Who?", "preset": "kpi-chain", "model": "scripted"}
JOB_TOOLS: dict[str, dict[str, Any]] = {
    "research_wait": {"seconds": 0},
    "research_status": {},
    "research_answer": {"question": 1, "choice": "approve"},
    "research_steer": {"guidance": "x"},
    "research_resume": {},
    "research_retry": {"tasks": ["T1"]},
    "research_stop": {},
    "research_report": {},
    "research_source": {"mark": 1},
    "research_compare": {"other": "job-none"},
}
SCHEDULE_TOOLS = {"research_schedule", "research_schedules", "research_change_schedule"}


async def new_key(serving: HttpService, owner: str, *scopes: str) -> str:
    body = {"name": "host", "owner": owner, "scopes": scopes or ["read", "ask", "steer"]}
    async with serving.client() as client:
        return str((await client.post("/keys", json=body)).json()["key"])


@pytest.mark.conformance("MCP-01")
async def test_no_tool_or_resource_shows_another_owners_job(
    engine: RunningEngine, serving: HttpService
) -> None:
    async with mcp_host(serving, key=await new_key(serving, "maria")) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        job = (await answer_of(client, "research_start", **QUESTION))["job"]
        await engine.holdfast.wait(job)
    async with mcp_host(serving, key=await new_key(serving, "otto")) as client:
        refusals = [
            await refusal_of(client, tool, job=job, **more) for tool, more in JOB_TOOLS.items()
        ]
        refusals.append(await refusal_of(client, "research_start", **QUESTION, follows=job))
        listed = await answer_of(client, "research_jobs")
        own = (await answer_of(client, "research_start", **QUESTION))["job"]
        refusals.append(await refusal_of(client, "research_compare", job=own, other=job))
        for part in ("report", "plan", "sources/1"):
            with pytest.raises(Exception, match="there is no job"):
                await client.read_resource(f"holdfast://jobs/{job}/{part}")

    assert tools == {"research_start", "research_jobs", *JOB_TOOLS, *SCHEDULE_TOOLS}
    assert listed == {"jobs": [], "is_whole": True}
    assert all(f"there is no job '{job}'" in each for each in refusals), refusals
    assert not any("found a" in each for each in refusals)


@pytest.mark.conformance("MCP-01", "REC-06")
async def test_a_host_schedules_a_question_that_other_owners_do_not_see(
    engine: RunningEngine, serving: HttpService
) -> None:
    asked = {**QUESTION, "times": "daily 08:00", "time_zone": "Europe/Berlin"}
    async with mcp_host(serving, key=await new_key(serving, "maria")) as client:
        made = await answer_of(client, "research_schedule", **asked)
        which = {"schedule": made["id"]}
        paused = await answer_of(client, "research_change_schedule", **which, change="pause")
        neither = await refusal_of(client, "research_schedule", times="daily 08:00")
        unknown = await refusal_of(client, "research_schedule", times="daily 08:00", update="j")
        job = (await answer_of(client, "research_start", **QUESTION))["job"]
        dropped = await refusal_of(
            client, "research_schedule", times="daily 08:00", update=job, preset="kpi-chain"
        )
        [listed] = (await answer_of(client, "research_schedules"))["schedules"]
    async with mcp_host(serving, key=await new_key(serving, "otto")) as client:
        seen = await answer_of(client, "research_schedules")
        ended = await refusal_of(client, "research_change_schedule", **which, change="end")
    async with mcp_host(serving, key=await new_key(serving, "maria", "read")) as client:
        unscoped = await refusal_of(client, "research_change_schedule", **which, change="end")

    assert (made["owner"], made["question"], made["status"]) == ("maria", "Who?", "active")
    assert paused["schedule"]["status"] == listed["status"] == "paused"
    assert "give either `question`, or `update`" in neither
    assert "there is no job 'j'" in unknown
    assert "preset cannot be given with `update`" in dropped
    assert seen["schedules"] == []
    assert "there is no schedule" in ended
    assert "no scope 'ask'" in unscoped
    recorded = await load_audit_entries(engine.db, AuditFilter(actor="maria (host)"))
    assert {each.resource for each in recorded if "schedule" in each.action} == {
        "/mcp",
        "/mcp j",
        f"/mcp {job}",
        f"/mcp {made['id']} pause",
        f"/mcp {made['id']} end",
    }


async def test_a_key_does_only_what_its_scopes_allow(
    engine: RunningEngine, serving: HttpService
) -> None:
    async with mcp_host(serving, key=await new_key(serving, "maria")) as client:
        job = (await answer_of(client, "research_start", **QUESTION))["job"]
    async with mcp_host(serving, key=await new_key(serving, "maria", "read")) as client:
        seen = await answer_of(client, "research_status", job=job)
        started = await refusal_of(client, "research_start", **QUESTION)
        stopped = await refusal_of(client, "research_stop", job=job)

    assert seen["job"] == job
    assert "this key has no scope 'ask'; its scopes: read" in started
    assert "no scope 'steer'" in stopped


@pytest.mark.parametrize("header", [{}, {"Authorization": "Bearer hf_x_y"}])
async def test_a_request_without_a_valid_key_is_refused(
    header: dict[str, str], serving: HttpService
) -> None:
    async with httpx2.AsyncClient(trust_env=False, timeout=30) as client:
        answer = await client.post(f"{serving.url}/mcp", headers=header, json={})

    assert (answer.status_code, answer.json()["error"]) == (401, "KeyMissing")
    assert answer.headers["www-authenticate"] == "Bearer"


async def test_the_audit_has_calls_that_change_and_refusals(
    engine: RunningEngine, serving: HttpService
) -> None:
    async with mcp_host(serving, key=await new_key(serving, "maria")) as client:
        job = (await answer_of(client, "research_start", **QUESTION))["job"]
        await answer_of(client, "research_status", job=job)
        await refusal_of(client, "research_steer", job="job-none", guidance="x")

    which = AuditFilter(actor="maria (host)")
    entries = [
        (each.action, each.resource, each.refused)
        for each in await load_audit_entries(engine.db, which)
    ]
    assert entries == [
        ("research_steer", "/mcp job-none", 404),
        ("research_steer", "/mcp job-none", None),
        ("research_start", "/mcp", None),
    ]
