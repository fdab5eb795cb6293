"""Drive Debian's Chromium through Playwright, signed in at a server of the test."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, Error, Page, async_playwright, expect

from holdfast.web.access.page_links import make_link_token
from tests.support.services.http_service import HttpService

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_STARTS, _START_WITHIN_S = 3, 60
_PATIENCE_MS = 60_000
"""A busy machine takes longer for a page than Playwright's 5 seconds."""
_INSTALL = ("apt-get", "install", "-y", "-q", "chromium")


def chromium() -> str:
    """The path of Chromium; in CI it is installed, elsewhere the test is skipped without it."""
    found = _find()
    if found is None and os.environ.get("CI") and shutil.which("apt-get") and os.geteuid() == 0:
        subprocess.run(("apt-get", "update", "-q"), check=False, capture_output=True)
        subprocess.run(_INSTALL, check=True, capture_output=True)
        found = _find()
    if found is None and os.environ.get("CI"):
        pytest.fail("CI needs Chromium for the tests of the page: apt-get install -y chromium")
    if found is None:
        pytest.skip("no Chromium here; install it with: apt-get install -y chromium")
    return found


def _find() -> str | None:
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


@asynccontextmanager
async def open_browser() -> AsyncIterator[Browser]:
    """A Chromium that ends with the block."""
    path = chromium()
    expect.set_options(timeout=_PATIENCE_MS)
    async with AsyncExitStack() as stack:
        yield await _launch(stack, path)


async def _launch(stack: AsyncExitStack, path: str) -> Browser:
    """A Chromium that the stack closes; a start that hangs is given up and tried again."""
    for tries_left in reversed(range(_STARTS)):
        try:
            # Playwright bounds the start of Chromium, but not that of its own driver.
            async with asyncio.timeout(_START_WITHIN_S), AsyncExitStack() as started:
                playwright = await started.enter_async_context(async_playwright())
                browser = await playwright.chromium.launch(
                    executable_path=path, args=["--no-sandbox"]
                )
                started.push_async_callback(browser.close)
                await stack.enter_async_context(started.pop_all())
                return browser
        except (TimeoutError, Error):
            if not tries_left:
                raise
    raise AssertionError("the last try returns or raises")


@dataclass
class Reader:
    """A browser's tab that is signed in, and what its console and network said."""

    page: Page
    url: str
    complaints: list[str]

    async def goto(self, path: str) -> None:
        await self.page.goto(f"{self.url}{path}")

    async def check_accessible(self) -> None:
        """Axe finds nothing, and nothing is wider than the window."""
        results = await Axe().run(self.page)
        found = [
            f"{each['id']}: {target['html'][:160]}"
            for each in results.response["violations"]
            for target in each["nodes"]
        ]
        assert found == [], "\n".join(found)
        wide = await self.page.evaluate(
            "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        )
        assert not wide, "the page scrolls sideways"


@asynccontextmanager
async def signed_in(
    browser: Browser, serving: HttpService, **options: Any
) -> AsyncIterator[Reader]:
    """A tab of its own profile, signed in with a one-time address."""
    context = await browser.new_context(**options)
    context.set_default_timeout(_PATIENCE_MS)
    page = await context.new_page()
    reader = Reader(page, serving.url, [])
    page.on(
        "console",
        lambda message: reader.complaints.append(message.text) if message.type == "error" else None,
    )
    page.on("pageerror", lambda error: reader.complaints.append(str(error)))
    page.on("dialog", lambda dialog: reader.complaints.append(f"dialog {dialog.message}"))
    await reader.goto(f"/open?token={make_link_token(serving.token)}")
    try:
        yield reader
    finally:
        await context.close()
