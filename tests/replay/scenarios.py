"""The jobs whose histories are recorded: each preset, and each thing that shapes a history."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from temporalio.client import Client

from holdfast.control import Controller
from models.questions import QuestionKind
from storage.questions import NewQuestion
from tests.engine.test_controls import delayed, entries, failing
from tests.engine.test_endings import under_way
from tests.support.asking import asked, submitted_with
from tests.support.engine import Engine
from tests.support.plans import final, plan, tool
from tests.support.players import Players
from tests.support.scripted_model import Reply
from tests.support.scripted_tools import ScriptedTools

_PECULIAR = re.compile(r'"(identity|stackTrace)": "(?:[^"\\]|\\.)*"')


@dataclass(frozen=True)
class Stage:
    """What a scenario plays on."""

    engine: Engine
    players: Players
    tools: ScriptedTools


Scenario = Callable[[Stage], Awaitable[str]]
SCENARIOS: dict[str, Scenario] = {}


def scenario(make: Scenario) -> Scenario:
    SCENARIOS[make.__name__.replace("_", "-")] = make
    return make


def _set_up(stage: Stage) -> None:
    stage.players.plan = plan(
        tool("T1", query="a"),
        tool("T2", query="b"),
        tool("T3", "T1", query="c"),
        final("T4", "T2", "T3"),
    )
    stage.tools.answers = lambda argument: f"found {argument}"


async def _replanned(stage: Stage, preset: str) -> str:
    _set_up(stage)
    stage.players.continuations = [plan(tool("T1a", query="d"), final("T4a", "T1a"))]
    failing(stage.players, 1)
    if preset == "full-horizon":
        stage.tools.answers = lambda argument: "" if argument == "a" else f"found {argument}"
    job = await stage.engine.run("Who?", preset_name=preset, slots="1")
    assert job.status == "done", job.message
    assert job.replans == 1
    return job.job_id


@scenario
async def kpi_chain(stage: Stage) -> str:
    """A task fails, and the plan is continued."""
    return await _replanned(stage, "kpi-chain")


@scenario
async def full_horizon(stage: Stage) -> str:
    """The same, where all that remains is planned anew."""
    return await _replanned(stage, "full-horizon")


@scenario
async def failed(stage: Stage) -> str:
    """The replans are used up."""
    _set_up(stage)
    failing(stage.players, 100)
    job = await stage.engine.run("Who?", max_replans_per_task="0")
    assert job.stop_reason == "replans_exhausted"
    return job.job_id


@scenario
async def paused_steered_and_resumed(stage: Stage) -> str:
    """Every kind of update that lets a job go on."""
    _set_up(stage)
    delayed("a", 1, stage.players)
    job_id = await stage.engine.submit("Who?", slots="1")
    controller = Controller(stage.engine.holdfast, "dana")
    await under_way(stage.engine, job_id, "task.started")
    await controller.pause(job_id)
    await under_way(stage.engine, job_id, "task.done")
    await controller.steer(job_id, "Look again.")
    await controller.retry(job_id, ["T1"])
    await controller.resume(job_id)
    await stage.engine.holdfast.wait(job_id)
    return job_id


@scenario
async def cancelled(stage: Stage) -> str:
    """Calls in flight are stopped."""
    _set_up(stage)
    delayed("b", 20, stage.players)
    job_id = await stage.engine.submit("Who?", slots="1")
    async with asyncio.timeout(30):
        while len(await entries(stage.engine, job_id, "task.started")) < 2:
            await asyncio.sleep(0.05)
    await Controller(stage.engine.holdfast, "dana").cancel(job_id)
    await stage.engine.holdfast.wait(job_id)
    return job_id


@scenario
async def reviewed_and_answered(stage: Stage) -> str:
    """A plan is made anew and approved, and a question is answered by its default in time."""
    _set_up(stage)
    deadline = datetime.now(UTC) + timedelta(seconds=2)
    kind = QuestionKind.ESCALATION
    doubt = NewQuestion(key="d", kind=kind, text="?", default="accept", deadline=deadline)
    job_id, _ = await submitted_with(stage.engine, doubt, review="true", slots="1")
    controller = Controller(stage.engine.holdfast, "dana")
    first = await asked(stage.engine, job_id, QuestionKind.APPROVAL)
    await controller.answer(job_id, first.id, "revise", "Otherwise.")
    second = await asked(stage.engine, job_id, QuestionKind.APPROVAL, after=first.id)
    await controller.answer(job_id, second.id, "approve", "")
    job = await stage.engine.holdfast.wait(job_id)
    assert job.status == "done", job.message
    return job_id


@scenario
async def out_of_quota(stage: Stage) -> str:
    """The job pauses by itself, and a person lets it go on."""
    _set_up(stage)
    stage.players.parts["planner"] = lambda _: Reply(status=402, error={"message": "pay"})
    job_id = await stage.engine.submit("Who?")
    await under_way(stage.engine, job_id, "job.paused")
    del stage.players.parts["planner"]
    await Controller(stage.engine.holdfast, "dana").resume(job_id)
    await stage.engine.holdfast.wait(job_id)
    return job_id


async def histories_of(temporal: Client, job_id: str) -> str:
    """Every run of the job, oldest first, as JSON without what is peculiar to this machine."""
    runs = []
    async for run in temporal.list_workflows(f'WorkflowId = "{job_id}"'):
        handle = temporal.get_workflow_handle(job_id, run_id=run.run_id)
        await handle.result(follow_runs=True)
        history = await handle.fetch_history()
        runs.append((run.start_time, json.loads(history.to_json())))
    runs.sort(key=lambda each: each[0])
    text = json.dumps([history for _, history in runs], indent=1)
    return _PECULIAR.sub(r'"\1": "left out"', text) + "\n"
