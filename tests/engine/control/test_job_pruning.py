"""Tests that ended jobs lose their raw answers, logs or rows by age and size, and nothing else."""

from datetime import timedelta

import pytest
from sqlalchemy import func, select, text

from holdfast.evidence.report_provenance import provenance_of
from holdfast.jobs.job_controller import JobController
from holdfast.jobs.job_pruning import PrunedJobs, prune_jobs
from holdfast.models.errors import BadInput
from holdfast.models.jobs.job_age import parse_size
from holdfast.models.jobs.job_record import JobStatus
from holdfast.models.jobs.pruning import PrunedPart
from holdfast.records.fork_submission import ForkSubmission
from holdfast.records.job_forking import prepare_fork, start_fork
from holdfast.storage.core.tables.job_tables import events, reports
from tests.support.endpoints.scripted_model import ScriptedModel
from tests.support.endpoints.scripted_roles import ScriptedRoles, extractor_script
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.conformance("WAVE-14")]


@pytest.fixture(autouse=True)
def script(players: ScriptedRoles, tools: ScriptedTools) -> None:
    tools.answers = lambda argument: f"found {argument}"
    players.parts["extractor"] = extractor_script("found", 0.9)
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))


async def prune(
    engine: RunningEngine, part: PrunedPart, *, is_dry_run: bool = False, **which: str | None
) -> PrunedJobs:
    wanted = {"older_than": None, "down_to": None} | which
    return await prune_jobs(engine.holdfast, part, is_dry_run=is_dry_run, **wanted)


async def ended_hours_ago(engine: RunningEngine, job_id: str, hours: int) -> None:
    statement = text(
        "update jobs set finished_at = now() - make_interval(hours => :hours) where id = :job"
    )
    async with engine.db.writing() as connection:
        await connection.execute(statement, {"job": job_id, "hours": hours})


async def raw_texts(engine: RunningEngine, job_id: str) -> int:
    """The characters of what was asked of models, and of what models and tools answered."""
    query = text("""
        select (select coalesce(sum(length(request) + length(coalesce(response, ''))), 0)
                from model_calls where job_id = :job)
            + (select coalesce(sum(length(coalesce(response, ''))), 0)
                from tool_calls where job_id = :job)
            + (select count(*) from loop_messages where job_id = :job)
    """)
    async with engine.db.reading() as connection:
        return int((await connection.execute(query, {"job": job_id})).scalar_one())


async def test_raw_answers_of_old_jobs_go_and_everything_that_is_read_stays(
    engine: RunningEngine,
) -> None:
    old, new = await engine.run("Old?"), await engine.run("New?")
    await ended_hours_ago(engine, old.job_id, 30)

    pruned = await prune(engine, PrunedPart.RESPONSES, older_than="24h")

    assert [job.job_id for job in pruned.found] == [old.job_id]
    assert pruned.size_bytes > 0
    assert await raw_texts(engine, old.job_id) == 0
    assert await raw_texts(engine, new.job_id) > 0
    shown = await engine.holdfast.show(old.job_id)
    assert (shown.answer, shown.tokens, shown.tasks) == (old.answer, old.tokens, old.tasks)
    assert await prune(engine, PrunedPart.RESPONSES, older_than="24h") == pruned.model_copy(
        update={"found": ()}
    )
    async with engine.db.reading() as connection:
        mine = select(reports.c.body).where(reports.c.job_id == old.job_id)
        assert (await connection.execute(mine)).scalar_one()["summary"]
    with pytest.raises(BadInput, match=r"pruned .* submit its question again"):
        await JobController(engine.holdfast, "maria").retry(old.job_id, ["T1"])


@pytest.mark.long
async def test_a_fork_takes_no_pruned_answer_for_a_recorded_one(
    engine: RunningEngine, model: ScriptedModel, tools: ScriptedTools
) -> None:
    old = await engine.run("Old?")
    asked, called = model.count, len(tools.called)
    change = ForkSubmission.model_validate({"settings": {"slots": 1}})
    prepared = await prepare_fork(engine.holdfast, old.job_id, change, owner="", by="maria")
    await ended_hours_ago(engine, old.job_id, 30)
    await prune(engine, PrunedPart.RESPONSES, older_than="24h")

    forked = await start_fork(engine.holdfast, prepared, by="maria")
    new = await engine.holdfast.wait(forked.job_id, timedelta(seconds=120))

    assert new.status is JobStatus.DONE, new.message
    assert (model.count, len(tools.called)) == (2 * asked, 2 * called)
    with pytest.raises(BadInput, match=r"pruned .* nor be forked"):
        await prepare_fork(engine.holdfast, old.job_id, change, owner="", by="maria")


@pytest.mark.long
async def test_a_citation_of_a_job_without_raw_answers_still_has_its_passage(
    engine: RunningEngine,
) -> None:
    job = await engine.run("Old?")
    before = await provenance_of(engine.holdfast, job.job_id, 1)
    await ended_hours_ago(engine, job.job_id, 30)

    await prune(engine, PrunedPart.RESPONSES, older_than="24h")

    after = await provenance_of(engine.holdfast, job.job_id, 1)
    assert (after.citation, after.value) == (before.citation, before.value)


async def test_only_the_last_entry_of_a_pruned_log_stays(engine: RunningEngine) -> None:
    job = await engine.run("Old?")
    await ended_hours_ago(engine, job.job_id, 30)

    await prune(engine, PrunedPart.EVENTS, older_than="24h")

    async with engine.db.reading() as connection:
        mine = select(events.c.kind).where(events.c.job_id == job.job_id)
        assert (await connection.execute(mine)).scalars().all() == ["job.ended"]


@pytest.mark.long
async def test_the_jobs_that_ended_first_are_pruned_until_the_size_is_reached(
    engine: RunningEngine,
) -> None:
    jobs = [await engine.run(question) for question in ("First?", "Second?", "Third?")]
    for hours, job in zip((30, 20, 10), jobs, strict=True):
        await ended_hours_ago(engine, job.job_id, hours)

    # Each has a few kilobytes: a megabyte is not reached, and nothing has room for all.
    none = await prune(engine, PrunedPart.JOBS, down_to="1MB", is_dry_run=True)
    every = await prune(engine, PrunedPart.JOBS, down_to="0MB", is_dry_run=True)
    old = await prune(engine, PrunedPart.JOBS, down_to="0MB", older_than="15h", is_dry_run=True)
    async with engine.db.reading() as connection:
        kept = (await connection.execute(select(func.count()).select_from(reports))).scalar_one()

    assert none.found == ()
    assert [job.job_id for job in every.found] == [job.job_id for job in jobs]
    assert [job.job_id for job in old.found] == [job.job_id for job in jobs[:2]]
    assert all(job.size_bytes > 1_000 for job in every.found)
    assert kept == 3
    async with engine.db.writing() as connection:
        again = text("update jobs set status = 'running', epoch = epoch + 1 where id = :job")
        await connection.execute(again, {"job": jobs[1].job_id})
    ended = await prune(engine, PrunedPart.JOBS, down_to="0MB", is_dry_run=True)
    assert [job.job_id for job in ended.found] == [jobs[0].job_id, jobs[2].job_id]


@pytest.mark.parametrize("size", ["", "5", "GB", "-1GB", "5 GB", "1.5GB"])
def test_a_text_that_is_no_size_is_refused(size: str) -> None:
    with pytest.raises(BadInput, match="such as 20GB"):
        parse_size(size)


async def test_a_pruning_without_age_and_size_is_refused(engine: RunningEngine) -> None:
    with pytest.raises(BadInput, match="an age, such as 30d"):
        await prune(engine, PrunedPart.JOBS)
