"""Tests of long reports in parts, and of the report of a job that was stopped."""

import asyncio
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.jobs.job_lookup import report_of
from holdfast.mcp_server.text_parts import MAX_RESULT_LENGTH, text_parts
from holdfast.reports.markdown_and_json_rendering import to_markdown
from holdfast.storage.views.job_queries import events_after
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService
from tests.support.services.mcp_host import answer_of, mcp_host, refusal_of, text_answer_of
from tests.support.tools.scripted_tools import ScriptedTools

QUESTION: dict[str, Any] = {"question": "Who?", "preset": "kpi-chain", "model": "scripted"}
TEXTS = st.text(st.sampled_from("ab #\n"), max_size=300)


@given(TEXTS, st.integers(min_value=8, max_value=60))
def test_the_parts_of_a_text_are_the_text_and_no_part_is_too_long(text: str, limit: int) -> None:
    parts = text_parts(text, limit)

    assert "".join(parts) == text
    assert all(len(part) <= limit for part in parts)
    assert len(parts) <= 1 + len(text) // (limit // 2)


def test_a_part_begins_with_a_section_where_there_is_one() -> None:
    text = f"{'a' * 30}\n## Sources\n{'b' * 30}"

    assert text_parts(text, 50) == (f"{'a' * 30}\n", f"## Sources\n{'b' * 30}")


@pytest.mark.slow
@pytest.mark.conformance("MCP-01")
async def test_a_long_report_is_read_in_parts_of_bounded_size(
    engine: RunningEngine, serving: HttpService
) -> None:
    job = (await engine.run("Who built the pier? " * 990)).job_id
    whole = to_markdown(await report_of(engine.holdfast, job))
    assert len(whole) > MAX_RESULT_LENGTH

    async with mcp_host(serving) as client:
        count = (await answer_of(client, "research_status", job=job))["report_parts"]
        texts = [
            await text_answer_of(client, "research_report", job=job, part=number + 1)
            for number in range(count)
        ]
        beyond = await refusal_of(client, "research_report", job=job, part=count + 1)

    assert all(len(text) <= MAX_RESULT_LENGTH for text in texts)
    assert "".join(text.partition("\n\n")[2] for text in texts) == whole
    assert texts[0].startswith(f"(part 1 of {count}; part=2 is the next)")
    assert f"there is no part {count + 1}" in beyond


@pytest.mark.slow
async def test_a_job_that_is_stopped_reports_what_it_has_found(
    engine: RunningEngine, serving: HttpService, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    is_over = threading.Event()

    def answer(argument: str) -> str:
        if argument == "slow":
            is_over.wait(60)
        return f"found {argument}"

    tools.answers = answer
    first, second = lookup_task("T1", query="a"), lookup_task("T2", "T1", query="slow")
    players.plan = plan(first, second, final_task("T3", "T1", "T2"))
    async with mcp_host(serving) as client:
        job = (await answer_of(client, "research_start", **QUESTION))["job"]
        async with asyncio.timeout(60):
            while ("wikipedia_search", "slow") not in tools.called:
                await asyncio.sleep(0.05)
        stopped = await answer_of(client, "research_stop", job=job)
        is_over.set()
        # A second call must not stop the writing of the report.
        while not (state := await answer_of(client, "research_stop", job=job))["report_parts"]:
            assert "research_" in state["note"]
        report = await text_answer_of(client, "research_report", job=job)

    assert "research_wait" in stopped["note"] or "research_stop" in stopped["note"]
    assert "found a" in report
    kinds = [entry.kind for entry in await events_after(engine.db, job, 0, 1000)]
    assert [kinds.count(kind) for kind in ("job.cancelling", "job.reopened")] == [1, 1]
