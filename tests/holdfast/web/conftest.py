"""Fixtures of the page's tests: a browser for each file, a profile for each test, the server."""

from collections.abc import AsyncIterator, Iterator

import pytest
from playwright.async_api import Browser

from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.browser import Reader, open_browser, signed_in
from tests.support.services.http_service import HttpService


@pytest.fixture(scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with open_browser() as browser:
        yield browser


@pytest.fixture
def serving(engine: RunningEngine) -> Iterator[HttpService]:
    """The server next to a worker with the scripted model and tools."""
    with HttpService(engine.holdfast, writes=True) as serving:
        yield serving


@pytest.fixture
async def reader(browser: Browser, serving: HttpService) -> AsyncIterator[Reader]:
    async with signed_in(browser, serving) as reader:
        yield reader
        assert reader.complaints == []
