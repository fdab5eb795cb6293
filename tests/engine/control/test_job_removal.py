"""Tests that an ended job is removed from every place, and nothing that another job needs."""

import asyncio

import pytest
from sqlalchemy import text

from holdfast.jobs.job_pruning import prune_jobs
from holdfast.jobs.job_removal import remove_ended_job
from holdfast.models.errors import BadInput, NotFound
from holdfast.models.jobs.job_filter import JobFilter
from holdfast.models.jobs.pruning import PrunedPart
from holdfast.storage.core.tables.metadata import metadata
from holdfast.storage.jobs import job_rows
from holdfast.temporal.workflow_handle import find_open_workflow
from tests.support.endpoints.scripted_model import ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles, extractor_script
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow


async def _rows_of(engine: RunningEngine, job_id: str) -> dict[str, int]:
    """The tables with rows of the job, and how many."""
    counts: dict[str, int] = {}
    async with engine.db.reading() as connection:
        for table in metadata.sorted_tables:
            if "job_id" in table.c:
                query = text(f"select count(*) from {table.name} where job_id = :job")
                count = (await connection.execute(query, {"job": job_id})).scalar_one()
                counts |= {table.name: count} if count else {}
    return counts


async def _sources(engine: RunningEngine) -> set[str]:
    async with engine.db.reading() as connection:
        return set((await connection.execute(text("select text from sources"))).scalars())


async def _runs_in_temporal(engine: RunningEngine, job_id: str) -> int:
    return len([each async for each in engine.temporal.list_workflows(f"WorkflowId = '{job_id}'")])


async def test_a_removed_job_leaves_nothing_and_keeps_the_sources_of_other_jobs(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    tools.answers = lambda argument: f"found {argument}"
    players.parts["extractor"] = extractor_script("found", 0.9)
    players.plan = plan(lookup_task("T1", query="shared"), final_task("T2", "T1"))
    other = await engine.run("Who?")
    players.plan = plan(
        lookup_task("T1", query="shared"), lookup_task("T2", query="own"), final_task("T3", "T2")
    )
    job = await engine.run("Who else?")
    kept = await _rows_of(engine, other.job_id)
    assert "found own" in await _sources(engine)

    removed = await remove_ended_job(engine.holdfast, job.job_id)

    assert removed.sources == 1
    assert await _rows_of(engine, job.job_id) == {}
    assert await _rows_of(engine, other.job_id) == kept
    assert await _sources(engine) >= {"found shared"}
    assert "found own" not in await _sources(engine)
    async with asyncio.timeout(100):
        while await _runs_in_temporal(engine, job.job_id):
            await asyncio.sleep(0.05)
    with pytest.raises(NotFound):
        await job_rows.load_job(engine.db, job.job_id)


async def test_a_job_that_has_not_ended_is_not_removed_and_the_message_says_how_to_end_it(
    engine: RunningEngine, players: ScriptedRoles, model: ScriptedModel, tools: ScriptedTools
) -> None:
    tools.answers = lambda argument: f"found {argument}"
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    players.parts["extractor"] = lambda asked: ScriptedReply.of(
        extractor_script("found", 0.9)(asked), delay=600
    )
    job_id = await engine.submit("Who?")
    await asyncio.to_thread(model.wait_for, 2)

    with pytest.raises(BadInput, match=f"holdfast cancel {job_id}"):
        await remove_ended_job(engine.holdfast, job_id)

    assert await find_open_workflow(engine.temporal, job_id) is not None
    assert await _rows_of(engine, job_id)
    model.release()


async def test_only_jobs_that_ended_before_the_given_time_are_pruned(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    tools.answers = lambda argument: f"found {argument}"
    players.parts["extractor"] = extractor_script("found", 0.9)
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    old, new = await engine.run("Old?"), await engine.run("New?")
    async with engine.db.writing() as connection:
        aged = text("update jobs set finished_at = now() - interval '31 days' where id = :job")
        await connection.execute(aged, {"job": old.job_id})

    pruned = await prune_jobs(
        engine.holdfast, PrunedPart.JOBS, older_than="30d", down_to=None, is_dry_run=False
    )

    assert [job.job_id for job in pruned.removed] == [old.job_id]
    left = await job_rows.load_newest_jobs(engine.db, JobFilter())
    assert [job.id for job in left] == [new.job_id]
