"""Tests for questions of a running job: answered by a person, or by the default after the
deadline."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from holdfast.cli.render.status_lines import status_lines
from holdfast.jobs.current_status import status_of
from holdfast.jobs.job_controller import JobController
from holdfast.models.errors import BadInput, NotFound
from holdfast.models.jobs.job_record import JobStatus, StopReason
from holdfast.models.plans.research_plan import TaskStatus
from holdfast.models.questions.user_questions import AnswerOrigin, QuestionKind
from holdfast.planning.strategies.strategy_presets import preset, with_settings
from holdfast.storage.jobs import job_control_rows, job_rows
from holdfast.storage.jobs.outage_rows import note_services_present
from holdfast.storage.plans import task_queries
from holdfast.storage.questions import question_rows
from holdfast.storage.questions.question_rows import NewQuestion
from tests.engine.control.test_job_controls import events_of_kind
from tests.support.endpoints.scripted_model import ScriptedModel
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.question_jobs import submit_with_questions, wait_for_question
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

WITHIN = timedelta(seconds=30)


@pytest.fixture
def controller(engine: RunningEngine) -> JobController:
    return JobController(engine.holdfast, "dana")


@pytest.fixture(autouse=True)
def _two_tasks(players: ScriptedRoles, tools: ScriptedTools) -> None:
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    tools.answers = lambda argument: f"found {argument}"


def doubt(**more: object) -> NewQuestion:
    kind = QuestionKind.ESCALATION
    return NewQuestion(
        key="doubt", kind=kind, task_id="T1", text="Is T1 good enough?", default="accept", **more
    )


def in_(seconds: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)


async def all_worked(engine: RunningEngine, job_id: str) -> None:
    async with asyncio.timeout(30):
        while {t.status for t in (await task_queries.load_plan(engine.db, job_id)).tasks} != {
            TaskStatus.DONE
        }:
            await asyncio.sleep(0.05)


@pytest.mark.conformance("VMAO-16")
async def test_other_work_goes_on_and_the_answer_is_heeded_by_planning(
    engine: RunningEngine, controller: JobController, model: ScriptedModel
) -> None:
    job_id, [number] = await submit_with_questions(engine, doubt())
    await all_worked(engine, job_id)
    asked_before = model.count
    waiting = (await job_rows.load_job(engine.db, job_id)).status

    await controller.answer(job_id, number, "", "Ask the lighthouse keeper.")
    job = await engine.holdfast.wait(job_id, WITHIN)

    assert waiting is JobStatus.RUNNING
    assert job.status is JobStatus.DONE
    assert model.count == asked_before + 1  # the report
    [kept] = await question_rows.questions_of(engine.db, job_id)
    assert (kept.answer, kept.origin) == ("Ask the lighthouse keeper.", AnswerOrigin.USER)
    assert await job_control_rows.guidance_of(engine.db, job_id) == (
        "T1: Ask the lighthouse keeper.",
    )
    history = await engine.temporal.get_workflow_handle(job_id).fetch_history()
    assert "lighthouse" not in history.to_json()


@pytest.mark.conformance("VMAO-16")
async def test_what_nobody_answers_in_time_is_answered_by_its_default(
    engine: RunningEngine,
) -> None:
    job_id, [number] = await submit_with_questions(engine, doubt(deadline=in_(1)))

    job = await engine.holdfast.wait(job_id, WITHIN)

    assert job.status is JobStatus.DONE
    kept = await question_rows.load_question(engine.db, job_id, number)
    assert (kept.answer, kept.origin, kept.answered_by) == (
        "accept",
        AnswerOrigin.DEFAULT,
        "holdfast",
    )
    [note] = await events_of_kind(engine, job_id, "question.answered")
    assert note.facts["origin"] == "default"


@pytest.mark.conformance("REL-01")
async def test_a_question_that_became_due_in_an_outage_waits_for_people(
    engine: RunningEngine, controller: JobController
) -> None:
    await note_services_present(engine.db)
    async with engine.db.writing() as connection:
        for statement in (
            "alter table questions alter asked_at set default now() - interval '2 hours'",
            "update service_presence set seen_at = now() - interval '1 hour'",
        ):
            await connection.execute(text(statement))
    job_id, [number] = await submit_with_questions(engine, doubt(deadline=in_(1)))

    async with asyncio.timeout(30):
        while (await _deadline(engine, job_id, number)) < in_(1800):
            await asyncio.sleep(0.05)
    await all_worked(engine, job_id)
    await controller.answer(job_id, number, "", "Ask the lighthouse keeper.")
    job = await engine.holdfast.wait(job_id, WITHIN)

    assert job.status is JobStatus.DONE
    kept = await question_rows.load_question(engine.db, job_id, number)
    assert kept.origin is AnswerOrigin.USER
    history = (await engine.temporal.get_workflow_handle(job_id).fetch_history()).to_json()
    assert history.count(f'"activityId": "default-{number}"') == 1


async def _deadline(engine: RunningEngine, job_id: str, number: int) -> datetime:
    question = await question_rows.load_question(engine.db, job_id, number)
    assert question.is_open
    assert question.deadline is not None
    return question.deadline


@pytest.mark.conformance("VMAO-16")
@pytest.mark.long
async def test_a_deadline_holds_in_the_run_that_goes_on_and_waiting_costs_nothing(
    engine: RunningEngine, controller: JobController, model: ScriptedModel
) -> None:
    far = doubt(deadline=in_(3600)).model_copy(update={"key": "far"})
    job_id, [near, later] = await submit_with_questions(engine, doubt(deadline=in_(4)), far)
    await controller.pause(job_id)
    strategy = with_settings(preset("kpi-chain").strategy, {"slots": "1"})
    await controller.resume(job_id, strategy)  # the workflow continues as a new run
    await all_worked(engine, job_id)
    asked_before = model.count

    async with asyncio.timeout(30):
        while (await question_rows.load_question(engine.db, job_id, near)).is_open:
            await asyncio.sleep(0.05)
    await controller.answer(job_id, later, "retry", "")
    job = await engine.holdfast.wait(job_id, WITHIN)

    assert job.status is JobStatus.DONE
    assert job.epoch == 2
    assert model.count == asked_before + 1  # the report
    kept = await question_rows.load_question(engine.db, job_id, near)
    assert kept.origin is AnswerOrigin.DEFAULT
    async with asyncio.timeout(30):  # Temporal lists the end of a run a moment later
        while await _run_statuses(engine, job_id) != {"COMPLETED", "CONTINUED_AS_NEW"}:
            await asyncio.sleep(0.05)


async def _run_statuses(engine: RunningEngine, job_id: str) -> set[str]:
    runs = [run async for run in engine.temporal.list_workflows(f'WorkflowId = "{job_id}"')]
    return {run.status.name for run in runs if run.status}


@pytest.mark.conformance("VMAO-16")
async def test_a_task_can_be_retried_while_a_question_is_open(
    engine: RunningEngine, controller: JobController, tools: ScriptedTools
) -> None:
    job_id, [number] = await submit_with_questions(engine, doubt(deadline=in_(3600)))
    await all_worked(engine, job_id)

    chosen = await controller.retry(job_id, ["T1"])
    async with asyncio.timeout(30):
        while len(tools.called) < 2:
            await asyncio.sleep(0.05)
    await controller.answer(job_id, number, "accept", "")
    job = await engine.holdfast.wait(job_id, WITHIN)

    assert chosen.rerun == ("T1", "T2")
    assert job.status is JobStatus.DONE
    assert {each.attempt for each in (await engine.holdfast.show(job_id)).tasks} == {2}


async def test_what_is_no_open_question_cannot_be_answered(
    engine: RunningEngine, controller: JobController
) -> None:
    job_id, [number] = await submit_with_questions(engine, doubt())

    with pytest.raises(NotFound, match="no question 999"):
        await controller.answer(job_id, 999, "accept", "")
    await controller.answer(job_id, number, "accept", "")
    with pytest.raises(BadInput, match=r"no open question|about to end|has ended|is done"):
        await controller.answer(job_id, number, "accept", "")
    assert (await engine.holdfast.wait(job_id, WITHIN)).status is JobStatus.DONE


@pytest.mark.conformance("WAVE-02")
async def test_status_shows_what_is_asked_until_when_and_how_to_answer(
    engine: RunningEngine, controller: JobController
) -> None:
    job_id, [number] = await submit_with_questions(engine, doubt(deadline=in_(3600)))
    await all_worked(engine, job_id)

    found = await status_of(engine.holdfast, job_id)
    lines = "\n".join(status_lines(found))
    await controller.cancel(job_id)

    [waits] = found.questions
    assert (waits.id, waits.task, waits.default) == (number, "T1", "accept")
    assert waits.deadline is not None
    assert f"asked:    {number} (escalation of T1) Is T1 good enough?" in lines
    assert "the default is taken: accept" in lines
    assert f"holdfast answer {job_id}" in lines


def over_budget(**more: object) -> NewQuestion:
    kind = QuestionKind.BUDGET
    return NewQuestion(key="budget", kind=kind, text="The cap is reached.", default="stop", **more)


@pytest.mark.conformance("BEY-06")
async def test_a_raised_cap_lets_the_job_go_on_under_the_new_settings(
    engine: RunningEngine, controller: JobController
) -> None:
    job_id, [number] = await submit_with_questions(engine, over_budget(), max_tokens="1000000")
    await wait_for_question(engine, job_id, QuestionKind.BUDGET)

    with pytest.raises(BadInput, match="name a higher cap"):
        await controller.answer(job_id, number, "raise", "10")
    await controller.answer(job_id, number, "raise", "2,000,000")
    job = await engine.holdfast.wait(job_id, WITHIN)

    assert job.status is JobStatus.DONE
    assert job.request.strategy.max_tokens == 2_000_000


@pytest.mark.conformance("BEY-06")
async def test_a_job_that_is_to_stop_at_its_cap_ends_without_more_work(
    engine: RunningEngine, controller: JobController, tools: ScriptedTools
) -> None:
    job_id, _ = await submit_with_questions(
        engine, over_budget(deadline=in_(1)), max_tokens="1000000"
    )

    job = await engine.holdfast.wait(job_id, WITHIN)

    assert (job.status, job.stop_reason) == (JobStatus.FAILED, StopReason.BUDGET)
    assert tools.called == []
