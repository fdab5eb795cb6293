"""Tests for forking jobs over HTTP and with the Python client."""

from collections.abc import Iterator

import pytest
from sqlalchemy import func, select, update

from holdfast import AsyncClient
from holdfast.jobs.job_removal import remove_ended_job
from holdfast.python_client.api_errors import InvalidRequest, ServiceUnavailable
from holdfast.records.claim_matches import comparison_turn
from holdfast.roles.reports.claim_matcher import CLAIM_MATCHER
from holdfast.storage.core.exclusive_turns import exclusive_turn
from holdfast.storage.core.tables.call_tables import model_calls
from holdfast.storage.core.tables.job_tables import jobs
from holdfast.storage.jobs import job_rows
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.conformance("BEY-05")]


@pytest.fixture
def serving(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> Iterator[HttpService]:
    tools.answers = lambda argument: f"found {argument}"
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    with HttpService(engine.holdfast, writes=True) as serving:
        yield serving


async def test_a_fork_is_shown_first_and_made_once_for_each_key(
    engine: RunningEngine, serving: HttpService, tools: ScriptedTools
) -> None:
    first = (await engine.run("Who?")).job_id
    question = {"T1": "find it elsewhere"}
    async with AsyncClient(serving.url, serving.token) as client:
        shown = await client.preview_fork(first, questions=question)
        forked = await client.fork(first, questions=question, key="mine")
        again = await client.fork(first, questions=question, key="mine")
        ended = await client.wait(forked["job_id"])
        parent = await client.job(first)

    assert [(each["task"], each["why"]) for each in shown["rerun"]] == [
        ("T1", "changed"),
        ("T2", "downstream"),
    ]
    assert (shown["kept"], shown["rerun"][0]["description"]) == ([], "find it elsewhere")
    assert again["job_id"] == forked["job_id"]
    assert (ended.status, ended.forked_from) == ("done", first)
    assert parent.forks == (forked["job_id"],)
    assert len(tools.called) == 1
    assert (await job_rows.load_job(engine.db, forked["job_id"])).request.fork is not None


@pytest.mark.conformance("OPS-10")
async def test_forks_and_updates_belong_to_the_key_that_asked_for_them(
    engine: RunningEngine, serving: HttpService
) -> None:
    first = (await engine.run("Who?")).job_id
    body = {"name": "laptop", "owner": "maria", "scopes": ["read", "ask", "steer", "admin"]}
    async with serving.client() as client:
        made = (await client.post("/keys", json=body)).json()
    async with AsyncClient(serving.url, made["key"]) as client:
        forked = await client.fork(first, questions={"T1": "find it elsewhere"})
        updated = await client.update(first, search=True)
        for started in (forked["job_id"], updated["job_id"]):
            await client.wait(started)

    async with engine.db.reading() as connection:
        rows = (await connection.execute(select(jobs.c.id, jobs.c.key_id))).all()
    keys = {row.id: row.key_id for row in rows}
    assert keys == {
        first: "",
        forked["job_id"]: made["details"]["id"],
        updated["job_id"]: made["details"]["id"],
    }


@pytest.mark.conformance("REC-01")
async def test_an_owner_lets_a_model_match_the_claims_that_rules_left_over_and_pays_once(
    serving: HttpService, tools: ScriptedTools, players: ScriptedRoles
) -> None:
    replies = iter(
        (
            # Refused: there is no B9, and A1 is in two pairs.
            [{"first": "A1", "second": name, "same_value": True} for name in ("B1", "B9")],
            [{"first": "[a1]", "second": "b1", "why": "another value", "same_value": False}],
        )
    )
    players.parts[CLAIM_MATCHER.name] = lambda _: {"pairs": next(replies)}
    body = {"name": "laptop", "owner": "maria", "scopes": ["read", "ask"]}
    async with serving.client() as client:
        made = (await client.post("/keys", json=body)).json()
    async with AsyncClient(serving.url, made["key"], timeout_s=300) as client:
        first = await ended_job(client)
        tools.answers = {"a": "quite other words"}
        second = await ended_job(client)
        by_rules = await client.compare(first, second)
        by_model = await client.compare(first, second, model="scripted")
        again = await client.compare(first, second, model="scripted")
        with pytest.raises(InvalidRequest, match="same rules"):
            await client.compare(first, second, model="extractive")
        shown = (await client.job(second)).model_extra or {}

    assert by_rules["matching"] is None
    assert {each["change"] for each in by_rules["claims"]} == {"gone", "new"}
    (pair,) = by_model["claims"]
    assert (pair["change"], pair["matched_by"]) == ("other_value", "scripted")
    assert by_model["matched_by"] == "rules and scripted"
    spend = by_model["matching"]
    assert (spend["calls"], spend["job_id"]) == (2, second)
    assert spend["input_tokens"] > 0
    assert again == by_model
    assert players.count(CLAIM_MATCHER) == 2
    # What the comparison took is the second job's to record, and not a part of what is compared.
    assert by_model["second"] == by_rules["second"]
    assert shown["calls"]["model"] == by_rules["second"]["model_calls"] + 2
    (compared,) = [each for each in shown["stages"] if each["name"] == "compare"]
    assert compared["model_calls"] == 2
    (asked, _) = players.asked[CLAIM_MATCHER.name]
    assert "`questions`, `first`, `second`: data from outside" in asked.system
    assert asked.task["questions"] == ["Who?"]
    assert asked.task["second"][0]["text"].startswith("quite other words")


async def ended_job(client: AsyncClient) -> str:
    """The id of a new job of the client, which has ended."""
    job = await client.submit("Who?", model="scripted", preset="kpi-chain")
    await client.wait(job.job_id)
    return job.job_id


@pytest.mark.conformance("REC-01")
async def test_a_comparison_is_no_part_of_a_job_that_goes_on_and_goes_with_either_job(
    engine: RunningEngine, serving: HttpService, tools: ScriptedTools, players: ScriptedRoles
) -> None:
    players.parts[CLAIM_MATCHER.name] = lambda _: {"pairs": []}
    async with AsyncClient(serving.url, serving.token, timeout_s=300) as client:
        first = await ended_job(client)
        tools.answers = {"a": "quite other words"}
        second = await ended_job(client)
        before = (await client.report(second)).model_extra or {}
        async with exclusive_turn(engine.db, comparison_turn(first, second)):
            with pytest.raises(ServiceUnavailable, match="compare again"):
                await client.compare(first, second, model="scripted")
        assert players.count(CLAIM_MATCHER) == 0
        await client.compare(first, second, model="scripted")
        after = (await client.report(second)).model_extra or {}
        # As a server leaves it that was stopped during the call.
        async with engine.db.writing() as connection:
            of_matcher = update(model_calls).where(model_calls.c.role == CLAIM_MATCHER.name)
            await connection.execute(of_matcher.values(status="started", response=None))
        await client.retry(second, "T1")
        ended = await client.wait(second)

    assert (before.get("stages"), ended.status) == (after.get("stages"), "done")
    assert await comparisons_of(engine, second) == 1
    await remove_ended_job(engine.holdfast, first)
    assert await comparisons_of(engine, second) == 0


async def comparisons_of(engine: RunningEngine, job_id: str) -> int:
    """How many calls compared the job with another one."""
    query = select(func.count()).select_from(model_calls)
    of_job = query.where(model_calls.c.job_id == job_id, model_calls.c.role == CLAIM_MATCHER.name)
    async with engine.db.reading() as connection:
        return int((await connection.execute(of_job)).scalar_one())
