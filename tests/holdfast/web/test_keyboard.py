"""Tests that a question is asked, followed and read with the keyboard alone."""

import re

import pytest
from playwright.async_api import Locator, Page, expect

from tests.support.endpoints.scripted_roles import ScriptedRoles, extractor_script
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.services.browser import Reader
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]
MOST_STEPS = 120
WITHIN_MS = 60_000


async def tab_to(page: Page, target: Locator) -> None:
    """Press Tab until the element has the focus, and shows that it has."""
    for _ in range(MOST_STEPS):
        await page.keyboard.press("Tab")
        if await target.evaluate("each => each === document.activeElement"):
            assert await target.evaluate("each => each.matches(':focus-visible')")
            return
    pytest.fail("Tab never comes to it")


@pytest.mark.conformance("WEB-07")
async def test_the_keyboard_leads_from_a_question_to_the_passage_behind_its_answer(
    reader: Reader, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    tools.answers = lambda argument: f"Before it. found {argument} After it."
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    players.parts["extractor"] = extractor_script("found a", 0.9, quote="found a")
    page = reader.page
    await reader.goto("/?model=scripted&preset=kpi-chain")

    await tab_to(page, page.get_by_label("Question", exact=True))
    await page.keyboard.type("Who built the pier?")
    await tab_to(page, page.get_by_role("button", name="Ask", exact=True))
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(re.compile("/jobs/job-"), timeout=WITHIN_MS)
    await expect(page.locator("#now")).to_contain_text("Read the report", timeout=WITHIN_MS)
    await tab_to(page, page.get_by_role("link", name="Read the report"))
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(re.compile("/report$"), timeout=WITHIN_MS)
    await tab_to(page, page.locator("article sup a").first)
    await page.keyboard.press("Enter")

    await expect(page.locator("#source mark")).to_have_text("found a", timeout=WITHIN_MS)
    assert await page.evaluate("document.activeElement.id") == "source"
