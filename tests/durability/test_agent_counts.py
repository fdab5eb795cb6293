"""Tests that the counts of agents continue after a crash, after a question, and when a task runs
again."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, update

from holdfast.jobs.job_controller import JobController
from holdfast.models.plans.research_plan import TaskStatus
from holdfast.planning.scheduler.agent_scheduling import reached_agent_limit, steps_taken
from holdfast.storage.core.tables.plan_tables import tasks
from holdfast.storage.jobs import job_control_rows
from holdfast.storage.plans import task_queries
from holdfast.storage.questions import question_rows
from tests.durability.job_driver import JobDriver, run_once
from tests.durability.test_rebuilt_state import drive_to_end, search_call, stored_state
from tests.support.endpoints.scripted_model import ReceivedRequest
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import agent_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.long_parameters import only_long
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow


@pytest.fixture
def idle(scripted_engine: RunningEngine) -> RunningEngine:
    return scripted_engine


@pytest.fixture(autouse=True)
def _one_agent(players: ScriptedRoles, tools: ScriptedTools) -> None:
    players.plan = plan(agent_task("T1", about="Who?", yields="final_answer"))
    tools.answers = lambda argument: f"[{argument}]"


def calls_until(players: ScriptedRoles, most: int) -> None:
    """Have each agent make so many calls, then hand on what the last one found."""

    def step(asked: ReceivedRequest) -> object:
        trace = asked.task["trace"]
        if len(trace) < most and not asked.task["must_end"]:
            return {"calls": [search_call(f"{asked.task['node']} q{len(asked.task['used_ids'])}")]}
        found = trace[-1]["found"] or {"": trace[-1]["failure"]}
        (value,) = found.values()
        return {"outputs": [{"name": e["name"], "value": value} for e in asked.task["expects"]]}

    players.parts["stepper"] = step


async def run_again(drive: JobDriver, *names: str) -> None:
    """As `holdfast retry` does, and a new run reads it."""
    async with drive.engine.db.job(drive.job_id) as write:
        await job_control_rows.record_rerun(write, names, names, "dana")
    drive.ending = None
    await drive.begin()


async def worked(idle: RunningEngine, **settings: str) -> JobDriver:
    """A job of one agent that has come to its result; its report is not written yet."""
    drive = await JobDriver.submitted(idle, "vmao", "Who?", verify="false", **settings)
    while not drive.state.tasks or drive.state.tasks["T1"].status is not TaskStatus.DONE:
        await drive.step(run_once)
    return drive


@pytest.mark.conformance("VMAO-04", "BEY-03")
@pytest.mark.long
async def test_a_call_of_an_agent_that_runs_again_is_counted_once(
    idle: RunningEngine, players: ScriptedRoles
) -> None:
    calls_until(players, 2)
    drive = await worked(idle)
    before = (await stored_state(drive)).tool_calls

    await run_again(drive, "T1")
    again = drive.state.tool_calls
    await drive_to_end(drive)

    assert (before, again) == (2, 2)
    assert drive.state.tool_calls == 4
    assert {t.attempt for t in (await task_queries.load_tasks(idle.db, drive.job_id))[3:]} == {2}


@pytest.mark.conformance("VMAO-04")
async def test_an_agent_that_runs_again_has_its_whole_time_again(
    idle: RunningEngine, players: ScriptedRoles
) -> None:
    calls_until(players, 1)
    drive = await worked(idle, agent_timeout="PT60S")
    async with idle.db.writing() as connection:
        await connection.execute(
            update(tasks)
            .where(tasks.c.job_id == drive.job_id, tasks.c.id == "T1.1")
            .values(worked_s=90.0)
        )
    used_up = reached_agent_limit(
        (await stored_state(drive)).tasks["T1"], await stored_state(drive)
    )

    await run_again(drive, "T1")

    assert "agent_timeout" in used_up
    assert reached_agent_limit(drive.state.tasks["T1"], drive.state) == ""


@pytest.mark.conformance("VMAO-04")
@pytest.mark.long
async def test_calls_in_a_row_begin_anew_with_another_attempt(
    idle: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    calls_until(players, 2)
    drive = await worked(idle, max_consecutive_calls="2")

    await run_again(drive, "T1")
    await drive_to_end(drive)

    assert len(tools.called) == 4
    failures = [each.failure for each in await task_queries.load_tasks(idle.db, drive.job_id)]
    assert failures == [None] * 5


@pytest.mark.conformance("TDP-07", "VMAO-04", "BEY-03")
@pytest.mark.parametrize(
    ("settings", "made", "stop"),
    [
        only_long({"max_agent_steps": "3"}, 3, "answered"),
        ({"max_agent_calls": "2"}, 2, "answered"),
        ({"max_steps": "3"}, 3, "step_limit"),
        only_long({"max_consecutive_calls": "2"}, 2, "answered"),
        ({"max_tool_calls": "3"}, 3, "tool_call_limit"),
    ],
)
async def test_limits_of_agents_hold_though_the_workflow_is_lost_after_every_step(
    idle: RunningEngine,
    players: ScriptedRoles,
    tools: ScriptedTools,
    settings: dict[str, str],
    made: int,
    stop: str,
) -> None:
    usual = {"max_agent_steps": "5", "verify": "false"}
    calls_until(players, 3 if "max_consecutive_calls" in settings else 9)

    drive = await JobDriver.submitted(idle, "vmao", "Who?", **(usual | settings))
    await drive_to_end(drive, is_lost=True)

    assert drive.ending is not None
    assert drive.ending.reason.value == stop
    assert len(tools.called) == made
    assert drive.runs > made
    assert steps_taken(await stored_state(drive)) >= made


@pytest.mark.conformance("WAVE-05", "BEY-03")
@pytest.mark.parametrize("is_lost", [False, True])
@pytest.mark.long
async def test_an_agent_that_waits_for_a_task_that_fails_goes_on(
    idle: RunningEngine, players: ScriptedRoles, is_lost: bool
) -> None:
    usual = players._stepper

    def step(asked: ReceivedRequest) -> object:
        if asked.task["node"] == "Q1":
            return {"give_up": "nobody knows"}
        if asked.task["must_end"]:
            return {"give_up": asked.task["must_end"]}
        if not asked.task["answers"]:
            return {"question": "Which one?", "default": "the first"}
        return usual(asked)

    players.parts["stepper"] = step
    settings = {"verify": "false", "max_routings": "1", "questions": "false"}
    drive = await JobDriver.submitted(idle, "vmao", "Who?", **settings)
    await drive_to_end(drive, is_lost=is_lost)

    statuses = {name: task.status.value for name, task in drive.state.tasks.items()}
    assert statuses == {"T1": "done", "Q1": "failed", "T1.1": "done"}
    [answer] = await question_rows.answers_to_task(idle.db, drive.job_id, "T1")
    assert answer.answer == "the first"


@pytest.mark.conformance("WAVE-05")
@pytest.mark.long
async def test_an_agent_that_waits_for_a_task_that_cannot_run_is_told_to_conclude(
    idle: RunningEngine, players: ScriptedRoles
) -> None:
    players.plan = plan(
        agent_task("T1", about="Find the story"),
        agent_task("T2", about="the height of the tower"),
        agent_task("T9", "T1", "T2", yields="final_answer"),
    )
    drive = await JobDriver.submitted(idle, "vmao", "Who?", verify="false")
    while not drive.state.has_plan:
        await drive.step(run_once)
    asked = {"question": "What is the height of the tower?", "default": "none"}
    told: list[str] = []

    def step(asking: ReceivedRequest) -> object:
        told.append(asking.task["must_end"])
        return {"give_up": "then not"} if asking.task["must_end"] else asked

    players.parts["stepper"] = step
    async with idle.db.writing() as connection:
        await connection.execute(
            update(tasks)
            .where(tasks.c.job_id == drive.job_id, tasks.c.id == "T2")
            .values(depends_on=["T8"])
        )
    await drive.begin()
    await drive_to_end(drive)

    assert [bool(each) for each in told] == [False, True]
    assert "T2, which was to answer its question, cannot run" in told[-1]


@pytest.mark.conformance("VMAO-16", "BEY-03")
@pytest.mark.long
async def test_an_agents_question_outlives_its_workflow_and_the_answer_reaches_it(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    usual = players._stepper

    def step(asked: ReceivedRequest) -> object:
        if not asked.task["user_answers"]:
            return {"question": "Which one?", "default": "the first"}
        return usual(asked)

    players.parts["stepper"] = step
    job_id = await engine.submit("Who?", preset_name="vmao", verify="false", max_routings="0")
    async with asyncio.timeout(60):
        while not (asked := await question_rows.open_questions(engine.db, job_id)):
            await asyncio.sleep(0.05)
    controller = JobController(engine.holdfast, "dana")
    await controller.pause(job_id)
    await engine.temporal.get_workflow_handle(job_id).terminate("lost")
    await controller.resume(job_id)  # a new workflow reads it all
    await controller.answer(job_id, asked[0].id, "", "The second.")
    job = await engine.holdfast.wait(job_id, timedelta(seconds=60))

    assert job.status.value == "done"
    assert job.epoch > 1
    assert players.asked["stepper"][-1].task["user_answers"][0]["answer"] == "The second."
    assert asked[0].deadline is not None
    assert asked[0].deadline > datetime.now(UTC)
    query = select(tasks.c.id).where(tasks.c.job_id == job_id, tasks.c.parent == "T1")
    async with engine.db.reading() as connection:
        assert list((await connection.execute(query)).scalars()) == ["T1.1"]
