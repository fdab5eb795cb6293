"""The labs that tests of the hub share, and those they may kill."""

from collections.abc import AsyncIterator

import pytest

from tests.tools.labs import HttpLab, hub_of, stdio_server
from tools.hub import Hub


@pytest.fixture(scope="session")
async def http_lab() -> AsyncIterator[HttpLab]:
    """A lab that tests share, so they must leave it alive."""
    lab = HttpLab()
    await lab.start()
    yield lab
    await lab.kill()


@pytest.fixture
async def mortal_lab() -> AsyncIterator[HttpLab]:
    """A lab of one's own, to kill."""
    lab = HttpLab()
    await lab.start()
    yield lab
    await lab.kill()


@pytest.fixture(scope="session")
async def hub(http_lab: HttpLab) -> AsyncIterator[Hub]:
    """Both labs and the raw server behind one hub, for tests that break no connection."""
    bind = {"collection": "corpus"}
    servers = {
        "pipe": stdio_server("lab.py", bind=bind, max_bytes=10_000),
        "web": http_lab.config(bind=bind, max_bytes=1_000_000),
        "raw": stdio_server("raw.py"),
    }
    async with hub_of(servers) as opened:
        await opened.signatures()
        yield opened
