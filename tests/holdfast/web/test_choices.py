"""Tests that the page shows what its reader chose last, and says that it loads it."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, Page, Route, expect

from holdfast.web.rendering.page_templates import STATIC_FOLDER

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

_PAGE = """<!doctype html><title>A job</title><script type="module" src="/live.js"></script>
<div {watched} hidden></div><a data-choose="panel" href="/?task=T1">T1</a>
<a data-choose="panel" href="/?task=T2">T2</a><aside id="panel" data-live>{shown}</aside>"""
_WATCHED = (
    'data-events="/events" data-entries="/newest" data-after="0" data-kinds="x" data-over="no"'
)


class HeldAnswers:
    """The answers of a server that a test holds back, by path and query."""

    def __init__(self, watched: str = "") -> None:
        self.held: Mapping[str, asyncio.Event] = {}
        self.asked: list[str] = []
        self.watched = watched

    async def answer(self, route: Route) -> None:
        """Answer as the server of a job's page does."""
        parts = urlsplit(route.request.url)
        if parts.path == "/live.js":
            script = (STATIC_FOLDER / "live.js").read_text()
            await route.fulfill(content_type="text/javascript", body=script)
        elif parts.path in ("/events", "/newest"):
            await route.fulfill(status=503, content_type="text/html", body="")
        else:
            self.asked.append(parts.query)
            held = self.held.get(parts.query)
            if held is not None and len(self.asked) > 1:  # never the page itself
                await held.wait()
            shown = parts.query or "nothing chosen"
            body = _PAGE.format(watched=self.watched, shown=shown)
            await route.fulfill(content_type="text/html", body=body)


async def _opened(browser: Browser, answers: HeldAnswers) -> Page:
    page = await browser.new_page()
    await page.route("**/*", answers.answer)
    await page.goto("http://page.test/")
    return page


@pytest.fixture
def answers() -> HeldAnswers:
    return HeldAnswers()


@pytest.fixture
async def page(browser: Browser, answers: HeldAnswers) -> AsyncIterator[Page]:
    page = await _opened(browser, answers)
    yield page
    await page.unroute_all(behavior="ignoreErrors")
    await page.close()


@pytest.mark.long
async def test_a_choice_that_takes_long_says_so(page: Page, answers: HeldAnswers) -> None:
    first = asyncio.Event()
    answers.held = {"task=T1": first}
    await page.get_by_text("T1").click()
    await expect(page.get_by_role("status")).to_have_text("Loading what you chose…")
    first.set()

    await expect(page.locator("#panel")).to_have_text("task=T1")
    await expect(page.get_by_role("status")).to_have_count(0)


async def test_the_last_choice_counts_whichever_answer_comes_first(
    page: Page, answers: HeldAnswers
) -> None:
    first = asyncio.Event()
    answers.held = {"task=T1": first}
    await page.get_by_text("T1").click()
    await page.get_by_text("T2").click()
    await expect(page.locator("#panel")).to_have_text("task=T2")
    async with page.expect_response("**/?task=T1"):
        first.set()
    await page.wait_for_load_state("networkidle")

    assert await page.locator("#panel").inner_text() == "task=T2"
    assert page.url.endswith("?task=T2")


@pytest.mark.long
async def test_a_choice_stays_when_an_update_that_was_asked_before_comes_after(
    browser: Browser,
) -> None:
    answers, before = HeldAnswers(_WATCHED), asyncio.Event()
    answers.held = {"": before}
    page = await _opened(browser, answers)
    async with asyncio.timeout(60):
        while answers.asked != ["", ""]:  # the page, and its first update
            await asyncio.sleep(0.02)
    await page.get_by_text("T1").click()
    await expect(page.locator("#panel")).to_have_text("task=T1")
    seen = """() => { window.seen = []; const panel = document.getElementById("panel");
        new MutationObserver(() => window.seen.push(panel.textContent)).observe(panel, {childList: true}); }"""
    await page.evaluate(seen)
    before.set()
    async with page.expect_response("**/?task=T1"):
        pass

    assert "nothing chosen" not in await page.evaluate("window.seen")
    await page.unroute_all(behavior="ignoreErrors")
    await page.close()
