"""Tests that limits, replans, tokens and calls are counted on after a crash.

Each job is run twice: undisturbed, and with its workflow lost in Temporal again and again, so that
everything the scheduler knows has to come from PostgreSQL each time.
"""

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from holdfast.models.errors import BadInput
from holdfast.models.jobs.job_record import JobStatus
from holdfast.models.plans.research_plan import Plan
from holdfast.models.views.job_views import JobView
from holdfast.storage.jobs import job_control_rows, job_rows
from holdfast.storage.views import job_queries, statistics_queries
from holdfast.temporal.workflow_start import start_workflow
from tests.engine.control.test_job_endings import workflow_deletion
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles, extractor_script
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.long_parameters import mostly_long
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

_WITHIN_S = 240
"""A job takes five seconds on a quiet machine, and a minute on one that is used by others."""
_SLOW = 0.3
"""Seconds of each model call, so that losing the workflow hits calls in flight."""


@dataclass(frozen=True)
class Case:
    """A job, and the settings under which it reaches something that is counted."""

    settings: dict[str, str]
    stop: str | None
    preset: str = "kpi-chain"
    is_hopeless: bool = False


CASES = {
    "replans of a task": Case({"max_replans_per_task": "2"}, "replans_exhausted", is_hopeless=True),
    "replans of the job": Case({"max_replans": "2"}, "retry_limit", is_hopeless=True),
    "tool calls": Case({"max_tool_calls": "3"}, "tool_call_limit"),
    "tool calls, full horizon": Case({"max_tool_calls": "3"}, "tool_call_limit", "full-horizon"),
    "nothing but tokens": Case({}, "answered"),
}


def five() -> Plan:
    tasks = [lookup_task("T1", query="q1")]
    tasks += [lookup_task(f"T{n}", f"T{n - 1}", query=f"q{n}") for n in range(2, 6)]
    return plan(*tasks, final_task("T6", "T5"))


def continuation(asked: ReceivedRequest) -> object:
    """T2 is replaced by T2a, that by T2b and so on: a function of the request alone."""
    from tests.support.endpoints.scripted_roles import planner_answer

    failed = asked.task["failed_task_id"]
    fresh = f"{failed}a" if failed[-1].isdigit() else f"{failed[:-1]}{chr(ord(failed[-1]) + 1)}"
    return planner_answer(
        plan(lookup_task(fresh, "T1", query=f"q-{fresh}"), final_task(f"F{fresh}", fresh))
    )


def script(players: ScriptedRoles, tools: ScriptedTools, case: Case) -> None:
    players.plan = five()
    players.parts["replanner"] = continuation
    tools.answers = lambda argument: f"found {argument}"

    def extractor(asked: ReceivedRequest) -> ScriptedReply:
        query = asked.task["arguments"]["query"]
        is_lost = case.is_hopeless and query != "q1"
        return ScriptedReply.of(
            extractor_script(None if is_lost else query, 0.9)(asked), delay=_SLOW
        )

    players.parts["extractor"] = extractor


async def lost_again_and_again(engine: RunningEngine, job_id: str, losses: int) -> None:
    """Lose the job's workflow at some events of its log, and start it again each time."""
    for number in range(1, losses + 1):
        await _until_event(engine, job_id, 4 * number)
        if (await job_rows.load_job(engine.db, job_id)).status.is_final:
            return
        await engine.temporal.get_workflow_handle(job_id).terminate("lost")
        await engine.temporal.workflow_service.delete_workflow_execution(
            workflow_deletion(engine, job_id)
        )
        await start_again(engine, job_id)


async def start_again(engine: RunningEngine, job_id: str) -> None:
    """Start the job's workflow unless an activity that was in flight has ended the job by now.

    `Controller.resume` would not do: of a job that has ended it tries again what had failed.
    """
    while not (job := await job_rows.load_job(engine.db, job_id)).status.is_final:
        try:
            async with job_rows.unchanged_job(engine.db, job) as write:
                await job_control_rows.release_from_lost_run(write)
        except BadInput:  # what was in flight has changed the job meanwhile
            continue
        queue = engine.holdfast.settings.task_queue
        await start_workflow(engine.temporal, queue, job_id, job.request)
        return


async def _until_event(engine: RunningEngine, job_id: str, seq: int) -> None:
    async with asyncio.timeout(_WITHIN_S):
        while not await job_queries.events_after(engine.db, job_id, seq - 1):
            if (await job_rows.load_job(engine.db, job_id)).status.is_final:
                return
            await asyncio.sleep(0.02)


def outcome(view: JobView) -> dict[str, Any]:
    """What must be the same, however often the workflow was lost."""
    return {
        "status": view.status,
        "stop": view.stop_reason,
        "answer": view.answer,
        "message": view.message,
        "replans": view.replans,
        "tokens": view.tokens,
        "calls": view.calls,
        "tasks": [(t.id, t.status, t.attempt, t.entities, t.tokens) for t in view.tasks],
    }


@pytest.mark.conformance("HZN-04", "KPI-13", "KPI-15", "BEY-03")
@pytest.mark.parametrize("name", mostly_long(CASES, usual=1))
async def test_a_job_whose_workflow_is_lost_counts_on_where_it_was(
    engine: RunningEngine,
    players: ScriptedRoles,
    model: ScriptedModel,
    tools: ScriptedTools,
    name: str,
) -> None:
    case = CASES[name]
    script(players, tools, case)
    calm = await engine.run("Who?", preset_name=case.preset, within_s=_WITHIN_S, **case.settings)
    asked_calmly = model.count

    job_id = await engine.submit("Who?", preset_name=case.preset, **case.settings)
    await lost_again_and_again(engine, job_id, losses=4)
    await engine.holdfast.wait(job_id)
    disturbed = await engine.holdfast.show(job_id)

    assert calm.stop_reason == case.stop
    assert outcome(disturbed) == outcome(calm)
    assert (await job_rows.load_job(engine.db, job_id)).epoch > 1
    made = await statistics_queries.run_statistics(engine.db, job_id)
    assert made.calls == (await statistics_queries.run_statistics(engine.db, calm.job_id)).calls
    # Each further request is one that was in flight when the workflow was lost.
    rows = await job_queries.job_calls(engine.db, job_id)
    again = sum(row.sends - 1 for row in rows if row.kind == "model")
    assert model.count - asked_calmly == asked_calmly + again
    assert JobStatus(disturbed.status).is_final
