"""Tests that jobs survive what happens to a real Temporal cluster on PostgreSQL.

The cluster is built by `make cluster-build`, which takes minutes; without it, these are skipped.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from holdfast.models.jobs.job_record import JobStatus
from holdfast.storage.core.schema_migration import migrate_schema
from holdfast.storage.views.job_queries import job_calls
from tests.durability.worker_launcher import WorkerLauncher
from tests.support.endpoints.scripted_model import ScriptedModel
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.running_engine import RunningEngine, running_engine
from tests.support.jobs.slow_chain import script_slow_chain
from tests.support.services.temporal_cluster import (
    SERVICES,
    TemporalCluster,
    is_built,
    temporal_cluster,
)
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.timeout(900),
    pytest.mark.conformance("OPS-01"),
    pytest.mark.skipif(not is_built(), reason="`make cluster-build` was not run"),
]


@pytest.fixture(scope="module")
async def cluster(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[TemporalCluster]:
    async with temporal_cluster(tmp_path_factory.mktemp("cluster")) as (cluster, _):
        yield cluster


@pytest.fixture
async def submitting(
    cluster: TemporalCluster, tmp_path: Path, model: ScriptedModel, tools: ScriptedTools
) -> AsyncIterator[RunningEngine]:
    """An engine that only submits, with its database on the cluster's PostgreSQL."""
    client = await cluster._prepared()
    name = f"holdfast_{tmp_path.name[-20:].strip('_').lower().replace('-', '_')}"
    cluster.postgres.execute(f"create database {name}")
    url = cluster.postgres.url(name, "postgresql+psycopg")
    await asyncio.to_thread(migrate_schema, url)
    async with running_engine(
        client, url, tmp_path, model_url=model.url, tools_url=tools.url, polls=False
    ) as engine:
        yield engine


@pytest.fixture
async def workers(submitting: RunningEngine, tmp_path: Path) -> AsyncIterator[WorkerLauncher]:
    workers = WorkerLauncher(submitting, tmp_path)
    yield workers
    workers.end()


async def until_calls(engine: RunningEngine, job_id: str, number: int) -> None:
    async with asyncio.timeout(300):
        while len(await job_calls(engine.db, job_id)) < number:
            await asyncio.sleep(0.1)


async def sent(engine: RunningEngine, job_id: str) -> list[int]:
    return [call.sends for call in await job_calls(engine.db, job_id)]


async def test_a_job_pays_once_while_each_service_dies_in_turn(
    cluster: TemporalCluster,
    submitting: RunningEngine,
    workers: WorkerLauncher,
    players: ScriptedRoles,
    tools: ScriptedTools,
) -> None:
    script_slow_chain(players, tools, steps=8, delay_s=1.0)
    await workers.start("--supervise")
    job_id = await submitting.submit("Who keeps the light?")

    for number, service in enumerate(SERVICES, start=1):
        await until_calls(submitting, job_id, 2 * number)
        cluster.kill_service(service)
        cluster.start_service(service)
    job = await submitting.holdfast.wait(job_id)

    assert job.status is JobStatus.DONE
    assert set(await sent(submitting, job_id)) == {1}


async def test_a_job_goes_on_after_its_database_and_the_clusters_were_away(
    cluster: TemporalCluster,
    submitting: RunningEngine,
    workers: WorkerLauncher,
    players: ScriptedRoles,
    tools: ScriptedTools,
) -> None:
    script_slow_chain(players, tools, steps=8, delay_s=1.0)
    await workers.start("--supervise")
    job_id = await submitting.submit("Who keeps the light?")
    await until_calls(submitting, job_id, 4)

    cluster.postgres.stop()
    await asyncio.sleep(60)  # the outage itself
    cluster.postgres.start()
    job = await submitting.holdfast.wait(job_id)

    assert job.status is JobStatus.DONE
    assert set(await sent(submitting, job_id)) == {1}


async def test_a_job_goes_on_from_postgresql_when_an_empty_cluster_takes_the_place_of_its_own(
    cluster: TemporalCluster,
    submitting: RunningEngine,
    workers: WorkerLauncher,
    players: ScriptedRoles,
    tools: ScriptedTools,
) -> None:
    script_slow_chain(players, tools, steps=8, delay_s=1.0)
    await workers.start("--supervise")
    job_id = await submitting.submit("Who keeps the light?")
    await until_calls(submitting, job_id, 6)

    await cluster.replace_by_empty()
    job = await submitting.holdfast.wait(job_id)

    calls = await job_calls(submitting.db, job_id)
    assert job.status is JobStatus.DONE
    assert {(call.status, call.sends) for call in calls} == {("done", 1)}
