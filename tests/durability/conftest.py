"""An engine that only submits and looks, and worker processes beside it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.durability.processes import Workers
from tests.support.engine import Engine


@pytest.fixture
def client_side(scripted_engine: Engine) -> Engine:
    return scripted_engine


@pytest.fixture
async def workers(client_side: Engine, tmp_path: Path) -> AsyncIterator[Workers]:
    workers = Workers(client_side, tmp_path)
    yield workers
    workers.end()
