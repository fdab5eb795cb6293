"""Tests for the status document of a job: what runs, what blocks the job, and what happens next
(WAVE-02)."""

import asyncio
from datetime import timedelta

import pytest

from holdfast.cli.render.status_lines import status_lines
from holdfast.jobs.current_status import status_of
from holdfast.jobs.job_controller import JobController
from holdfast.models.views.status_views import StatusDocument
from tests.engine.control.test_job_controls import delay_extraction
from tests.engine.control.test_job_endings import wait_for_event, workflow_deletion
from tests.support.endpoints.scripted_model import ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.conformance("WAVE-02")]

PLAN = plan(
    lookup_task("T1", query="a"),
    lookup_task("T2", query="b"),
    lookup_task("T3", "T1", query="c"),
    final_task("T4", "T2", "T3"),
)


async def doing(engine: RunningEngine, job_id: str, *what: str) -> StatusDocument:
    """The document once exactly this is under way."""
    async with asyncio.timeout(30):
        while True:
            found = await status_of(engine.holdfast, job_id)
            if {each.what for each in found.doing} == set(what):
                return found
            await asyncio.sleep(0.05)


async def test_what_runs_what_waits_what_is_next_and_what_is_left(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan, tools.answers = PLAN, lambda argument: f"found {argument}"
    delay_extraction("b", 3, players)
    job_id = await engine.submit("Who?", slots="1")
    found = await doing(engine, job_id, "T2")

    [task] = found.doing
    assert (task.state, task.attempt, task.last_failure) == ("running", 1, "")
    assert task.worker
    assert {each.task: each.waits_for for each in found.waiting} in (
        {"T3": (), "T4": ("T2", "T3")},
        {"T4": ("T2",)},
    )
    assert found.blocked_by == ()
    assert found.next
    assert found.next[0].startswith("after T2: start")
    used = {each.what: (each.used, each.limit) for each in found.allowances}
    assert used["tool calls"] == (2 if "T3" in {each.task for each in found.waiting} else 3, 30)
    assert used["replans"] == (0, 30)
    assert used["tokens"][0] > 0
    assert any(line.startswith("doing:    T2 running") for line in status_lines(found))


async def test_a_retry_is_shown_with_its_failure_and_its_time(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan, tools.answers = PLAN, lambda argument: f"found {argument}"
    busy = ScriptedReply(status=429, headers={"retry-after": "20"}, error={"message": "slow down"})
    players.parts["planner"] = lambda _: busy
    job_id = await engine.submit("Who?")

    async with asyncio.timeout(30):
        while True:
            found = await status_of(engine.holdfast, job_id)
            if found.doing and found.doing[0].state == "waiting":
                break
            await asyncio.sleep(0.05)

    [planning] = found.doing
    assert planning.what == "plan"
    assert planning.attempt == 2
    assert "slow down" in planning.last_failure
    assert planning.next_try_at is not None
    assert timedelta(seconds=5) < planning.next_try_at - found.at <= timedelta(seconds=20)


async def test_what_blocks_a_job_is_named_with_the_way_out(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan, tools.answers = PLAN, lambda argument: f"found {argument}"
    delay_extraction("a", 2, players)
    job_id = await engine.submit("Who?", slots="1")
    await wait_for_event(engine, job_id, "task.started")

    await JobController(engine.holdfast, "dana").pause(job_id)
    paused = await status_of(engine.holdfast, job_id)
    await engine.temporal.get_workflow_handle(job_id).terminate("lost")
    await engine.temporal.workflow_service.delete_workflow_execution(
        workflow_deletion(engine, job_id)
    )
    lost = await status_of(engine.holdfast, job_id)

    assert paused.blocked_by == (f"the job is paused; continue with `holdfast resume {job_id}`",)
    assert paused.next[0].startswith("once resumed: ")
    assert any("Temporal runs no workflow" in reason for reason in lost.blocked_by)
