"""A replan leaves alone what the workflow has started and no worker has begun."""

from pathlib import Path

import pytest
from temporalio.client import Client

from activities.parts import Requests
from activities.plan import Planning
from models.errors import FailureClass
from models.failures import Component, Failure
from models.jobs import JobRequest
from models.orders import ReplanOrder, TaskOrder
from models.plan import TaskStatus
from models.state import TaskReceipt
from planning.presets import preset
from storage import jobs, plans, tasks
from storage.ledger import Ledger
from storage.plans import Revision
from storage.tasks import Attempt, Begun
from tests.support.engine import Engine, running_engine
from tests.support.plans import final, plan, tool
from tests.support.players import Players
from tests.support.scripted_model import ScriptedModel
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
