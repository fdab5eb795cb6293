"""However a job ends, its row says so: cancelled, ended from outside, or by a fault of ours."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import text

from activities.calling import Bench
from models.errors import BadConfiguration, ServiceDown, ToolFailed
from models.jobs import JobStatus, StopReason
from storage import jobs, views
from storage.ledger import Ledger
from tests.engine.test_history import history_of
from tests.support.engine import Engine
from tests.support.plans import final, plan, tool
from tests.support.players import Players, extraction
from tests.support.scripted_model import Asked, Reply, ScriptedModel
from tests.support.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

SECRET = "a confidential passage of the archive"


async def under_way(engine: Engine, job_id: str, kind: str) -> None:
    """Wait until the job's log has an entry of this kind."""
    async with asyncio.timeout(30):
        while kind not in {e.kind for e in await views.events_after(engine.db, job_id, 0)}:
            await asyncio.sleep(0.05)


async def test_a_cancelled_job_is_recorded_as_cancelled_and_keeps_what_it_found(
    engine: Engine, players: Players, tools: ScriptedTools
) -> None:
    players.plan = plan(tool("T1", query="a"), tool("T2", "T1", query="b"), final("T3", "T2"))

    def part(asked: Asked) -> Reply:
        is_second = asked.task["arguments"]["query"] == "b"
        return Reply.of(extraction("found", 0.9)(asked), delay=20 if is_second else 0)

    players.parts["extractor"] = part
    tools.answers = lambda argument: f"found {argument}"
    job_id = await engine.submit("Who?")
    await under_way(engine, job_id, "task.done")

    await engine.temporal.get_workflow_handle(job_id).cancel()
    job = await engine.holdfast.wait(job_id, timedelta(seconds=20))

    assert (job.status, job.stop_reason) == (JobStatus.CANCELLED, StopReason.CANCELLED)
    shown = await engine.holdfast.show(job_id)
    assert {task.id: task.status for task in shown.tasks} == {
        "T1": "done", "T2": "cancelled", "T3": "cancelled",
    }  # fmt: skip
    assert shown.tasks[0].entities == {"value": "found"}


async def test_a_job_that_is_cancelled_before_it_began_is_recorded_as_cancelled(
    engine: Engine, players: Players
) -> None:
    players.plan = plan(tool("T1"), final("T2", "T1"))
    job_id = await engine.submit("Who?", start_delay=timedelta(seconds=1))

    await engine.temporal.get_workflow_handle(job_id).cancel()
    job = await engine.holdfast.wait(job_id, timedelta(seconds=20))

    assert (job.status, job.stop_reason) == (JobStatus.CANCELLED, StopReason.CANCELLED)


@pytest.mark.slow
async def test_waiting_for_a_job_whose_workflow_was_ended_from_outside_comes_to_an_end(
    engine: Engine, players: Players, tools: ScriptedTools
) -> None:
    players.plan = plan(tool("T1", query="a"), final("T2", "T1"))
    players.parts["extractor"] = lambda asked: Reply.of({}, delay=30)
    tools.answers = {"a": "found"}
    job_id = await engine.submit("Who?")
    await under_way(engine, job_id, "task.started")

    await engine.temporal.get_workflow_handle(job_id).terminate("by hand")

    with pytest.raises(ServiceDown, match="its workflow is terminated"):
        await engine.holdfast.wait(job_id, timedelta(seconds=30))


@pytest.mark.slow
@pytest.mark.conformance("BEY-04")
async def test_a_fault_of_ours_fails_the_task_within_seconds_and_leaves_no_content_in_history(
    engine: Engine, players: Players, tools: ScriptedTools
) -> None:
    """A row is refused: the driver's message holds the statement with all its values."""
    players.plan = plan(tool("T1", query="a"), final("T2", "T1"))
    tools.answers = {"a": SECRET}
    async with engine.db.writing() as connection:
        await connection.execute(text("alter table evidence add constraint never check (false)"))

    job = await engine.run("Who?", within_s=60, max_replans_per_task="0")

    assert (job.status, job.stop_reason) == ("failed", "replans_exhausted")
    assert "the worker's log has the details" in job.message
    history = (await history_of(engine.temporal, job.job_id)).to_json()
    assert SECRET not in history
    assert "insert into" not in history.lower()


@pytest.mark.slow
async def test_a_database_that_is_away_leaves_no_content_in_history(
    engine: Engine, players: Players, model: ScriptedModel, tools: ScriptedTools
) -> None:
    players.plan = plan(tool("T1", query="a"), final("T2", "T1"))
    tools.answers = {"a": SECRET}

    def part(asked: Asked) -> object:
        return Reply.of(extraction("confidential", 0.9)(asked), delay=0.5)

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
    assert SECRET not in (await history_of(engine.temporal, job_id)).to_json()


async def test_a_finished_job_is_not_started_again_by_its_key(
    engine: Engine, players: Players, tools: ScriptedTools
) -> None:
    players.plan, tools.answers = plan(tool("T1", query="a"), final("T2", "T1")), {"a": "Ada"}
    job = await engine.run("Who?")
    request = (await jobs.load(engine.db, job.job_id)).request
    async with engine.db.writing() as connection:
        await connection.execute(text("update jobs set request_key = 'mine'"))
    await engine.temporal.workflow_service.delete_workflow_execution(_deletion(engine, job.job_id))

    again = await engine.holdfast.submit(request, key="mine")

    assert again == job.job_id
    assert (await jobs.load(engine.db, again)).status is JobStatus.DONE


def _deletion(engine: Engine, job_id: str):
    from temporalio.api.common.v1 import WorkflowExecution
    from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest

    execution = WorkflowExecution(workflow_id=job_id)
    return DeleteWorkflowExecutionRequest(
        namespace=engine.temporal.namespace, workflow_execution=execution
    )


async def test_a_database_without_the_schema_is_said_to_be_one(engine: Engine) -> None:
    async with engine.db.writing() as connection:
        await connection.execute(text("alter table jobs rename to mislaid"))

    with pytest.raises(BadConfiguration, match="run `holdfast up`"):
        await jobs.load(engine.db, "job-1")


async def test_a_tool_that_may_not_be_repeated_is_not_called_again_after_its_error(
    engine: Engine, tools: ScriptedTools
) -> None:
    """The worker died between the tool's error and the task's outcome."""
    job_id = await engine.submit("Who?", start_delay=timedelta(hours=1))
    bench = Bench(
        Ledger(engine.db), engine.parts.hub, job_id, "T1", 1, facts={}, timeout=timedelta(seconds=9)
    )
    with pytest.raises(ToolFailed, match="no page for"):
        await bench.call("lab.note", {"text": "once"})

    with pytest.raises(ToolFailed, match="no page for"):
        await bench.call("lab.note", {"text": "once"})

    assert tools.called == [("note", "once")]
