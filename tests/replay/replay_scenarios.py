"""The jobs whose histories are recorded: one for each preset and for each event that shapes a
history."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from temporalio.client import Client, WorkflowFailureError

from holdfast.jobs.job_controller import JobController
from holdfast.models.questions.user_questions import QuestionKind
from holdfast.storage.questions.question_rows import NewQuestion
from tests.engine.control.test_job_controls import (
    delay_extraction,
    events_of_kind,
    fail_extractions,
)
from tests.engine.control.test_job_endings import wait_for_event
from tests.support.endpoints.loop_script import answer, search, sentence
from tests.support.endpoints.scripted_model import ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles, verifier_answer
from tests.support.jobs.plan_builders import agent_task, final_task, lookup_task, plan
from tests.support.jobs.question_jobs import submit_with_questions, wait_for_question
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

_PECULIAR = re.compile(r'"(identity|stackTrace)": "(?:[^"\\]|\\.)*"')


@dataclass(frozen=True)
class ScenarioStage:
    """What a scenario plays on."""

    engine: RunningEngine
    players: ScriptedRoles
    tools: ScriptedTools


Scenario = Callable[[ScenarioStage], Awaitable[str]]
SCENARIOS: dict[str, Scenario] = {}


def scenario(make: Scenario) -> Scenario:
    SCENARIOS[make.__name__.replace("_", "-")] = make
    return make


def _set_up(stage: ScenarioStage) -> None:
    stage.players.plan = plan(
        lookup_task("T1", query="a"),
        lookup_task("T2", query="b"),
        lookup_task("T3", "T1", query="c"),
        final_task("T4", "T2", "T3"),
    )
    stage.tools.answers = lambda argument: f"found {argument}"


async def _replanned(stage: ScenarioStage, preset: str) -> str:
    _set_up(stage)
    stage.players.continuations = [plan(lookup_task("T1a", query="d"), final_task("T4a", "T1a"))]
    fail_extractions(stage.players, 1)
    if preset == "full-horizon":
        stage.tools.answers = lambda argument: "" if argument == "a" else f"found {argument}"
    job = await stage.engine.run("Who?", preset_name=preset, slots="1")
    assert job.status == "done", job.message
    assert job.replans == 1
    return job.job_id


@scenario
async def kpi_chain(stage: ScenarioStage) -> str:
    """A task fails, and the plan is continued."""
    return await _replanned(stage, "kpi-chain")


@scenario
async def full_horizon(stage: ScenarioStage) -> str:
    """The same, where all that remains is planned anew."""
    return await _replanned(stage, "full-horizon")


async def _of_agents(stage: ScenarioStage, preset: str, **settings: str) -> str:
    """Two agents, and one that puts together what they found."""
    last = "value" if preset in ("vmao", "research") else "final_answer"
    stage.players.plan = plan(
        agent_task("T1", about="Who?"),
        agent_task("T2", about="Where?"),
        agent_task("T3", "T1", "T2", about="Together?", yields=last),
    )
    stage.tools.answers = lambda argument: f"found {argument}"
    servers = ("lab",) if preset == "research" else ()  # a loop searches in these alone
    job = await stage.engine.run(
        "Who and where?", preset_name=preset, servers=servers, slots="1", **settings
    )
    assert job.status == "done", job.message
    return job.job_id


@scenario
async def single_step(stage: ScenarioStage) -> str:
    """One node, one call after the other."""
    return await _of_agents(stage, "single-step")


@scenario
async def single_agent(stage: ScenarioStage) -> str:
    """One agent with every tool."""
    return await _of_agents(stage, "single-agent")


@scenario
async def loop(stage: ScenarioStage) -> str:
    """Two searches side by side, and an answer that the judge accepts."""
    shown = sentence("It is there.", 1, "found Who?")
    stage.players.loop.turns = [[search("Where?", "When?")], [answer("there", shown)]]
    stage.tools.answers = lambda argument: f"found {argument}: it is there."
    job = await stage.engine.run("Who?", preset_name="loop", servers=("lab",))
    return job.job_id


@scenario
async def static_pipeline(stage: ScenarioStage) -> str:
    """Agents in a fixed order."""
    return await _of_agents(stage, "static-pipeline")


@scenario
async def tdp(stage: ScenarioStage) -> str:
    """Agents are judged after each step, and the plan is revised after each of them."""
    changes = [{"refine": [{"id": "T3", "description": "All together?"}]}]
    stage.players.parts["reviser"] = lambda asked: changes.pop(0) if changes else {}
    return await _of_agents(stage, "tdp")


@scenario
async def research(stage: ScenarioStage) -> str:
    """A loop proves a part; agents work on the rest, and their results are verified."""
    shown = sentence("It is there.", 1, "found Who and where?")
    stage.players.loop.turns = [[search("Who?")], [answer("", shown, open=["who it is"])]]
    return await _of_agents(stage, "research")


@scenario
async def research_answered_by_its_loop(stage: ScenarioStage) -> str:
    """Nothing is planned."""
    shown = sentence("It is there.", 1, "found Who and where?")
    stage.players.loop.turns = [[search("Who?")], [answer("there", shown)]]
    return await _of_agents(stage, "research")


@scenario
async def planned_research(stage: ScenarioStage) -> str:
    """The job begins with its plan; agents work as loops, and their results are verified."""
    return await _of_agents(stage, "research", begins_with="plan")


@scenario
async def vmao(stage: ScenarioStage) -> str:
    """Two results fall short: they are worked again, and a sub-question is added."""
    scores = [0.3, 0.6, 0.9]
    stage.players.parts["verifier"] = lambda asked: verifier_answer(
        scores.pop(0) if scores else 0.9
    )
    stage.players.parts["gap_planner"] = lambda asked: {
        "retry_sub_questions": [{"id": "T1"}, {"id": "T2"}],
        "new_sub_questions": [{"id": "T9", "description": "When?", "agent": "generalist"}],
    }
    return await _of_agents(stage, "vmao")


@scenario
async def failed(stage: ScenarioStage) -> str:
    """The replans are used up."""
    _set_up(stage)
    fail_extractions(stage.players, 100)
    job = await stage.engine.run("Who?", max_replans_per_task="0")
    assert job.stop_reason == "replans_exhausted"
    return job.job_id


@scenario
async def paused_steered_and_resumed(stage: ScenarioStage) -> str:
    """Every kind of update that lets a job go on."""
    _set_up(stage)
    delay_extraction("a", 1, stage.players)
    job_id = await stage.engine.submit("Who?", slots="1")
    controller = JobController(stage.engine.holdfast, "dana")
    await wait_for_event(stage.engine, job_id, "task.started")
    await controller.pause(job_id)
    await wait_for_event(stage.engine, job_id, "task.done")
    await controller.steer(job_id, "Look again.")
    await controller.retry(job_id, ["T1"])
    await controller.resume(job_id)
    await stage.engine.holdfast.wait(job_id)
    return job_id


@scenario
async def cancelled(stage: ScenarioStage) -> str:
    """Calls in flight are stopped."""
    _set_up(stage)
    delay_extraction("b", 20, stage.players)
    job_id = await stage.engine.submit("Who?", slots="1")
    async with asyncio.timeout(30):
        while len(await events_of_kind(stage.engine, job_id, "task.started")) < 2:
            await asyncio.sleep(0.05)
    await JobController(stage.engine.holdfast, "dana").cancel(job_id)
    await stage.engine.holdfast.wait(job_id)
    return job_id


@scenario
async def reviewed_and_answered(stage: ScenarioStage) -> str:
    """A plan is made anew and approved, and a question is answered by its default in time."""
    _set_up(stage)
    deadline = datetime.now(UTC) + timedelta(seconds=2)
    kind = QuestionKind.ESCALATION
    doubt = NewQuestion(key="d", kind=kind, text="?", default="accept", deadline=deadline)
    job_id, _ = await submit_with_questions(stage.engine, doubt, review="true", slots="1")
    controller = JobController(stage.engine.holdfast, "dana")
    first = await wait_for_question(stage.engine, job_id, QuestionKind.APPROVAL)
    await controller.answer(job_id, first.id, "revise", "Otherwise.")
    second = await wait_for_question(stage.engine, job_id, QuestionKind.APPROVAL, after=first.id)
    await controller.answer(job_id, second.id, "approve", "")
    job = await stage.engine.holdfast.wait(job_id)
    assert job.status == "done", job.message
    return job_id


@scenario
async def out_of_quota(stage: ScenarioStage) -> str:
    """The job pauses by itself, and a person lets it go on."""
    _set_up(stage)
    stage.players.parts["planner"] = lambda _: ScriptedReply(status=402, error={"message": "pay"})
    job_id = await stage.engine.submit("Who?")
    await wait_for_event(stage.engine, job_id, "job.paused")
    del stage.players.parts["planner"]
    await JobController(stage.engine.holdfast, "dana").resume(job_id)
    await stage.engine.holdfast.wait(job_id)
    return job_id


async def histories_of(temporal: Client, job_id: str) -> str:
    """Every run of the job, oldest first, as JSON without what is peculiar to this machine."""
    runs = []
    async for run in temporal.list_workflows(f'WorkflowId = "{job_id}"'):
        handle = temporal.get_workflow_handle(job_id, run_id=run.run_id)
        with suppress(WorkflowFailureError):  # the job failed or was cancelled
            await handle.result(follow_runs=True)
        history = await handle.fetch_history()
        runs.append((run.start_time, json.loads(history.to_json())))
    runs.sort(key=lambda each: each[0])
    text = json.dumps([history for _, history in runs], indent=1)
    return _PECULIAR.sub(r'"\1": "left out"', text) + "\n"
