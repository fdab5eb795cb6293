"""Tests that Temporal shows a job as it is: its question in the list, its end as the status."""

import dataclasses
from collections.abc import Sequence
from datetime import timedelta

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError
from temporalio.converter import PayloadCodec
from temporalio.exceptions import ApplicationError

from holdfast.jobs.job_controller import JobController
from holdfast.models.jobs.job_record import JobStatus
from holdfast.models.jobs.job_state import JobState, TaskState
from holdfast.models.plans.research_plan import TaskKind, TaskStatus
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.storage.jobs import job_rows
from holdfast.temporal.workflow_handle import wait_until_closed
from holdfast.temporal.workflow_start import start_workflow
from holdfast.workflows.temporal_display import plan_table
from tests.engine.control.test_job_controls import (
    THREE,
    delay_extraction,
    fail_extractions,
    start_delayed_job,
)
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

SECONDS = timedelta(seconds=30)


@pytest.fixture
def controller(engine: RunningEngine, tools: ScriptedTools) -> JobController:
    tools.answers = lambda argument: f"found {argument}"
    return JobController(engine.holdfast, "dana")


async def temporal_status(engine: RunningEngine, job_id: str) -> WorkflowExecutionStatus | None:
    """The status of the job's newest workflow run once it has closed."""
    await wait_until_closed(engine.temporal, job_id)
    return (await engine.temporal.get_workflow_handle(job_id).describe()).status


@pytest.mark.long
async def test_a_failed_job_closes_its_workflow_as_failed_with_the_reason_and_can_be_resumed(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles
) -> None:
    players.plan = THREE
    fail_extractions(players, 1)
    failed = await engine.run("Who?", max_replans_per_task="0")

    with pytest.raises(WorkflowFailureError) as closed:
        await engine.temporal.get_workflow_handle(failed.job_id).result()
    cause = closed.value.cause
    assert isinstance(cause, ApplicationError)
    assert (cause.type, cause.message) == ("replans_exhausted", failed.message)
    assert await temporal_status(engine, failed.job_id) is WorkflowExecutionStatus.FAILED

    await controller.resume(failed.job_id)
    job = await engine.holdfast.wait(failed.job_id, SECONDS)
    assert job.status is JobStatus.DONE
    assert await temporal_status(engine, failed.job_id) is WorkflowExecutionStatus.COMPLETED


@pytest.mark.long
async def test_a_cancelled_job_closes_its_workflow_as_cancelled_and_can_be_resumed(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles
) -> None:
    job_id = await start_delayed_job(engine, players, "b", 20, until="task.done")

    await controller.cancel(job_id)
    await engine.holdfast.wait(job_id, SECONDS)
    assert await temporal_status(engine, job_id) is WorkflowExecutionStatus.CANCELED

    delay_extraction("b", 0, players)
    await controller.resume(job_id)
    assert (await engine.holdfast.wait(job_id, SECONDS)).status is JobStatus.DONE
    assert await temporal_status(engine, job_id) is WorkflowExecutionStatus.COMPLETED


@pytest.mark.long
async def test_a_job_cancelled_in_temporal_closes_its_workflow_as_cancelled(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles
) -> None:
    job_id = await start_delayed_job(engine, players, "b", 20, until="task.done")

    await engine.temporal.get_workflow_handle(job_id).cancel()

    assert await temporal_status(engine, job_id) is WorkflowExecutionStatus.CANCELED
    assert (await job_rows.load_job(engine.db, job_id)).status is JobStatus.CANCELLED


async def test_a_run_that_starts_after_the_end_closes_as_the_job_ended(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles
) -> None:
    job_id = await start_delayed_job(engine, players, "b", 20, until="task.done")
    await controller.cancel(job_id)
    await engine.holdfast.wait(job_id, SECONDS)
    await wait_until_closed(engine.temporal, job_id)
    request = (await job_rows.load_job(engine.db, job_id)).request

    await start_workflow(engine.temporal, engine.holdfast.settings.task_queue, job_id, request)

    assert await temporal_status(engine, job_id) is WorkflowExecutionStatus.CANCELED


class _HidingCodec(PayloadCodec):
    """A codec under which no payload can be read."""

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [Payload(metadata={"encoding": b"hidden"}) for _ in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return list(payloads)


async def test_the_list_of_workflows_has_the_question_of_a_job(idle_engine: RunningEngine) -> None:
    job_id = await idle_engine.submit("Who keeps\nthe lantern house?")

    described = await idle_engine.temporal.get_workflow_handle(job_id).describe()

    attributes = {pair.key.name: pair.value for pair in described.typed_search_attributes}
    assert attributes["HoldfastQuestion"] == "Who keeps the lantern house?"


async def test_no_question_is_readable_in_temporal_under_a_payload_codec(
    idle_engine: RunningEngine,
) -> None:
    plain = idle_engine.temporal
    converter = dataclasses.replace(plain.data_converter, payload_codec=_HidingCodec())
    encoding = Client(**{**plain.config(), "data_converter": converter})
    hidden = dataclasses.replace(idle_engine, temporal=encoding)

    job_id = await hidden.submit("Who keeps the lantern house?")

    handle = plain.get_workflow_handle(job_id)
    described = (await handle.describe()).raw_description
    assert "lantern" not in str(described)
    assert "lantern" not in (await handle.fetch_history()).to_json()


def test_the_table_in_temporal_counts_no_superseded_task() -> None:
    def task(name: str, status: TaskStatus) -> TaskState:
        return TaskState(id=name, kind=TaskKind.TOOL, label=name, root=name, status=status)

    statuses = {"T1": TaskStatus.SUPERSEDED, "T1a": TaskStatus.DONE, "T2": TaskStatus.PENDING}
    tasks = {name: task(name, status) for name, status in statuses.items()}

    table = plan_table(JobState(strategy=Strategy(), tasks=tasks))

    assert table.startswith("**1 of 2 tasks done**")
    assert "↷ superseded | T1 |" in table
