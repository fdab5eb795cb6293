"""Tests for the recorded ending of a job: cancelled, terminated from outside, or failed by a fault
of ours."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import text

from holdfast.activities.runtime.tool_call import ToolCaller
from holdfast.models.errors import BadConfiguration, ServiceDown, ToolFailed
from holdfast.models.jobs.job_record import JobStatus, StopReason
from holdfast.storage.jobs import job_rows
from holdfast.storage.ledger.call_ledger import CallLedger
from holdfast.storage.views import job_queries
from tests.engine.views.test_workflow_history import load_workflow_history
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles, extractor_script
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

SECRET = "a confidential passage of the archive"


async def wait_for_event(engine: RunningEngine, job_id: str, kind: str) -> None:
    """Wait until the job's log has an entry of this kind."""
    async with asyncio.timeout(30):
        while kind not in {e.kind for e in await job_queries.events_after(engine.db, job_id, 0)}:
            await asyncio.sleep(0.05)


async def test_a_cancelled_job_is_recorded_as_cancelled_and_keeps_what_it_found(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(
        lookup_task("T1", query="a"), lookup_task("T2", "T1", query="b"), final_task("T3", "T2")
    )

    def part(asked: ReceivedRequest) -> ScriptedReply:
        is_second = asked.task["arguments"]["query"] == "b"
        return ScriptedReply.of(extractor_script("found", 0.9)(asked), delay=20 if is_second else 0)

    players.parts["extractor"] = part
    tools.answers = lambda argument: f"found {argument}"
    job_id = await engine.submit("Who?")
    await wait_for_event(engine, job_id, "task.done")

    await engine.temporal.get_workflow_handle(job_id).cancel()
    job = await engine.holdfast.wait(job_id, timedelta(seconds=20))

    assert (job.status, job.stop_reason) == (JobStatus.CANCELLED, StopReason.CANCELLED)
    shown = await engine.holdfast.show(job_id)
    assert {task.id: task.status for task in shown.tasks} == {
        "T1": "done",
        "T2": "cancelled",
        "T3": "cancelled",
    }
    assert shown.tasks[0].entities == {"value": "found"}


async def test_a_job_that_is_cancelled_before_it_began_is_recorded_as_cancelled(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    players.plan = plan(lookup_task("T1"), final_task("T2", "T1"))
    job_id = await engine.submit("Who?", start_delay=timedelta(seconds=1))

    await engine.temporal.get_workflow_handle(job_id).cancel()
    job = await engine.holdfast.wait(job_id, timedelta(seconds=20))

    assert (job.status, job.stop_reason) == (JobStatus.CANCELLED, StopReason.CANCELLED)


@pytest.mark.slow
@pytest.mark.long
async def test_waiting_for_a_job_whose_workflow_was_ended_from_outside_comes_to_an_end(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    players.parts["extractor"] = lambda asked: ScriptedReply.of({}, delay=30)
    tools.answers = {"a": "found"}
    job_id = await engine.submit("Who?")
    await wait_for_event(engine, job_id, "task.started")

    await engine.temporal.get_workflow_handle(job_id).terminate("by hand")

    with pytest.raises(ServiceDown, match="is terminated in Temporal"):
        await engine.holdfast.wait(job_id, timedelta(seconds=60))


@pytest.mark.slow
@pytest.mark.conformance("BEY-04")
async def test_a_fault_of_ours_fails_the_task_within_seconds_and_leaves_no_content_in_history(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    """A row is refused: the driver's message holds the statement with all its values."""
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    tools.answers = {"a": SECRET}
    async with engine.db.writing() as connection:
        await connection.execute(text("alter table evidence add constraint never check (false)"))

    job = await engine.run("Who?", max_replans_per_task="0")

    assert (job.status, job.stop_reason) == ("failed", "replans_exhausted")
    assert "the worker's log has the details" in job.message
    history = (await load_workflow_history(engine.temporal, job.job_id)).to_json()
    assert SECRET not in history
    assert "insert into" not in history.lower()


@pytest.mark.slow
async def test_a_database_that_is_away_leaves_no_content_in_history(
    engine: RunningEngine, players: ScriptedRoles, model: ScriptedModel, tools: ScriptedTools
) -> None:
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    tools.answers = {"a": SECRET}

    def part(asked: ReceivedRequest) -> object:
        return ScriptedReply.of(extractor_script("confidential", 0.9)(asked), delay=0.5)

    players.parts["extractor"] = part
    job_id = await engine.submit("Who?")
    await asyncio.to_thread(model.wait_for, 2)

    async with engine.db.writing() as connection:
        await connection.execute(
            text(
                "select pg_terminate_backend(pid) from pg_stat_activity "
                "where datname = current_database() and pid <> pg_backend_pid()"
            )
        )
    job = await engine.holdfast.wait(job_id, timedelta(seconds=60))

    assert job.status is JobStatus.DONE
    assert SECRET not in (await load_workflow_history(engine.temporal, job_id)).to_json()


async def test_a_finished_job_is_not_started_again_by_its_key(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan, tools.answers = (
        plan(lookup_task("T1", query="a"), final_task("T2", "T1")),
        {"a": "Ada"},
    )
    job = await engine.run("Who?")
    request = (await job_rows.load_job(engine.db, job.job_id)).request
    async with engine.db.writing() as connection:
        await connection.execute(text("update jobs set request_key = 'mine'"))
    await engine.temporal.workflow_service.delete_workflow_execution(
        workflow_deletion(engine, job.job_id)
    )

    again = await engine.holdfast.submit(request, key="mine")

    assert again == job.job_id
    assert (await job_rows.load_job(engine.db, again)).status is JobStatus.DONE


def workflow_deletion(engine: RunningEngine, job_id: str):
    from temporalio.api.common.v1 import WorkflowExecution
    from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest

    execution = WorkflowExecution(workflow_id=job_id)
    return DeleteWorkflowExecutionRequest(
        namespace=engine.temporal.namespace, workflow_execution=execution
    )


async def test_a_database_without_the_schema_is_said_to_be_one(engine: RunningEngine) -> None:
    async with engine.db.writing() as connection:
        await connection.execute(text("alter table jobs rename to mislaid"))

    with pytest.raises(BadConfiguration, match="run `holdfast up`"):
        await job_rows.load_job(engine.db, "job-1")


async def test_a_tool_that_may_not_be_repeated_is_not_called_again_after_its_error(
    engine: RunningEngine, tools: ScriptedTools
) -> None:
    """The worker died between the tool's error and the task's outcome."""
    job_id = await engine.submit("Who?", start_delay=timedelta(hours=1))
    bench = ToolCaller(
        CallLedger(engine.db),
        engine.parts.hub,
        job_id,
        "T1",
        1,
        facts={},
        timeout=timedelta(seconds=9),
    )
    with pytest.raises(ToolFailed, match="no page for"):
        await bench.call("lab.note", {"text": "once"})

    with pytest.raises(ToolFailed, match="no page for"):
        await bench.call("lab.note", {"text": "once"})

    assert tools.called == [("note", "once")]
