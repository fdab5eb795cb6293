"""An engine that only submits and looks, and worker processes beside it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from temporalio.client import Client

from tests.durability.processes import Workers
from tests.support.engine import Engine, running_engine
from tests.support.scripted_model import ScriptedModel
from tests.support.scripted_tools import ScriptedTools


@pytest.fixture
async def client_side(
    temporal: Client, database_url: str, tmp_path: Path, model: ScriptedModel, tools: ScriptedTools
) -> AsyncIterator[Engine]:
    """An engine whose own worker does not poll."""
    async with running_engine(
        temporal, database_url, tmp_path, model_url=model.url, tools_url=tools.url, polls=False
    ) as engine:
        yield engine


@pytest.fixture
async def workers(client_side: Engine, tmp_path: Path) -> AsyncIterator[Workers]:
    workers = Workers(client_side, tmp_path)
    yield workers
    workers.end()
