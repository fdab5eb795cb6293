"""Tests that a fork runs what its change touches, and answers every other call from the record."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import text

from holdfast.jobs.job_controller import JobController
from holdfast.jobs.job_lookup import plan_of
from holdfast.jobs.job_removal import remove_ended_job
from holdfast.models.calls.call_records import CallView
from holdfast.models.errors import BadInput, NotFound, PlanMoved, RequestKeyTaken
from holdfast.models.jobs.job_record import JobStatus
from holdfast.models.views.job_views import JobView
from holdfast.planning.plans.plan_edits import plan_as_yaml
from holdfast.records.fork_submission import ForkSubmission
from holdfast.records.job_forking import fork_job, prepare_fork, preview_fork, start_fork
from holdfast.roles.tasks.extractor import EXTRACTOR
from holdfast.storage.core.database import Database
from holdfast.storage.evidence.evidence_rows import load_report
from holdfast.storage.forks.fork_rows import forks_of
from holdfast.storage.jobs import job_rows
from holdfast.storage.views import job_queries
from tests.engine.control.test_job_controls import delay_extraction
from tests.engine.control.test_job_endings import wait_for_event
from tests.support.endpoints.scripted_model import ScriptedModel
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.conformance("BEY-05")]

PLAN = plan(
    lookup_task("T1", query="a"),
    lookup_task("T2", query="b"),
    lookup_task("T3", query="c"),
    final_task("T4", "T1", "T2", "T3"),
)
LONG = timedelta(seconds=240)


@pytest.fixture(autouse=True)
def found(tools: ScriptedTools, players: ScriptedRoles) -> None:
    tools.answers = lambda argument: f"found {argument}"
    players.plan = PLAN


async def fork(engine: RunningEngine, job_id: str, **changes: object) -> str:
    """The id of a fork that has ended."""
    submission = ForkSubmission.model_validate(changes)
    forked = await fork_job(engine.holdfast, job_id, submission, owner="", by="dana")
    job = await engine.holdfast.wait(forked.job_id, LONG)
    assert job.status is JobStatus.DONE, job.message
    return forked.job_id


async def sent_calls(engine: RunningEngine, job_id: str) -> list[CallView]:
    """The calls of a job that were sent to a model or a tool."""
    return [each for each in await job_queries.job_calls(engine.db, job_id) if not each.is_repeated]


@pytest.mark.long
async def test_a_fork_of_one_task_sends_its_calls_and_those_that_its_result_changes(
    engine: RunningEngine, model: ScriptedModel, tools: ScriptedTools
) -> None:
    first = await engine.run("Who?")
    asked, called = model.count, len(tools.called)
    shown = await preview_fork(
        engine.holdfast, first.job_id, ForkSubmission(tasks=("T3",)), owner="", by="dana"
    )
    assert model.count == asked
    tools.answers = lambda argument: f"found another {argument}"

    new = await engine.holdfast.show(await fork(engine, first.job_id, tasks=["T3"]))

    sent = await sent_calls(engine, new.job_id)
    assert [task.task for task in shown.rerun] == ["T3", "T4"]
    assert [task.why for task in shown.rerun] == ["changed", "downstream"]
    assert shown.kept == ("T1", "T2")
    assert tools.called[called:] == [("wikipedia_search", "c")]
    assert {call.task for call in sent if call.kind == "tool"} == {"T3"}
    assert {call.task for call in sent} <= {"T3", "T4", "report", "verify"}
    assert model.count - asked == len([c for c in sent if c.kind == "model"]) <= shown.calls
    assert statuses(new) == statuses(first)
    report = await load_report(engine.db, new.job_id)
    assert report is not None
    assert {citation.quote for citation in report.citations} >= {"found a"}
    assert await forks_of(engine.db, first.job_id) == [new.job_id]


def statuses(job: JobView) -> dict[str, str]:
    return {task.id: task.status for task in job.tasks}


@pytest.mark.long
async def test_another_question_of_a_task_is_asked_and_every_other_call_is_reused(
    engine: RunningEngine, model: ScriptedModel, tools: ScriptedTools, players: ScriptedRoles
) -> None:
    first = await engine.run("Who?")
    called, extracted = len(tools.called), players.count(EXTRACTOR)

    new = await fork(engine, first.job_id, questions={"T2": "find the value of T2 in 1999"})

    plan_text = plan_as_yaml(await plan_of(engine.holdfast, new))
    assert len(tools.called) == called
    assert players.count(EXTRACTOR) == extracted + 1
    assert players.tasks(EXTRACTOR)[-1]["description"] == "find the value of T2 in 1999"
    assert "find the value of T2 in 1999" in plan_text


async def test_an_edited_plan_runs_what_it_adds_and_what_rests_on_it(
    engine: RunningEngine, tools: ScriptedTools
) -> None:
    first = await engine.run("Who?")
    called = len(tools.called)
    text = plan_as_yaml(await plan_of(engine.holdfast, first.job_id))
    text = text.replace("value: b", "value: d")

    new = await engine.holdfast.show(await fork(engine, first.job_id, plan=text))

    assert tools.called[called:] == [("wikipedia_search", "d")]
    assert {task.id: task.status for task in new.tasks} == statuses(first)
    with pytest.raises(BadInput, match=r"unknown tool 'lab\.nothing'"):
        await fork(engine, first.job_id, plan=text.replace("lab.wikipedia_search", "lab.nothing"))


@pytest.mark.long
async def test_another_model_is_asked_and_the_tools_answer_from_the_record(
    engine: RunningEngine, model: ScriptedModel, tools: ScriptedTools
) -> None:
    first = await engine.run("Who?")
    called = len(tools.called)

    new = await fork(engine, first.job_id, settings={"model": "other"})

    sent = await sent_calls(engine, new)
    assert len(tools.called) == called
    assert {call.name for call in sent} == {"other"}
    assert len([call for call in sent if call.role == "planner"]) == 1


@pytest.mark.long
async def test_a_fork_outlives_its_origins_and_can_be_forked(
    engine: RunningEngine, model: ScriptedModel, tools: ScriptedTools
) -> None:
    first = await engine.run("Who?")
    second = await fork(engine, first.job_id, tasks=["T3"])
    await remove_ended_job(engine.holdfast, first.job_id)
    asked, called = model.count, len(tools.called)

    third = await fork(engine, second, settings={"max_tool_calls": 40})

    job = await job_rows.load_job(engine.db, third)
    assert (model.count, len(tools.called)) == (asked, called)
    assert job.request.fork is not None
    assert job.request.fork.origins == (second, first.job_id)
    assert (await engine.holdfast.show(third)).tokens.input == 0
    report = await load_report(engine.db, third)
    assert report is not None
    assert len(report.citations) == 3


@pytest.mark.long
async def test_a_fork_of_a_fork_has_the_price_of_calls_that_other_tasks_had_made(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    same = [lookup_task(name, query="a") for name in ("T1", "T2")]
    words = {"description": "find the value"}
    players.plan = plan(
        *(each.model_copy(update=words) for each in same), final_task("T3", "T1", "T2")
    )
    first = (await engine.run("Who?")).job_id
    second = await fork(engine, first, settings={"max_tool_calls": 40})
    again = ForkSubmission(settings={"max_tool_calls": 41})

    prices = [
        await preview_fork(engine.holdfast, each, again, owner="", by="dana")
        for each in (first, second)
    ]

    assert prices[0].tokens > 0
    assert prices[1].tokens == prices[0].tokens
    assert prices[1].calls == prices[0].calls


@pytest.mark.long
async def test_a_fork_of_a_fork_whose_origin_was_removed_estimates_the_tokens(
    engine: RunningEngine,
) -> None:
    first = (await engine.run("Who?")).job_id
    second = await fork(engine, first, settings={"max_tool_calls": 40})
    again = ForkSubmission(settings={"max_tool_calls": 41})
    await remove_ended_job(engine.holdfast, first)

    price = await preview_fork(engine.holdfast, second, again, owner="", by="dana")

    # A prompt has hundreds of tokens; the scripted model counts few.
    assert price.tokens > 100 * price.calls
    assert price.cost is None


@pytest.mark.long
async def test_a_running_job_is_forked_from_what_it_has_done(
    engine: RunningEngine, tools: ScriptedTools, players: ScriptedRoles
) -> None:
    controller = JobController(engine.holdfast, "dana")
    delay_extraction("c", 10, players)
    job_id = await engine.submit("Who?")
    await wait_for_event(engine, job_id, "task.done")
    await controller.pause(job_id)
    done = {t.id for t in (await engine.holdfast.show(job_id)).tasks if t.status == "done"}

    new = await fork(engine, job_id, questions={"T3": "find the value of T3 in 1999"})

    sent = await sent_calls(engine, new)
    assert done
    assert "T3" in {call.task for call in sent}
    assert done.isdisjoint({call.task for call in sent})
    await controller.cancel(job_id)


async def test_a_fork_that_is_asked_for_again_is_the_same_though_its_job_has_gone_on(
    engine: RunningEngine, players: ScriptedRoles, model: ScriptedModel
) -> None:
    """The tasks that run again are those that had not ended at the first time."""
    delay_extraction("c", 60, players)
    job_id = await engine.submit("Who?")
    await wait_for_event(engine, job_id, "task.done")
    named = ForkSubmission(tasks=("T4",))

    async def forked(submission: ForkSubmission) -> str:
        made = await fork_job(engine.holdfast, job_id, submission, owner="", by="dana", key="mine")
        return made.job_id

    first = await forked(named)
    model.release()
    await engine.holdfast.wait(job_id, LONG)

    assert await forked(named) == first
    with pytest.raises(RequestKeyTaken, match="asked something else"):
        await forked(ForkSubmission(tasks=("T3",)))


@pytest.mark.long
async def test_a_fork_of_a_plan_that_moves_meanwhile_is_refused_whole(
    engine: RunningEngine,
) -> None:
    first = await engine.run("Who?")
    submission = ForkSubmission(tasks=("T3",))
    prepared = await prepare_fork(engine.holdfast, first.job_id, submission, owner="", by="dana")
    # Someone holds the row of the job, as every write does, so that the fork has to wait.
    async with engine.db.job(first.job_id) as tx:
        forking = asyncio.create_task(start_fork(engine.holdfast, prepared, by="dana"))
        waiting = text("select count(*) from pg_locks where not granted")
        async with asyncio.timeout(120):
            while not (await tx.connection.execute(waiting)).scalar_one():
                await asyncio.sleep(0.05)
        superseded = "update tasks set status = 'superseded' where job_id = :job and id = 'T1'"
        await tx.connection.execute(text(superseded), {"job": first.job_id})

    with pytest.raises(PlanMoved, match="fork it again"):
        await forking

    assert await forks_of(engine.db, first.job_id) == []


async def test_forks_that_use_every_connection_of_the_pool_do_not_wait_for_another(
    engine: RunningEngine, database_url: str
) -> None:
    first = await engine.run("Who?")
    submission = ForkSubmission(tasks=("T3",))
    prepared = await prepare_fork(engine.holdfast, first.job_id, submission, owner="", by="dana")
    small = Database(database_url, pool_size=1)  # and one more in a rush
    holdfast = replace(engine.holdfast, db=small)
    waiting = text("select count(*) from pg_locks where not granted")
    # Both wait for the row of the job, each in its transaction.
    async with engine.db.job(first.job_id) as tx:
        forks = [asyncio.create_task(start_fork(holdfast, prepared, by="dana")) for _ in range(2)]
        async with asyncio.timeout(120):
            while (await tx.connection.execute(waiting)).scalar_one() < len(forks):
                await asyncio.sleep(0.05)

    async with asyncio.timeout(120):
        new = [each.job_id for each in await asyncio.gather(*forks)]
    await small.close()

    assert sorted(await forks_of(engine.db, first.job_id)) == sorted(new)
    for job_id in new:
        await engine.holdfast.wait(job_id, LONG)


@pytest.mark.long
async def test_retracted_evidence_counts_for_nothing_in_the_fork_alone(
    engine: RunningEngine,
) -> None:
    first = await engine.run("Who?")
    report = await load_report(engine.db, first.job_id)
    assert report is not None
    cited = next(each for each in report.citations if each.quote == "found b")

    new = await fork(engine, first.job_id, retract=[cited.evidence_id])

    after = await load_report(engine.db, new)
    assert after is not None
    assert "found b" not in {each.quote for each in after.citations}
    assert "found a" in {each.quote for each in after.citations}
    before = await load_report(engine.db, first.job_id)
    assert before is not None
    assert not before.warnings


async def test_a_fork_that_changes_nothing_or_cannot_run_is_refused(engine: RunningEngine) -> None:
    first = await engine.run("Who?")

    for changes, error, why in (
        ({}, BadInput, "changes nothing"),
        ({"tasks": ["T9"]}, NotFound, "its tasks: T1, T2, T3, T4"),
        ({"retract": [999_999]}, NotFound, "no evidence 999999"),
        ({"settings": {"verif": True}}, BadInput, "did you mean 'verify'"),
        ({"tasks": ["T4"], "model": ""}, BadInput, "'' is not the name of a model"),
        ({"settings": {"model": ""}}, BadInput, "'' is not the name of a model"),
        ({"preset": ""}, NotFound, "no preset ''"),
        ({"plan": ""}, BadInput, "plan"),
    ):
        with pytest.raises(error, match=why):
            await preview_fork(
                engine.holdfast,
                first.job_id,
                ForkSubmission.model_validate(changes),
                owner="",
                by="",
            )
