"""What is counted is counted on after a crash: limits, replans, tokens, calls.

Each job is run twice: undisturbed, and with its workflow lost in Temporal again and again, so that
everything the scheduler knows has to come from PostgreSQL each time.
"""

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from holdfast.client import start_workflow
from models.errors import BadInput
from models.jobs import FINAL, JobStatus
from models.plan import Plan
from models.views import JobView
from storage import control, jobs, stats, views
from tests.engine.test_endings import _deletion
from tests.support.engine import Engine
from tests.support.plans import final, plan, tool
from tests.support.players import Players, extraction
from tests.support.scripted_model import Asked, Reply, ScriptedModel
from tests.support.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

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
    tasks = [tool("T1", query="q1")]
    tasks += [tool(f"T{n}", f"T{n - 1}", query=f"q{n}") for n in range(2, 6)]
    return plan(*tasks, final("T6", "T5"))


def continuation(asked: Asked) -> object:
    """T2 is replaced by T2a, that by T2b and so on: a function of the request alone."""
    from tests.support.players import draft

    failed = asked.task["failed_task_id"]
    fresh = f"{failed}a" if failed[-1].isdigit() else f"{failed[:-1]}{chr(ord(failed[-1]) + 1)}"
    return draft(plan(tool(fresh, "T1", query=f"q-{fresh}"), final(f"F{fresh}", fresh)))


def script(players: Players, tools: ScriptedTools, case: Case) -> None:
    players.plan = five()
    players.parts["replanner"] = continuation
    tools.answers = lambda argument: f"found {argument}"

    def extractor(asked: Asked) -> Reply:
        query = asked.task["arguments"]["query"]
        is_lost = case.is_hopeless and query != "q1"
        return Reply.of(extraction(None if is_lost else query, 0.9)(asked), delay=_SLOW)

    players.parts["extractor"] = extractor


async def lost_again_and_again(engine: Engine, job_id: str, losses: int) -> None:
    """Lose the job's workflow at some events of its log, and start it again each time."""
    for number in range(1, losses + 1):
        await _until_event(engine, job_id, 4 * number)
        if (await jobs.load(engine.db, job_id)).status in FINAL:
            return
        await engine.temporal.get_workflow_handle(job_id).terminate("lost")
        await engine.temporal.workflow_service.delete_workflow_execution(_deletion(engine, job_id))
        await start_again(engine, job_id)


async def start_again(engine: Engine, job_id: str) -> None:
    """Start the job's workflow unless an activity that was in flight has ended the job by now.

    `Controller.resume` would not do: of a job that has ended it tries again what had failed.
    """
    while (job := await jobs.load(engine.db, job_id)).status not in FINAL:
        try:
            async with jobs.as_read(engine.db, job) as write:
                await control.restart(write)
        except BadInput:  # what was in flight has changed the job meanwhile
            continue
        queue = engine.holdfast.settings.task_queue
        await start_workflow(engine.temporal, queue, job_id, job.request)
        return


async def _until_event(engine: Engine, job_id: str, seq: int) -> None:
    async with asyncio.timeout(60):
        while not await views.events_after(engine.db, job_id, seq - 1):
            if (await jobs.load(engine.db, job_id)).status in FINAL:
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
@pytest.mark.parametrize("name", CASES)
async def test_a_job_whose_workflow_is_lost_counts_on_where_it_was(
    engine: Engine, players: Players, model: ScriptedModel, tools: ScriptedTools, name: str
) -> None:
    case = CASES[name]
    script(players, tools, case)
    calm = await engine.run("Who?", preset_name=case.preset, **case.settings)
    asked_calmly = model.count

    job_id = await engine.submit("Who?", preset_name=case.preset, **case.settings)
    await lost_again_and_again(engine, job_id, losses=4)
    await engine.holdfast.wait(job_id)
    disturbed = await engine.holdfast.show(job_id)

    assert calm.stop_reason == case.stop
    assert outcome(disturbed) == outcome(calm)
    assert (await jobs.load(engine.db, job_id)).epoch > 1
    made = await stats.stats(engine.db, job_id)
    assert made.calls == (await stats.stats(engine.db, calm.job_id)).calls
    # Each further request is one that was in flight when the workflow was lost.
    rows = await views.calls(engine.db, job_id)
    again = sum(row.sends - 1 for row in rows if row.kind == "model")
    assert model.count - asked_calmly == asked_calmly + again
    assert JobStatus(disturbed.status) in FINAL
