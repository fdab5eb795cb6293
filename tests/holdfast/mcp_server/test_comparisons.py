"""Tests that a host compares two jobs."""

import json

import pytest

from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService
from tests.support.services.mcp_host import mcp_host, refusal_of, text_answer_of

pytestmark = [pytest.mark.slow, pytest.mark.conformance("MCP-01", "REC-01")]


async def test_a_host_reads_what_differs_between_two_jobs(
    engine: RunningEngine, serving: HttpService, players: ScriptedRoles
) -> None:
    first = (await engine.run("Who?")).job_id
    lookup, other = lookup_task("T1", query="a"), lookup_task("T3", query="b")
    players.plan = plan(lookup, other, final_task("T2", "T1", "T3"))
    second = (await engine.run("Who?")).job_id
    async with mcp_host(serving) as client:
        pair = {"job": first, "other": second}
        found = json.loads(await text_answer_of(client, "research_compare", **pair))
        same = json.loads(await text_answer_of(client, "research_compare", job=first, other=first))
        beyond = await refusal_of(client, "research_compare", **pair, part=2)
        unknown = await refusal_of(client, "research_compare", job=first, other="job-none")

    assert (found["first"]["job_id"], found["second"]["job_id"]) == (first, second)
    changes = {each["first"] or each["second"]: each["change"] for each in found["tasks"]}
    assert changes["T3"] == "only_second"
    assert "T1" not in changes, "it is the same in both jobs"
    assert found["matched_by"] == "rules"
    assert same["has_same_answer"] is True
    assert [same[name] for name in ("claims", "tasks", "sources")] == [[], [], []]
    assert same["claim_counts"]["same"] > 0
    assert "the comparison has 1 part, so there is no part 2" in beyond
    assert "there is no job 'job-none'" in unknown
