"""Tests that an outage longer than every limit changes nothing, and that a model that never answers
is still given up after the time that workers worked."""

import asyncio
import time

import pytest

from tests.durability.chaos.chaos_installation import ChaosInstallation, chaos_installation
from tests.durability.chaos.chaos_rounds import Chaos
from tests.durability.chaos.consistency_checks import find_breaches
from tests.durability.chaos.disturbances import process_kills
from tests.durability.chaos.job_records import JobRecord, load_record
from tests.durability.chaos.job_shapes import JobShape
from tests.support.endpoints.scripted_model import ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import agent_task, final_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.conformance("REL-01")]

_SHAPES = ("chain-3", "agent-1", "tdp-2", "research-2", "vmao-2")
"""Of the presets kpi-chain, single-agent, tdp, research and vmao."""
_LIMIT_S = 20.0
"""Many times what the work of one of these jobs takes."""
_OUTAGE_S = _LIMIT_S + 5
_LIMITS = {"task_patience": f"PT{_LIMIT_S:.0f}S", "agent_timeout": f"PT{_LIMIT_S:.0f}S"}
_REQUESTS_BEFORE = 3
_WITHIN_S = 100.0


async def until_each_is_held(installation: ChaosInstallation, jobs: list[str]) -> None:
    async with asyncio.timeout(_WITHIN_S):
        while any(installation.arrivals.count([job]) <= _REQUESTS_BEFORE for job in jobs):
            await asyncio.sleep(0.02)


@pytest.mark.timeout(400)
async def test_jobs_of_every_preset_go_on_after_an_outage_longer_than_their_limits() -> None:
    shapes = [JobShape.named(name) for name in _SHAPES]
    async with chaos_installation(1) as installation:
        chaos = Chaos(installation, 1)
        undisturbed: dict[JobShape, JobRecord] = {}
        for each in await installation.submit({f"u{n}": s for n, s in enumerate(shapes)}):
            undisturbed[each.shape] = await chaos.run_undisturbed(each)
        installation.script.held_after = _REQUESTS_BEFORE
        jobs = await installation.submit({f"o{n}": s for n, s in enumerate(shapes)}, _LIMITS)
        await until_each_is_held(installation, [each.job for each in jobs])

        await process_kills.kill_everything(installation)
        await asyncio.sleep(_OUTAGE_S)
        installation.script.held_after = None
        installation.model.release()
        await installation.up()

        for each in jobs:
            assert await chaos.ends(each.job_id), f"{each.shape.name} does not end"
            async with installation.books() as books:
                found = await load_record(books, each.job_id)
            came = installation.arrivals.of(each.job)
            assert find_breaches(found, undisturbed[each.shape].story, came) == []
            assert not [task["id"] for task in found.tasks if task["failure"]]


@pytest.mark.long
async def test_a_model_that_never_answers_ends_the_job_when_its_time_was_worked(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    players.plan = plan(final_task("T1"))
    players.parts["reasoner"] = lambda _: ScriptedReply(delay=600, is_lax=True)
    limits = {"task_patience": "PT12S", "task_timeout": "PT5S", "max_replans_per_task": "0"}
    began = time.monotonic()

    job = await engine.run("Why?", **limits)

    (task,) = job.tasks
    assert (job.status, task.status) == ("failed", "failed")
    assert task.failure is not None
    assert "12 s of work" in str(task.failure["message"])
    assert len(players.asked["reasoner"]) >= 2
    assert time.monotonic() - began >= 10


@pytest.mark.long
async def test_an_agent_whose_tool_reader_never_answers_is_told_to_conclude(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(agent_task("T1", about="Who?", yields="final_answer"))
    tools.answers = lambda argument: f"[{argument}]"
    players.parts["extractor"] = lambda _: ScriptedReply(delay=600, is_lax=True)
    usual = players._stepper
    told: list[str] = []

    def step(asked: object) -> object:
        told.append(asked.task["must_end"])  # type: ignore[attr-defined]
        return {"give_up": "no time left"} if told[-1] else usual(asked)  # type: ignore[arg-type]

    players.parts["stepper"] = step

    job = await engine.run(
        "Who?", preset_name="vmao", verify="false", agent_timeout="PT2S", on_exhausted="fail"
    )

    failures = {task.id: str(task.failure and task.failure["message"]) for task in job.tasks}
    assert failures["T1.1"] == "2 s of work are over (agent_timeout)"
    assert told == ["", "2 s of work are over (agent_timeout)"]


@pytest.mark.long
async def test_a_planner_that_never_answers_ends_the_job_with_the_true_reason(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    players.parts["planner"] = lambda _: ScriptedReply(delay=600, is_lax=True)

    job = await engine.run("Why?", task_patience="PT2S")

    assert job.status == "failed"
    assert job.message == "planning failed: 2 s of work are over (task_patience)"
