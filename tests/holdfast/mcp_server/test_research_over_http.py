"""Tests of research by an MCP host over HTTP: from the question to the cited passage."""

import os
import signal
import time
from contextlib import AsyncExitStack
from typing import Any

import pytest
from mcp import Client

from holdfast.mcp_server import research_server
from holdfast.mcp_server.tools import start_and_wait_tools
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService
from tests.support.services.mcp_host import answer_of, mcp_host, refusal_of, text_answer_of
from tests.support.services.server_process import free_port, server_process

pytestmark = pytest.mark.slow

QUESTION: dict[str, Any] = {"question": "Who?", "preset": "kpi-chain", "model": "scripted"}
HOST_LIMIT_S = 20


async def ended(client: Client, job: str) -> dict[str, Any]:
    while True:
        state = await answer_of(client, "research_wait", job=job)
        if state["status"] in ("done", "failed", "cancelled"):
            return state


@pytest.mark.conformance("BEY-10")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_host_researches_from_the_question_to_the_cited_passage(
    mode: str, engine: RunningEngine, serving: HttpService
) -> None:
    async with mcp_host(serving, mode=mode) as client:
        assert "research_start" in (client.instructions or "")
        started = await answer_of(client, "research_start", **QUESTION)
        state = await ended(client, started["job"])
        report = await text_answer_of(client, "research_report", job=started["job"])
        source = await answer_of(client, "research_source", job=started["job"], mark=1)
        listed = await answer_of(client, "research_jobs", words="who", status="done")
        odd = await refusal_of(client, "research_jobs", status="odd")
        again = await answer_of(client, "research_start", **QUESTION)
        retry = {"job": started["job"], "tasks": ["T1"]}
        planned = await answer_of(client, "research_retry", **retry, dry_run=True)
        retried = await answer_of(client, "research_retry", **retry)
        repeated = await ended(client, started["job"])

    assert [each["job_id"] for each in listed["jobs"]] == [started["job"]]
    assert listed["is_whole"]
    assert "statuses: queued" in odd
    assert retried == planned
    assert "T1" in retried["rerun"]
    assert repeated["status"] == "done"
    assert started["page"] == f"{serving.url}/jobs/{started['job']}"
    assert started["expected"]["usual"] is None
    assert (state["status"], state["answer"], state["report_parts"]) == ("done", "found a", 1)
    assert "research_report" in state["next"]
    assert "found a" in report
    assert source["quote"] in source["passage"]
    assert source["is_intact"]
    # The second job is expected to take what the first one took.
    assert again["expected"]["usual"]["jobs"] == 1
    assert again["expected"]["usual"]["model_calls"] > 0


@pytest.mark.conformance("MCP-01")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.long
async def test_a_server_is_replaced_between_two_calls_of_one_host(
    mode: str, engine: RunningEngine, serving: HttpService
) -> None:
    async with mcp_host(serving, mode=mode) as client:
        started = await answer_of(client, "research_start", request_id="monday", **QUESTION)
        serving.restart()
        same = await answer_of(client, "research_start", request_id="monday", **QUESTION)
        state = await ended(client, started["job"])
        serving.restart()
        report = await text_answer_of(client, "research_report", job=started["job"])

    assert same["job"] == started["job"]
    assert state["status"] == "done"
    assert "found a" in report


@pytest.mark.conformance("MCP-01")
@pytest.mark.timeout(600)
@pytest.mark.long
async def test_a_server_that_is_killed_between_two_calls_loses_nothing(
    engine: RunningEngine, serving: HttpService
) -> None:
    port = free_port()
    async with AsyncExitStack() as host:
        with server_process(engine, port) as killed:
            connecting = mcp_host(serving, url=f"http://127.0.0.1:{port}")
            client = await host.enter_async_context(connecting)
            started = await answer_of(client, "research_start", request_id="monday", **QUESTION)
            os.kill(killed.pid, signal.SIGKILL)
            killed.wait(10)
        with server_process(engine, port):
            same = await answer_of(client, "research_start", request_id="monday", **QUESTION)
            state = await ended(client, started["job"])
            report = await text_answer_of(client, "research_report", job=started["job"])

    assert same["job"] == started["job"]
    assert state["status"] == "done"
    assert "found a" in report


@pytest.mark.conformance("MCP-01")
@pytest.mark.long
async def test_a_wait_for_a_job_that_does_not_move_ends_in_time(
    engine: RunningEngine, serving: HttpService
) -> None:
    async with mcp_host(serving) as client:
        started = await answer_of(client, "research_start", review=True, **QUESTION)
        asked = await answer_of(client, "research_wait", job=started["job"])
        begin = time.monotonic()
        still = await answer_of(client, "research_wait", job=started["job"], seconds=20)
        took = time.monotonic() - begin

    assert asked["questions"][0]["kind"] == "approval"
    assert asked["estimate"]["tool_calls"] == 1
    assert still["questions"] == asked["questions"]
    assert start_and_wait_tools._LONGEST_WAIT_S <= took < HOST_LIMIT_S


@pytest.mark.conformance("MCP-01")
async def test_a_call_whose_service_hangs_ends_in_time_and_says_so(
    engine: RunningEngine, serving: HttpService, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert research_server.ANSWER_WITHIN_S < HOST_LIMIT_S
    monkeypatch.setattr(research_server, "ANSWER_WITHIN_S", 0.2)
    async with mcp_host(serving) as client:
        job = await engine.submit("Who?", review=True)
        refusal = await refusal_of(client, "research_wait", job=job, seconds=20)

    assert "did not answer within" in refusal
    assert "Call it again" in refusal


@pytest.mark.long
async def test_a_host_steers_and_stops_a_job_which_then_reports(
    engine: RunningEngine, serving: HttpService
) -> None:
    async with mcp_host(serving) as client:
        started = await answer_of(client, "research_start", review=True, **QUESTION)
        job = started["job"]
        await answer_of(client, "research_wait", job=job)
        await answer_of(client, "research_steer", job=job, guidance="Prefer registers.")
        stopped = await answer_of(client, "research_stop", job=job)
        again = await answer_of(client, "research_stop", job=job)
        refused = await refusal_of(client, "research_steer", job="job-none", guidance="x")

    assert stopped["status"] == "cancelled"
    # The plan was never approved, so nothing was found.
    assert "found nothing to report" in stopped["note"]
    assert again["status"] == "cancelled"
    assert "there is no job 'job-none'" in refused


@pytest.mark.conformance("MCP-01")
async def test_the_resources_of_a_job_are_read(engine: RunningEngine, serving: HttpService) -> None:
    job = (await engine.run("Who?")).job_id
    async with mcp_host(serving) as client:
        templates = (await client.list_resource_templates()).resource_templates
        texts = [
            (await client.read_resource(f"holdfast://jobs/{job}/{part}")).contents[0].text  # type: ignore[union-attr]  # all are texts
            for part in ("report", "plan", "sources/1")
        ]

    assert {each.uri_template for each in templates} == {
        "holdfast://jobs/{job}/report",
        "holdfast://jobs/{job}/plan",
        "holdfast://jobs/{job}/sources/{mark}",
    }
    assert "found a" in texts[0]
    assert "T1" in texts[1]
    assert '"mark": 1' in texts[2]
