"""Tests for the quotes of an agent's steps, which those see who judge the steps."""

from sqlalchemy import insert, select

from holdfast.storage.core.tables.evidence_tables import evidence, sources
from holdfast.storage.plans.given_quote_queries import quotes_of_steps
from tests.support.jobs.running_engine import RunningEngine
from tests.support.jobs.verification_job import store_verification_job, verified_agent_task


async def test_a_step_with_many_quotes_leaves_room_for_those_of_the_last_step(
    scripted_engine: RunningEngine,
) -> None:
    db = scripted_engine.db
    job = await store_verification_job(scripted_engine, [verified_agent_task("T1")])
    await job.found("T1", step="T1.1", quote="the first of many", value="a list")
    async with db.writing() as connection:
        source = await connection.scalar(select(sources.c.id))
        places = [{"start_char": n, "end_char": n + 1, "quote": f"q{n}"} for n in range(100)]
        of_step = {"job_id": job.job_id, "task_id": "T1.1", "entity": "value", "source_id": source}
        await connection.execute(insert(evidence), [of_step | each for each in places])
    await job.found("T1", attempt=2, step="T1.2", quote="the last", value="x")

    found = await quotes_of_steps(db, job.job_id, "T1")

    assert [each.quote for each in found["T1.2"]] == ["the last"]
    assert [each.quote for each in found["T1.1"]][-2:] == ["q98", "q99"]
