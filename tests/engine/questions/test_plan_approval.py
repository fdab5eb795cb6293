"""Tests for a plan that waits for a person: approved, refused, edited, or made again."""

from datetime import timedelta

import pytest

from holdfast.cli.commands.jobs.plan_editor import plan_to_yaml
from holdfast.jobs.current_status import status_of
from holdfast.jobs.job_controller import JobController
from holdfast.models.errors import BadInput
from holdfast.models.jobs.job_record import JobStatus, StopReason
from holdfast.models.plans.research_plan import TaskStatus
from holdfast.models.questions.user_questions import AnswerOrigin, QuestionKind
from holdfast.roles.planning.planner import PLANNER
from holdfast.storage.jobs.job_estimates import load_estimate
from holdfast.storage.plans import plan_change_rows, task_queries
from holdfast.storage.questions import question_rows
from tests.engine.control.test_job_controls import events_of_kind, wait_for_status
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import (
    agent_task,
    final_task,
    lookup_task,
    plan,
    result_reference,
)
from tests.support.jobs.question_jobs import wait_for_question
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.conformance("WAVE-02")]

APPROVAL = QuestionKind.APPROVAL
THREE = plan(
    lookup_task("T1", query="a"),
    lookup_task("T2", "T1", query=f"b of {result_reference('T1')}"),
    final_task("T3", "T2"),
)
WITHIN = timedelta(seconds=30)


@pytest.fixture
def controller(engine: RunningEngine) -> JobController:
    return JobController(engine.holdfast, "dana")


@pytest.fixture(autouse=True)
def _three_tasks(players: ScriptedRoles, tools: ScriptedTools) -> None:
    players.plan = THREE
    tools.answers = lambda argument: f"found {argument}"


async def test_nothing_runs_before_the_plan_is_approved(
    engine: RunningEngine, controller: JobController, tools: ScriptedTools
) -> None:
    job_id = await engine.submit("Who?", review="true")
    question = await wait_for_question(engine, job_id, APPROVAL)
    stored = await task_queries.load_plan(engine.db, job_id)
    waits = await status_of(engine.holdfast, job_id)

    with pytest.raises(BadInput, match="answer with `approve`"):
        await controller.answer(job_id, question.id, "", "well")
    with pytest.raises(BadInput, match="needs words"):
        await controller.answer(job_id, question.id, "revise", "")
    called_before = len(tools.called)
    await controller.answer(job_id, question.id, "approve", "")
    job = await engine.holdfast.wait(job_id, WITHIN)

    assert question.deadline is None
    [reason] = waits.blocked_by
    assert reason.startswith(f"the job waits for an answer; give it with `holdfast answer {job_id}")
    assert {task.status for task in stored.tasks} == {TaskStatus.PENDING}
    assert called_before == 0
    assert job.status is JobStatus.DONE
    assert len(tools.called) == 2
    [kept] = await question_rows.questions_of(engine.db, job_id)
    assert (kept.answer, kept.origin, kept.answered_by) == ("approve", AnswerOrigin.USER, "dana")


async def test_a_refused_plan_ends_the_job_and_resuming_asks_again(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    job_id = await engine.submit("Who?", review="true")
    question = await wait_for_question(engine, job_id, APPROVAL)

    await controller.answer(job_id, question.id, "refuse", "Too dear.")
    refused = await engine.holdfast.wait(job_id, WITHIN)
    await controller.resume(job_id)
    again = await wait_for_question(engine, job_id, APPROVAL)
    called_before = len(tools.called)
    await controller.answer(job_id, again.id, "approve", "")
    job = await engine.holdfast.wait(job_id, WITHIN)

    assert (refused.status, refused.stop_reason) == (JobStatus.CANCELLED, StopReason.PLAN_REFUSED)
    assert refused.message == "Too dear."
    assert (again.id, called_before) == (question.id, 0)
    assert job.status is JobStatus.DONE
    assert players.count(PLANNER) == 1


@pytest.mark.long
async def test_another_plan_is_made_with_what_somebody_said_and_asked_about_anew(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles
) -> None:
    job_id = await engine.submit("Who?", review="true")
    first = await wait_for_question(engine, job_id, APPROVAL)

    await controller.answer(job_id, first.id, "revise", "Look at the lighthouse's records.")
    second = await wait_for_question(engine, job_id, APPROVAL, after=first.id)
    await controller.answer(job_id, second.id, "approve", "")
    job = await engine.holdfast.wait(job_id, WITHIN)

    assert job.status is JobStatus.DONE
    told = [task["guidance"] for task in players.tasks(PLANNER)]
    assert told == [[], ["Look at the lighthouse's records."]]
    statuses = {t.id: t.status for t in (await task_queries.load_plan(engine.db, job_id)).tasks}
    assert statuses == {
        **dict.fromkeys(("T1", "T2", "T3"), TaskStatus.SUPERSEDED),
        **dict.fromkeys(("T1a", "T2a", "T3a"), TaskStatus.DONE),
    }
    causes = [each.cause for each in await plan_change_rows.load_plan_changes(engine.db, job_id)]
    assert causes == ["planned", "set_aside", "planned"]
    history = await engine.temporal.get_workflow_handle(job_id).fetch_history()
    assert "lighthouse" not in history.to_json()


async def test_a_faulty_edit_names_every_fault_and_changes_nothing(
    engine: RunningEngine, controller: JobController
) -> None:
    job_id = await engine.submit("Who?", review="true")
    question = await wait_for_question(engine, job_id, APPROVAL)
    text = plan_to_yaml(THREE).replace("lab.wikipedia_search", "lab.teleport")

    with pytest.raises(BadInput) as caught:
        await controller.answer(job_id, question.id, "edit", text)
    with pytest.raises(BadInput, match="neither YAML nor JSON"):
        await controller.answer(job_id, question.id, "edit", "tasks: [")

    for name in ("T1", "T2"):
        assert f"task {name!r}: unknown tool 'lab.teleport'" in str(caught.value)
    assert (await wait_for_question(engine, job_id, APPROVAL)).id == question.id
    assert (await task_queries.load_plan(engine.db, job_id)).tasks == THREE.tasks
    assert len(await plan_change_rows.load_plan_changes(engine.db, job_id)) == 1


async def test_an_edited_plan_is_a_revision_of_its_own_and_is_worked(
    engine: RunningEngine, controller: JobController, tools: ScriptedTools
) -> None:
    job_id = await engine.submit("Who?", review="true")
    question = await wait_for_question(engine, job_id, APPROVAL)
    wanted = plan(
        lookup_task("T1", query="another"),
        lookup_task("T4", query="new"),
        lookup_task("T5", query="newer"),
        final_task("T3", "T1", "T4", "T5"),
    )

    before = await load_estimate(engine.db, job_id)
    await controller.answer(job_id, question.id, "edit", plan_to_yaml(wanted))
    job = await engine.holdfast.wait(job_id, WITHIN)
    after = await load_estimate(engine.db, job_id)

    assert job.status is JobStatus.DONE
    assert sorted(argument for _, argument in tools.called) == ["another", "new", "newer"]
    assert before is not None
    assert after is not None
    assert (before.estimate.tool_calls, after.estimate.tool_calls) == (2, 3)
    assert before.at < after.at
    first, second = await plan_change_rows.load_plan_changes(engine.db, job_id)
    assert (first.cause, second.cause) == ("planned", "edited")
    assert (second.added, second.superseded) == (("T4", "T5"), ("T2",))
    assert {(each.task, each.field) for each in second.changed} == {
        ("T1", "inputs"),
        ("T3", "inputs"),
        ("T3", "depends_on"),
    }
    [stored] = await events_of_kind(engine, job_id, "question.answered")
    [revised] = await events_of_kind(engine, job_id, "plan.changed")
    assert stored.at == revised.at  # one transaction


@pytest.mark.parametrize("preset_name", ["tdp", "research"])
async def test_a_plan_of_sub_questions_is_edited_and_worked(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles, preset_name: str
) -> None:
    """Agents stand in the places of tools, and a verified plan has no last task."""
    ends = {"yields": "final_answer"} if preset_name == "tdp" else {}
    players.plan = plan(agent_task("T1"), agent_task("T2", "T1", **ends))
    job_id = await engine.submit("Who?", preset_name=preset_name, servers=("lab",), review="true")
    question = await wait_for_question(engine, job_id, APPROVAL)
    stored = (await task_queries.load_plan(engine.db, job_id)).of("")
    planned = [task for task in stored.tasks if not task.is_opening]
    wanted = plan(*planned[:1], agent_task("T3", "T1", about="who kept it", **ends))

    stranger = plan_to_yaml(wanted).replace("generalist", "no-such-agent")
    with pytest.raises(BadInput, match="no-such-agent"):
        await controller.answer(job_id, question.id, "edit", stranger)
    await controller.answer(job_id, question.id, "edit", plan_to_yaml(wanted))
    job = await engine.holdfast.wait(job_id, WITHIN)

    assert job.status is JobStatus.DONE
    tasks = (await task_queries.load_plan(engine.db, job_id)).of("").tasks
    statuses = {t.id: t.status for t in tasks if not t.is_opening}
    assert statuses == {
        "T1": TaskStatus.DONE,
        "T2": TaskStatus.SUPERSEDED,
        "T3": TaskStatus.DONE,
    }


async def test_a_cancelled_job_withdraws_its_question_and_asks_it_again_when_resumed(
    engine: RunningEngine, controller: JobController, tools: ScriptedTools
) -> None:
    job_id = await engine.submit("Who?", review="true")
    question = await wait_for_question(engine, job_id, APPROVAL)

    await controller.pause(job_id)
    await controller.cancel(job_id)
    await wait_for_status(engine, job_id, JobStatus.CANCELLED)
    withdrawn = await question_rows.open_questions(engine.db, job_id)
    await controller.resume(job_id)
    again = await wait_for_question(engine, job_id, APPROVAL)
    called_before = len(tools.called)
    await controller.answer(job_id, again.id, "approve", "")
    job = await engine.holdfast.wait(job_id, WITHIN)

    assert withdrawn == []
    assert (again.id, called_before) == (question.id, 0)
    assert job.status is JobStatus.DONE


async def test_a_plan_that_is_only_made_is_not_asked_about(engine: RunningEngine) -> None:
    job = await engine.run("Who?", review="true", plan_only="true")

    assert job.stop_reason == "planned"
    assert await question_rows.questions_of(engine.db, job.job_id) == []
