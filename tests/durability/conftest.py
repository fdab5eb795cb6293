"""Fixtures of the durability tests: an engine that only submits jobs, and worker processes."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.durability.worker_launcher import WorkerLauncher
from tests.support.jobs.running_engine import RunningEngine


@pytest.fixture
def client_side(scripted_engine: RunningEngine) -> RunningEngine:
    return scripted_engine


@pytest.fixture
async def workers(client_side: RunningEngine, tmp_path: Path) -> AsyncIterator[WorkerLauncher]:
    workers = WorkerLauncher(client_side, tmp_path)
    yield workers
    workers.end()
