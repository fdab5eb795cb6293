"""Fixtures of the durability tests: an engine that only submits jobs, and worker processes."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from temporalio.client import Client

from tests.durability.worker_launcher import WorkerLauncher
from tests.support.endpoints.scripted_model import ScriptedModel
from tests.support.jobs.running_engine import RunningEngine, running_engine
from tests.support.services.restartable_postgres import RestartablePostgres, restartable_postgres
from tests.support.tools.scripted_tools import ScriptedTools


@pytest.fixture
def client_side(scripted_engine: RunningEngine) -> RunningEngine:
    return scripted_engine


@pytest.fixture
async def workers(client_side: RunningEngine, tmp_path: Path) -> AsyncIterator[WorkerLauncher]:
    workers = WorkerLauncher(client_side, tmp_path)
    yield workers
    workers.end()


@pytest.fixture(scope="module")
def server() -> Iterator[RestartablePostgres]:
    """A PostgreSQL that a test may kill and start again."""
    with restartable_postgres() as server:
        yield server


@pytest.fixture
async def engine_on_server(
    server: RestartablePostgres,
    temporal: Client,
    tmp_path: Path,
    model: ScriptedModel,
    tools: ScriptedTools,
) -> AsyncIterator[RunningEngine]:
    """A worker whose PostgreSQL is that `server`."""
    async with running_engine(
        temporal, server.url, tmp_path, model_url=model.url, tools_url=tools.url
    ) as engine:
        yield engine
