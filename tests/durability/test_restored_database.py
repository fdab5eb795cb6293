"""Tests that jobs begin again by themselves from a PostgreSQL that was restored from a backup."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from holdfast.jobs.job_controller import JobController
from holdfast.models.jobs.job_record import JobStatus
from holdfast.roles.planning.planner import PLANNER
from holdfast.services.worker.lost_workflow_start import LostWorkflowStart
from holdfast.services.worker.restored_database_check import signal_idle_workflows
from holdfast.storage.jobs import job_rows
from holdfast.storage.views import job_queries
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles, extractor_script
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.database_backup import DatabaseBackup
from tests.support.tools.scripted_tools import ScriptedTools

_CHAIN = plan(
    lookup_task("T1", query="a"),
    lookup_task("T2", "T1", query="b"),
    lookup_task("T3", "T2", query="c"),
    final_task("T4", "T3"),
)
_HELD_S = 600.0


@pytest.fixture
def chain(players: ScriptedRoles, tools: ScriptedTools) -> "HeldExtractions":
    players.plan = _CHAIN
    tools.answers = lambda argument: f"found {argument}"
    held = HeldExtractions()
    players.parts["extractor"] = held
    return held


class HeldExtractions:
    """The extractor, who waits for the release of the model at the queries that are held."""

    def __init__(self) -> None:
        self.held: set[str] = set()
        self.asked: list[str] = []

    def __call__(self, asked: ReceivedRequest) -> ScriptedReply:
        query = asked.task["arguments"]["query"]
        self.asked.append(query)
        answer = extractor_script("found", 0.9)(asked)
        return ScriptedReply.of(answer, delay=_HELD_S if query in self.held else 0)

    async def wait_for(self, query: str) -> None:
        """Returns once the query was asked."""
        async with asyncio.timeout(30):
            while query not in self.asked:
                await asyncio.sleep(0.02)


async def _end_of(engine: RunningEngine, job_id: str) -> JobStatus:
    return (await engine.holdfast.wait(job_id, timedelta(seconds=60))).status


async def _kinds(engine: RunningEngine, job_id: str) -> list[tuple[str, str]]:
    log = await job_queries.events_after(engine.db, job_id, 0)
    assert [each.seq for each in log] == list(range(1, len(log) + 1))
    return [(each.kind, each.task) for each in log]


@pytest.mark.conformance("REL-06")
async def test_a_running_job_begins_again_from_a_postgresql_that_was_restored_under_it(
    engine: RunningEngine,
    chain: HeldExtractions,
    players: ScriptedRoles,
    model: ScriptedModel,
    database_url: str,
    tmp_path: Path,
) -> None:
    chain.held = {"b", "c"}
    job_id = await engine.submit("Who?")
    await chain.wait_for("b")
    backup = await asyncio.to_thread(DatabaseBackup.of, database_url, tmp_path)
    chain.held = {"c"}
    model.release()
    await chain.wait_for("c")
    await asyncio.to_thread(backup.restore)
    chain.held = set()
    model.release()

    assert await _end_of(engine, job_id) is JobStatus.DONE

    # What the backup has is kept; the call after it is paid again.
    assert players.count(PLANNER) == 1
    assert chain.asked == ["a", "b", "c", "b", "c"]
    kinds = await _kinds(engine, job_id)
    assert ("job.taken_over", "") in kinds
    assert [kinds.count(("task.done", f"T{n}")) for n in (1, 2, 3, 4)] == [1, 1, 1, 1]


@pytest.mark.conformance("REL-06")
async def test_a_paused_workflow_notices_that_postgresql_was_restored_to_before_the_pause(
    engine: RunningEngine,
    chain: HeldExtractions,
    model: ScriptedModel,
    database_url: str,
    tmp_path: Path,
) -> None:
    chain.held = {"a"}
    job_id = await engine.submit("Who?")
    await chain.wait_for("a")
    backup = await asyncio.to_thread(DatabaseBackup.of, database_url, tmp_path)
    await JobController(engine.holdfast, "dana").pause(job_id)
    model.release()
    await _until_idle(engine, job_id)
    await asyncio.to_thread(backup.restore)
    chain.held = set()

    await signal_idle_workflows(engine.temporal, engine.holdfast.settings.task_queue)

    assert await _end_of(engine, job_id) is JobStatus.DONE


async def _until_idle(engine: RunningEngine, job_id: str) -> None:
    handle = engine.temporal.get_workflow_handle(job_id)
    async with asyncio.timeout(30):
        while (await handle.describe()).raw_description.pending_activities:
            await asyncio.sleep(0.05)


@pytest.mark.conformance("REL-06")
async def test_a_paused_job_whose_workflow_is_lost_stays_paused_until_a_person_resumes_it(
    engine: RunningEngine, chain: HeldExtractions, model: ScriptedModel
) -> None:
    chain.held = {"a"}
    job_id = await engine.submit("Who?")
    await chain.wait_for("a")
    controller = JobController(engine.holdfast, "dana")
    await controller.pause(job_id)
    model.release()
    await _until_idle(engine, job_id)
    chain.held = set()
    before = await job_rows.load_job(engine.db, job_id)
    await engine.temporal.get_workflow_handle(job_id).terminate("lost")

    await LostWorkflowStart(
        engine.temporal, engine.db, engine.holdfast.settings.task_queue
    ).start_all()
    async with asyncio.timeout(30):
        while (await _kinds(engine, job_id)).count(("job.taken_over", "")) == 0:
            await asyncio.sleep(0.05)
    await _until_idle(engine, job_id)

    found = await job_rows.load_job(engine.db, job_id)
    assert found.status is JobStatus.PAUSED
    assert found.epoch > before.epoch
    assert chain.asked == ["a"]
    assert ("job.resumed", "") not in await _kinds(engine, job_id)
    await controller.resume(job_id)
    assert await _end_of(engine, job_id) is JobStatus.DONE


@pytest.mark.conformance("REL-06")
async def test_a_job_whose_workflow_is_lost_is_started_again_and_a_living_one_is_left_alone(
    engine: RunningEngine, chain: HeldExtractions, players: ScriptedRoles, model: ScriptedModel
) -> None:
    chain.held = {"b"}
    job_id = await engine.submit("Who?")
    await chain.wait_for("b")
    starting = LostWorkflowStart(engine.temporal, engine.db, engine.holdfast.settings.task_queue)

    before = await job_rows.load_job(engine.db, job_id)
    await starting.start_all()
    assert await job_rows.load_job(engine.db, job_id) == before

    await engine.temporal.get_workflow_handle(job_id).terminate("lost")
    chain.held = set()
    await starting.start_all()
    model.release()

    assert await _end_of(engine, job_id) is JobStatus.DONE
    assert (await job_rows.load_job(engine.db, job_id)).epoch > before.epoch
    assert players.count(PLANNER) == 1
    assert chain.asked.count("a") == 1
