"""A replan leaves alone what the workflow has started and no worker has begun."""

from pathlib import Path

import pytest
from temporalio.client import Client

from activities.parts import Requests
from activities.plan import Planning
from holdfast.control import Controller
from models.errors import FailureClass
from models.failures import Component, Failure
from models.jobs import JobRequest
from models.orders import ReplanOrder, TaskOrder
from models.plan import TaskStatus
from models.state import TaskReceipt
from planning.presets import preset
from roles.replanner import REPLANNER
from storage import jobs, plans, tasks, views
from storage.ledger import Ledger
from storage.plans import Revision
from storage.tasks import Attempt, Begun
from tests.engine.test_endings import under_way
from tests.support.engine import Engine, running_engine
from tests.support.plans import final, plan, tool
from tests.support.players import Players, draft, extraction
from tests.support.scripted_model import Asked, Reply, ScriptedModel
from tests.support.scripted_tools import ScriptedTools

PLAN = plan(tool("T1"), tool("T2"), tool("T3"), final("T4", "T2", "T3"))
FAILED = Failure(component=Component.TOOL, failure_class=FailureClass.TOOL, message="gone")


async def failed_job(engine: Engine) -> int:
    """A stored job whose first task has failed; gives its epoch."""
    strategy = preset("full-horizon").strategy
    request = JobRequest(question="?", preset="full-horizon", model="m", strategy=strategy)
    await jobs.submit(engine.db, "job-1", request, None)
    epoch = await jobs.begin(engine.db, "job-1", "run-1")
    change = Revision(revision=0, cause="planned", added=tuple(task.id for task in PLAN.tasks))
    async with engine.db.job("job-1", epoch) as write:
        await plans.store_revision(write, PLAN, change, {task.id: task.id for task in PLAN.tasks})
    order = TaskOrder(job_id="job-1", epoch=epoch, task_id="T1", attempt=1)
    begun = await tasks.begin(engine.db, order, "T1#1")
    assert isinstance(begun, Begun)
    receipt = TaskReceipt(task_id="T1", attempt=1, status=TaskStatus.FAILED)
    attempt = Attempt(task=begun.task, receipt=receipt, failure=FAILED)
    await tasks.finish(Ledger(engine.db), order, "T1#1", attempt)
    return epoch


@pytest.mark.conformance("KPI-12")
async def test_a_task_that_was_started_and_waits_for_a_worker_is_not_replaced(
    temporal: Client,
    database_url: str,
    tmp_path: Path,
    players: Players,
    model: ScriptedModel,
    tools: ScriptedTools,
) -> None:
    players.continuations = [plan(tool("T1a", query="again"), final("T4a", "T1a", "T2"))]
    async with running_engine(
        temporal, database_url, tmp_path, model_url=model.url, tools_url=tools.url, polls=False
    ) as engine:
        epoch = await failed_job(engine)
        parts = engine.parts
        planning = Planning(parts.db, parts.models, Requests(parts.db), parts.hub)

        receipt = await planning.replan(
            ReplanOrder(job_id="job-1", epoch=epoch, task_id="T1", under_way=("T2",))
        )

        assert receipt.halt is None, receipt.halt
        assert receipt.superseded == ("T1", "T3", "T4")
        stored = await plans.load_plan(engine.db, "job-1")
        assert stored.by_id["T2"].status is TaskStatus.PENDING


@pytest.mark.slow
async def test_a_replan_that_was_lost_is_asked_for_in_the_same_words(
    engine: Engine, players: Players, tools: ScriptedTools
) -> None:
    """While it was under way the plan has moved on; its answer is not paid for twice."""
    players.plan = plan(tool("T1", query="a"), tool("T2", query="b"), final("T3", "T1", "T2"))
    tools.answers = lambda argument: f"found {argument}"
    continued = draft(plan(tool("T1a", query="c"), final("T3a", "T1a", "T2")))

    def extractor(asked: Asked) -> Reply:
        query = asked.task["arguments"]["query"]
        value, delay = (None if query == "a" else "found", 0.5 if query == "b" else 0)
        return Reply.of(extraction(value, 0.9)(asked), delay=delay)

    players.parts["extractor"] = extractor
    players.parts["replanner"] = lambda _: Reply.of(
        continued, delay=3 if players.count(REPLANNER) == 1 else 0
    )
    job_id = await engine.submit("Who?")
    await under_way(engine, job_id, "task.done")
    assert players.count(REPLANNER) == 1

    await engine.temporal.get_workflow_handle(job_id).terminate("lost")
    await Controller(engine.holdfast, "dana").resume(job_id)
    await engine.holdfast.wait(job_id)

    first, second = players.tasks(REPLANNER)
    assert first == second
    calls = await views.calls(engine.db, job_id)
    assert [call.sends for call in calls if call.role == "replanner"] == [2]
    assert (await engine.holdfast.show(job_id)).status == "done"
