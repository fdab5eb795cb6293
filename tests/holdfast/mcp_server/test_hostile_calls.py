"""Tests of hostile and mistaken calls of the MCP server: each is refused, and nothing is stored."""

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from sqlalchemy import func, select

from holdfast.storage.core.tables.job_tables import jobs
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService
from tests.support.services.mcp_host import mcp_host, refusal_of

pytestmark = pytest.mark.slow

LONE_SURROGATE = (
    b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name":'
    b' "research_start", "arguments": {"question": "\\ud800 who?"}}}'
)


@pytest.fixture(scope="module")
def serving(unchanged_engine: RunningEngine) -> Iterator[HttpService]:
    with HttpService(unchanged_engine.holdfast, writes=True) as serving:
        yield serving


async def stored_jobs(engine: RunningEngine) -> int:
    async with engine.db.reading() as connection:
        return int(await connection.scalar(select(func.count()).select_from(jobs)) or 0)


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("research_start", {}, "question"),
        ("research_start", {"question": "   "}, "the question is empty"),
        ("research_start", {"question": "x" * 20_001}, "question"),
        ("research_start", {"question": ["Who?"]}, "question"),
        ("research_start", {"question": "Who?", "settings": {"max_cost": -1}}, "max_cost"),
        ("research_start", {"question": "Who?", "settings": {"no_such": 1}}, "no_such"),
        ("research_start", {"question": "Who?", "settings": "max_cost=1"}, "settings"),
        ("research_start", {"question": "Who?", "preset": "none"}, "none"),
        ("research_start", {"question": "Who?", "model": "a b"}, "is not the name of a model"),
        ("research_start", {"question": "Who?", "collection": "none"}, "none"),
        ("research_start", {"question": "Who?", "follows": "job-none"}, "there is no job"),
        ("research_start", {"question": "Who?", "request_id": " "}, "the request is empty"),
        ("research_start", {"question": "Who?", "request_id": "x" * 201}, "request_id"),
        (
            "research_start",
            {"question": "Who?", "collections": "a"},
            "takes no argument 'collections'",
        ),
        ("research_start", {"question": "Who?", "owner": "otto"}, "takes no argument 'owner'"),
        ("research_status", {"job": "job-none"}, "there is no job 'job-none'"),
        ("research_status", {"job": "../../etc/passwd"}, "there is no job"),
        ("research_status", {"job": "a\x00b"}, "there is no job"),
        ("research_status", {"job": "' or 1=1 --"}, "there is no job"),
        ("research_status", {"job": "x" * 1_000_000}, "job"),
        ("research_status", {"job": None}, "job"),
        ("research_wait", {"job": "job-none", "seconds": 1e9}, "seconds"),
        ("research_wait", {"job": "job-none", "seconds": -1}, "seconds"),
        ("research_wait", {"job": "job-none", "seconds": "long"}, "seconds"),
        ("research_answer", {"job": "job-none", "question": 2**80}, "question"),
        ("research_report", {"job": "job-none", "part": 0}, "part"),
        ("research_source", {"job": "job-none", "mark": -1}, "mark"),
        ("research_none", {}, "research_none"),
    ],
    ids=lambda value: str(value)[:60],
)
async def test_a_call_that_cannot_be_carried_out_says_what_is_wrong_with_it(
    tool: str,
    arguments: dict[str, Any],
    said: str,
    unchanged_engine: RunningEngine,
    serving: HttpService,
) -> None:
    async with mcp_host(serving) as client:
        refusal = await refusal_of(client, tool, **arguments)

    assert said in refusal
    assert len(refusal) < 2_000
    assert "pydantic" not in refusal
    assert await stored_jobs(unchanged_engine) == 0


@pytest.mark.parametrize(
    "address",
    [
        "holdfast://jobs/job-none/report",
        "holdfast://jobs/../plan",
        "holdfast://jobs/%2e%2e/plan",
        "holdfast://jobs/job-none/sources/x",
        "holdfast://jobs/job-none/sources/99999999999999999999999",
        "holdfast://jobs//report",
        "holdfast://keys",
        "file:///etc/passwd",
    ],
)
async def test_a_resource_that_is_not_there_is_refused(address: str, serving: HttpService) -> None:
    async with mcp_host(serving) as client:
        with pytest.raises(Exception, match=r"(?i)no job|not found|unknown|no such"):
            await client.read_resource(address)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 1}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/none", "params": {}}',
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "x" * 100_000}).encode(),
        b"[" * 100_000,
        LONE_SURROGATE,
    ],
    ids=range(11),
)
@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28", "9999-99-99"])
async def test_a_malformed_message_is_answered_and_the_server_goes_on(
    version: str, body: bytes, unchanged_engine: RunningEngine, serving: HttpService
) -> None:
    headers = {
        "Authorization": f"Bearer {serving.token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": version,
    }
    async with httpx2.AsyncClient(trust_env=False, timeout=20) as client:
        answer = await client.post(f"{serving.url}/mcp", headers=headers, content=body)
        alive = await client.get(f"{serving.url}/v1/health")

    assert answer.status_code < 500, answer.text
    assert "Traceback" not in answer.text
    assert alive.status_code == 200
    assert await stored_jobs(unchanged_engine) == 0


async def test_a_body_that_is_too_large_and_other_methods_are_refused(
    serving: HttpService,
) -> None:
    headers = {"Authorization": f"Bearer {serving.token}"}
    async with httpx2.AsyncClient(trust_env=False, headers=headers, timeout=30) as client:
        large = await client.post(f"{serving.url}/mcp", content=b"x" * 2_000_001)
        got = await client.get(f"{serving.url}/mcp")

    assert large.status_code == 413
    assert got.status_code == 405
