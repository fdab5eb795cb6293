"""Questions of a running job: answered by people, or by their default once the deadline passes."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from holdfast.cli.status_lines import status_lines
from holdfast.control import Controller
from holdfast.status import status_of
from models.errors import BadInput, NotFound
from models.jobs import JobStatus, StopReason
from models.plan import TaskStatus
from models.questions import Origin, QuestionKind
from planning.presets import preset, with_settings
from storage import control, jobs, plans, questions
from storage.questions import NewQuestion
from tests.engine.test_controls import entries
from tests.support.asking import asked, submitted_with
from tests.support.engine import Engine
from tests.support.plans import final, plan, tool
from tests.support.players import Players
from tests.support.scripted_model import ScriptedModel
from tests.support.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

WITHIN = timedelta(seconds=30)


@pytest.fixture
def controller(engine: Engine) -> Controller:
    return Controller(engine.holdfast, "dana")


@pytest.fixture(autouse=True)
def _two_tasks(players: Players, tools: ScriptedTools) -> None:
    players.plan = plan(tool("T1", query="a"), final("T2", "T1"))
    tools.answers = lambda argument: f"found {argument}"


def doubt(**more: object) -> NewQuestion:
    kind = QuestionKind.ESCALATION
    return NewQuestion(
        key="doubt", kind=kind, task_id="T1", text="Is T1 good enough?", default="accept", **more
    )


def in_(seconds: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)


async def all_worked(engine: Engine, job_id: str) -> None:
    async with asyncio.timeout(30):
        while {t.status for t in (await plans.load_plan(engine.db, job_id)).tasks} != {
            TaskStatus.DONE
        }:
            await asyncio.sleep(0.05)


@pytest.mark.conformance("VMAO-16")
async def test_other_work_goes_on_and_the_answer_is_heeded_by_planning(
    engine: Engine, controller: Controller, model: ScriptedModel
) -> None:
    job_id, [number] = await submitted_with(engine, doubt())
    await all_worked(engine, job_id)
    asked_before = model.count
    waiting = (await jobs.load(engine.db, job_id)).status

    await controller.answer(job_id, number, "", "Ask the lighthouse keeper.")
    job = await engine.holdfast.wait(job_id, WITHIN)

    assert waiting is JobStatus.RUNNING
    assert job.status is JobStatus.DONE
    assert model.count == asked_before + 1  # the report
    [kept] = await questions.questions_of(engine.db, job_id)
    assert (kept.answer, kept.origin) == ("Ask the lighthouse keeper.", Origin.USER)
    assert await control.guidance_of(engine.db, job_id) == ("T1: Ask the lighthouse keeper.",)
    history = await engine.temporal.get_workflow_handle(job_id).fetch_history()
    assert "lighthouse" not in history.to_json()


@pytest.mark.conformance("VMAO-16")
async def test_what_nobody_answers_in_time_is_answered_by_its_default(engine: Engine) -> None:
    job_id, [number] = await submitted_with(engine, doubt(deadline=in_(1)))

    job = await engine.holdfast.wait(job_id, WITHIN)

    assert job.status is JobStatus.DONE
    kept = await questions.load(engine.db, job_id, number)
    assert (kept.answer, kept.origin, kept.answered_by) == ("accept", Origin.DEFAULT, "holdfast")
    [note] = await entries(engine, job_id, "question.answered")
    assert note.facts["origin"] == "default"


@pytest.mark.conformance("VMAO-16")
async def test_a_deadline_holds_in_the_run_that_goes_on_and_waiting_costs_nothing(
    engine: Engine, controller: Controller, model: ScriptedModel
) -> None:
    far = doubt(deadline=in_(3600)).model_copy(update={"key": "far"})
    job_id, [near, later] = await submitted_with(engine, doubt(deadline=in_(4)), far)
    await controller.pause(job_id)
    strategy = with_settings(preset("kpi-chain").strategy, {"slots": "1"})
    await controller.resume(job_id, strategy)  # the workflow continues as a new run
    await all_worked(engine, job_id)
    asked_before = model.count

    async with asyncio.timeout(30):
        while (await questions.load(engine.db, job_id, near)).is_open:
            await asyncio.sleep(0.05)
    await controller.answer(job_id, later, "retry", "")
    job = await engine.holdfast.wait(job_id, WITHIN)

    assert job.status is JobStatus.DONE
    assert job.epoch == 2
    assert model.count == asked_before + 1  # the report
    kept = await questions.load(engine.db, job_id, near)
    assert kept.origin is Origin.DEFAULT
    runs = [run async for run in engine.temporal.list_workflows(f'WorkflowId = "{job_id}"')]
    assert {run.status.name for run in runs if run.status} == {"COMPLETED", "CONTINUED_AS_NEW"}


@pytest.mark.conformance("VMAO-16")
async def test_a_task_can_be_retried_while_a_question_is_open(
    engine: Engine, controller: Controller, tools: ScriptedTools
) -> None:
    job_id, [number] = await submitted_with(engine, doubt(deadline=in_(3600)))
    await all_worked(engine, job_id)

    chosen = await controller.retry(job_id, ["T1"])
    async with asyncio.timeout(30):
        while len(tools.called) < 2:
            await asyncio.sleep(0.05)
    await controller.answer(job_id, number, "accept", "")
    job = await engine.holdfast.wait(job_id, WITHIN)

    assert chosen.again == ("T1", "T2")
    assert job.status is JobStatus.DONE
    assert {each.attempt for each in (await engine.holdfast.show(job_id)).tasks} == {2}


async def test_what_is_no_open_question_cannot_be_answered(
    engine: Engine, controller: Controller
) -> None:
    job_id, [number] = await submitted_with(engine, doubt())

    with pytest.raises(NotFound, match="no question 999"):
        await controller.answer(job_id, 999, "accept", "")
    await controller.answer(job_id, number, "accept", "")
    with pytest.raises(BadInput, match=r"no open question|about to end|has ended|is done"):
        await controller.answer(job_id, number, "accept", "")
    assert (await engine.holdfast.wait(job_id, WITHIN)).status is JobStatus.DONE


@pytest.mark.conformance("WAVE-02")
async def test_status_shows_what_is_asked_until_when_and_how_to_answer(
    engine: Engine, controller: Controller
) -> None:
    job_id, [number] = await submitted_with(engine, doubt(deadline=in_(3600)))
    await all_worked(engine, job_id)

    found = await status_of(engine.holdfast, job_id)
    lines = "\n".join(status_lines(found))
    await controller.cancel(job_id)

    [waits] = found.questions
    assert (waits.id, waits.task, waits.default) == (number, "T1", "accept")
    assert waits.deadline is not None
    assert f"asked:    {number} (escalation of T1) Is T1 good enough?" in lines
    assert "it is answered: accept" in lines
    assert f"holdfast answer {job_id}" in lines


def over_budget(**more: object) -> NewQuestion:
    kind = QuestionKind.BUDGET
    return NewQuestion(key="budget", kind=kind, text="The cap is reached.", default="stop", **more)


@pytest.mark.conformance("BEY-06")
async def test_a_raised_cap_lets_the_job_go_on_under_the_new_settings(
    engine: Engine, controller: Controller
) -> None:
    job_id, [number] = await submitted_with(engine, over_budget(), max_tokens="1000000")
    await asked(engine, job_id, QuestionKind.BUDGET)

    with pytest.raises(BadInput, match="name a higher cap"):
        await controller.answer(job_id, number, "raise", "10")
    await controller.answer(job_id, number, "raise", "2,000,000")
    job = await engine.holdfast.wait(job_id, WITHIN)

    assert job.status is JobStatus.DONE
    assert job.request.strategy.max_tokens == 2_000_000


@pytest.mark.conformance("BEY-06")
async def test_a_job_that_is_to_stop_at_its_cap_ends_without_more_work(
    engine: Engine, controller: Controller, tools: ScriptedTools
) -> None:
    job_id, _ = await submitted_with(engine, over_budget(deadline=in_(1)), max_tokens="1000000")

    job = await engine.holdfast.wait(job_id, WITHIN)

    assert (job.status, job.stop_reason) == (JobStatus.FAILED, StopReason.BUDGET)
    assert tools.called == []
