"""Tests for the pages of collections, models, spend and health."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.browser import Reader, signed_in
from tests.support.services.http_service import HttpService

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

WITHIN_MS = 30_000


@pytest.mark.conformance("WEB-06")
async def test_a_collection_is_filled_searched_and_emptied_without_scripts(
    browser: Browser, serving: HttpService, tmp_path: Path
) -> None:
    file = tmp_path / "pier.md"
    file.write_text("# The pier\n\nThe pier was built by Orlan Treave in 1868.\n")
    async with signed_in(browser, serving, java_script_enabled=False) as reader:
        page, main = reader.page, reader.page.locator("main")
        await reader.goto("/collections")
        await page.get_by_label("A new collection").fill("harbour notes")
        await page.get_by_role("button", name="Open it").click()
        await page.get_by_label("Files").set_input_files(file)
        await page.get_by_label("Language").select_option("German")
        await page.get_by_role("button", name="Add", exact=True).click()
        # The page asks again by itself until the files are read.
        await expect(main).to_contain_text("1 document", timeout=WITHIN_MS)
        await expect(main).to_contain_text("words in German")
        await expect(page.get_by_label("Language")).to_contain_text("keep German")
        await page.get_by_role("searchbox").fill("Treave")
        await page.get_by_role("button", name="Search").click()
        await expect(main.locator(".doc")).to_contain_text("built by Orlan Treave in 1868")
        await page.get_by_role("button", name="Remove pier.md").click()
        await expect(main).to_contain_text("The collection has no document yet")


@pytest.mark.conformance("WEB-07")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.long
async def test_the_pages_of_the_installation_are_accessible(
    scheme: str, engine: RunningEngine, reader: Reader
) -> None:
    await engine.add_document("pier", "The pier was built in 1868.")
    await reader.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # a word
    for width in (1440, 360):
        await reader.page.set_viewport_size({"width": width, "height": 800})
        for path in ("/collections", "/collections/pier?q=pier", "/models", "/spend", "/health"):
            await reader.goto(path)
            await reader.check_accessible()


async def test_spend_and_health_are_for_administrators(
    browser: Browser, serving: HttpService
) -> None:
    async with serving.client() as client:
        body = {"name": "laptop", "owner": "maria", "scopes": ["read"]}
        key = (await client.post("/keys", json=body)).json()["key"]
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(f"{serving.url}/spend")
    await page.get_by_label("Or use an API key").fill(key)
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("alert")).to_contain_text("admin")
    answer = await page.goto(f"{serving.url}/health")
    assert answer is not None
    assert answer.status == 403
    await context.close()
