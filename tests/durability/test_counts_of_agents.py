"""What is counted of agents is counted on: after a crash, a question, and when run again."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, update

from holdfast.control import Controller
from models.plan import TaskStatus
from models.tables import tasks
from planning.nodes import limit_of, steps_taken
from storage import control, plans, questions
from tests.durability.driving import Drive, once
from tests.durability.test_rebuilt import call, stored, to_the_end
from tests.support.engine import Engine
from tests.support.plans import node, plan
from tests.support.players import Players
from tests.support.scripted_model import Asked
from tests.support.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow


@pytest.fixture
def idle(scripted_engine: Engine) -> Engine:
    return scripted_engine


@pytest.fixture(autouse=True)
def _one_agent(players: Players, tools: ScriptedTools) -> None:
    players.plan = plan(node("T1", about="Who?", yields="final_answer"))
    tools.answers = lambda argument: f"[{argument}]"


def calls_until(players: Players, most: int) -> None:
    """Have each agent make so many calls, then hand on what the last one found."""

    def step(asked: Asked) -> object:
        trace = asked.task["trace"]
        if len(trace) < most and not asked.task["must_end"]:
            return {"calls": [call(f"{asked.task['node']} q{len(asked.task['used_ids'])}")]}
        found = trace[-1]["found"] or {"": trace[-1]["failure"]}
        (value,) = found.values()
        return {"outputs": [{"name": e["name"], "value": value} for e in asked.task["expects"]]}

    players.parts["stepper"] = step


async def run_again(drive: Drive, *names: str) -> None:
    """As `holdfast retry` does, and a new run reads it."""
    async with drive.engine.db.job(drive.job_id) as write:
        await control.retry(write, names, names, "dana")
    drive.ending = None
    await drive.begin()


async def worked(idle: Engine, **settings: str) -> Drive:
    """A job of one agent that has come to its result; its report is not written yet."""
    drive = await Drive.submitted(idle, "vmao", "Who?", verify="false", **settings)
    while not drive.state.tasks or drive.state.tasks["T1"].status is not TaskStatus.DONE:
        await drive.step(once)
    return drive


@pytest.mark.conformance("VMAO-04", "BEY-03")
async def test_a_call_of_an_agent_that_runs_again_is_counted_once(
    idle: Engine, players: Players
) -> None:
    calls_until(players, 2)
    drive = await worked(idle)
    before = (await stored(drive)).tool_calls

    await run_again(drive, "T1")
    again = drive.state.tool_calls
    await to_the_end(drive)

    assert (before, again) == (2, 2)
    assert drive.state.tool_calls == 4
    assert {t.attempt for t in (await plans.load_tasks(idle.db, drive.job_id))[3:]} == {2}


@pytest.mark.conformance("VMAO-04")
async def test_an_agent_that_runs_again_has_its_whole_time_again(
    idle: Engine, players: Players
) -> None:
    calls_until(players, 1)
    drive = await worked(idle, agent_timeout="PT60S")
    async with idle.db.writing() as connection:
        await connection.execute(
            update(tasks)
            .where(tasks.c.job_id == drive.job_id, tasks.c.id == "T1.1")
            .values(finished_at=tasks.c.started_at + timedelta(seconds=90))
        )
    used_up = limit_of((await stored(drive)).tasks["T1"], await stored(drive))

    await run_again(drive, "T1")

    assert "agent_timeout" in used_up
    assert limit_of(drive.state.tasks["T1"], drive.state) == ""


@pytest.mark.conformance("VMAO-04")
async def test_calls_in_a_row_begin_anew_with_another_attempt(
    idle: Engine, players: Players, tools: ScriptedTools
) -> None:
    calls_until(players, 2)
    drive = await worked(idle, max_consecutive_calls="2")

    await run_again(drive, "T1")
    await to_the_end(drive)

    assert len(tools.called) == 4
    failures = [each.failure for each in await plans.load_tasks(idle.db, drive.job_id)]
    assert failures == [None] * 5


@pytest.mark.conformance("TDP-07", "VMAO-04", "BEY-03")
@pytest.mark.parametrize(
    ("settings", "made", "stop"),
    [
        ({"max_node_steps": "3"}, 3, "answered"),
        ({"max_agent_calls": "2"}, 2, "answered"),
        ({"max_steps": "3"}, 3, "step_limit"),
        ({"max_consecutive_calls": "2"}, 2, "answered"),
        ({"max_tool_calls": "3"}, 3, "tool_call_limit"),
    ],
)
async def test_limits_of_agents_hold_though_the_workflow_is_lost_after_every_step(
    idle: Engine, players: Players, tools: ScriptedTools, settings: dict[str, str], made: int,
    stop: str,
) -> None:  # fmt: skip
    usual = {"max_node_steps": "5", "verify": "false"}
    calls_until(players, 3 if "max_consecutive_calls" in settings else 9)

    drive = await Drive.submitted(idle, "vmao", "Who?", **(usual | settings))
    await to_the_end(drive, is_lost=True)

    assert drive.ending is not None
    assert drive.ending.reason.value == stop
    assert len(tools.called) == made
    assert drive.runs > made
    assert steps_taken(await stored(drive)) >= made


@pytest.mark.conformance("WAVE-05", "BEY-03")
@pytest.mark.parametrize("is_lost", [False, True])
async def test_an_agent_that_waits_for_a_task_that_fails_goes_on(
    idle: Engine, players: Players, is_lost: bool
) -> None:
    usual = players._stepper

    def step(asked: Asked) -> object:
        if asked.task["node"] == "Q1":
            return {"give_up": "nobody knows"}
        if asked.task["must_end"]:
            return {"give_up": asked.task["must_end"]}
        if not asked.task["answers"]:
            return {"question": "Which one?", "default": "the first"}
        return usual(asked)

    players.parts["stepper"] = step
    settings = {"verify": "false", "max_routings": "1", "questions": "false"}
    drive = await Drive.submitted(idle, "vmao", "Who?", **settings)
    await to_the_end(drive, is_lost=is_lost)

    statuses = {name: task.status.value for name, task in drive.state.tasks.items()}
    assert statuses == {"T1": "done", "Q1": "failed", "T1.1": "done"}
    [answer] = await questions.answers_of(idle.db, drive.job_id, "T1")
    assert answer.answer == "the first"


@pytest.mark.conformance("WAVE-05")
async def test_an_agent_that_waits_for_a_task_that_cannot_run_is_told_to_conclude(
    idle: Engine, players: Players
) -> None:
    players.plan = plan(
        node("T1", about="Find the story"),
        node("T2", about="the height of the tower"),
        node("T9", "T1", "T2", yields="final_answer"),
    )
    drive = await Drive.submitted(idle, "vmao", "Who?", verify="false")
    while not drive.state.has_plan:
        await drive.step(once)
    asked = {"question": "What is the height of the tower?", "default": "none"}
    told: list[str] = []

    def step(asking: Asked) -> object:
        told.append(asking.task["must_end"])
        return {"give_up": "then not"} if asking.task["must_end"] else asked

    players.parts["stepper"] = step
    async with idle.db.writing() as connection:
        await connection.execute(
            update(tasks).where(tasks.c.job_id == drive.job_id, tasks.c.id == "T2")
            .values(depends_on=["T8"])
        )  # fmt: skip
    await drive.begin()
    await to_the_end(drive)

    assert [bool(each) for each in told] == [False, True]
    assert "T2, which was to answer its question, cannot run" in told[-1]


@pytest.mark.conformance("VMAO-16", "BEY-03")
async def test_an_agents_question_outlives_its_workflow_and_the_answer_reaches_it(
    engine: Engine, players: Players
) -> None:
    usual = players._stepper

    def step(asked: Asked) -> object:
        if not asked.task["answers"]:
            return {"question": "Which one?", "default": "the first"}
        return usual(asked)

    players.parts["stepper"] = step
    job_id = await engine.submit("Who?", preset_name="vmao", verify="false", max_routings="0")
    async with asyncio.timeout(60):
        while not (asked := await questions.open_questions(engine.db, job_id)):
            await asyncio.sleep(0.05)
    controller = Controller(engine.holdfast, "dana")
    await controller.pause(job_id)
    await engine.temporal.get_workflow_handle(job_id).terminate("lost")
    await controller.resume(job_id)  # a new workflow reads it all
    await controller.answer(job_id, asked[0].id, "", "The second.")
    job = await engine.holdfast.wait(job_id, timedelta(seconds=60))

    assert job.status.value == "done"
    assert job.epoch > 1
    assert players.asked["stepper"][-1].task["answers"][0]["answer"] == "The second."
    assert asked[0].deadline is not None
    assert asked[0].deadline > datetime.now(UTC)
    query = select(tasks.c.id).where(tasks.c.job_id == job_id, tasks.c.parent == "T1")
    async with engine.db.reading() as connection:
        assert list((await connection.execute(query)).scalars()) == ["T1.1"]
