"""Tests that a replan leaves alone tasks that the workflow started and no worker has begun."""

from pathlib import Path

import pytest
from temporalio.client import Client

from holdfast.activities.plans.plan_activities import PlanActivities
from holdfast.jobs.job_controller import JobController
from holdfast.models.errors import FailureClass
from holdfast.models.jobs.activity_orders import ReplanOrder, TaskOrder
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.jobs.job_state import TaskReceipt
from holdfast.models.plans.plan_change import PlanChange
from holdfast.models.plans.plan_change_cause import PlanChangeCause
from holdfast.models.plans.research_plan import Plan, TaskStatus
from holdfast.models.tasks.task_failure import Component, Failure
from holdfast.planning.strategies.strategy_presets import preset
from holdfast.roles.planning.replanner import REPLANNER
from holdfast.storage.jobs import job_rows
from holdfast.storage.ledger.call_ledger import CallLedger
from holdfast.storage.plans import plan_change_rows, task_queries, task_transactions
from holdfast.storage.plans.task_transactions import RunningTask, TaskAttemptOutcome
from holdfast.storage.views import job_queries
from tests.engine.control.test_job_endings import wait_for_event
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles, extractor_script, planner_answer
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine, running_engine
from tests.support.tools.scripted_tools import ScriptedTools

PLAN = plan(lookup_task("T1"), lookup_task("T2"), lookup_task("T3"), final_task("T4", "T2", "T3"))
FAILED = Failure(component=Component.TOOL, failure_class=FailureClass.TOOL, message="gone")


async def failed_job(engine: RunningEngine) -> int:
    """A stored job whose first task has failed; gives its epoch."""
    strategy = preset("full-horizon").strategy
    request = JobRequest(question="?", preset="full-horizon", model="m", strategy=strategy)
    await job_rows.submit_job(engine.db, "job-1", request, None)
    epoch = await job_rows.begin_job_run(engine.db, "job-1", "run-1")
    change = PlanChange(cause=PlanChangeCause.PLANNED, added=PLAN.tasks)
    async with engine.db.job("job-1", epoch) as write:
        await plan_change_rows.store_change(write, Plan(), change)
    order = TaskOrder(job_id="job-1", epoch=epoch, task_id="T1", attempt=1)
    begun = await task_transactions.begin_task(engine.db, order, "T1#1")
    assert isinstance(begun, RunningTask)
    receipt = TaskReceipt(task_id="T1", attempt=1, status=TaskStatus.FAILED)
    attempt = TaskAttemptOutcome(task=begun.task, receipt=receipt, failure=FAILED)
    await task_transactions.finish_task(CallLedger(engine.db), order, "T1#1", attempt)
    return epoch


@pytest.mark.conformance("KPI-12")
async def test_a_task_that_was_started_and_waits_for_a_worker_is_not_replaced(
    temporal: Client,
    database_url: str,
    tmp_path: Path,
    players: ScriptedRoles,
    model: ScriptedModel,
    tools: ScriptedTools,
) -> None:
    players.continuations = [
        plan(lookup_task("T1a", query="again"), final_task("T4a", "T1a", "T2"))
    ]
    async with running_engine(
        temporal, database_url, tmp_path, model_url=model.url, tools_url=tools.url, polls=False
    ) as engine:
        epoch = await failed_job(engine)
        planning = PlanActivities(engine.parts)

        receipt = await planning.replan(
            ReplanOrder(job_id="job-1", epoch=epoch, task_id="T1", under_way=("T2",))
        )

        assert receipt.halt is None, receipt.halt
        assert receipt.superseded == ("T1", "T3", "T4")
        stored = await task_queries.load_plan(engine.db, "job-1")
        assert stored.by_id["T2"].status is TaskStatus.PENDING


@pytest.mark.slow
async def test_a_replan_that_was_lost_takes_the_reply_to_the_same_words(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    """While it was under way the plan has moved on; other words would be asked for once more."""
    players.plan = plan(
        lookup_task("T1", query="a"), lookup_task("T2", query="b"), final_task("T3", "T1", "T2")
    )
    tools.answers = lambda argument: f"found {argument}"
    continued = planner_answer(plan(lookup_task("T1a", query="c"), final_task("T3a", "T1a", "T2")))

    def extractor(asked: ReceivedRequest) -> ScriptedReply:
        query = asked.task["arguments"]["query"]
        value, delay = (None if query == "a" else "found", 0.5 if query == "b" else 0)
        return ScriptedReply.of(extractor_script(value, 0.9)(asked), delay=delay)

    players.parts["extractor"] = extractor
    players.parts["replanner"] = lambda _: ScriptedReply.of(
        continued, delay=3 if players.count(REPLANNER) == 1 else 0
    )
    job_id = await engine.submit("Who?")
    await wait_for_event(engine, job_id, "task.done")
    assert players.count(REPLANNER) == 1

    await engine.temporal.get_workflow_handle(job_id).terminate("lost")
    await JobController(engine.holdfast, "dana").resume(job_id)
    await engine.holdfast.wait(job_id)

    calls = await job_queries.job_calls(engine.db, job_id)
    assert [call.sends for call in calls if call.role == "replanner"] == [1]
    assert players.count(REPLANNER) == 1
    assert (await engine.holdfast.show(job_id)).status == "done"
