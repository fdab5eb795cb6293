"""Make the pictures of docs/page.md: `python -m tests.support.documentation.page_pictures`.

The pictures show the running installation of HOLDFAST_HOME; run `holdfast demo --crash` there first.
With the word `tutorial`, the picture of docs/tutorial.md, after its first question.
"""

import asyncio
import sys
from pathlib import Path

from playwright.async_api import Page, async_playwright

from holdfast.client import open_client
from holdfast.jobs.job_lookup import newest_jobs
from holdfast.models.jobs.job_filter import JobFilter
from holdfast.services.service_lifecycle import attach_to_services
from holdfast.settings import load_settings
from holdfast.web.page_address import page_address
from tests.support.services.browser import chromium

_FOLDER = Path(__file__).parents[3] / "docs" / "pictures"
_WIDTH, _HEIGHT = 1440, 900


async def main(*, tutorial: bool) -> None:
    """Write the pictures of the newest answered job of the installation."""
    settings = load_settings()
    endpoints = await attach_to_services(settings)
    preset = "research" if tutorial else "kpi-chain"
    async with open_client(settings, endpoints) as holdfast:
        (job, *_) = await newest_jobs(holdfast, JobFilter(status="done", preset=preset))
        view = await holdfast.show(job.job_id)
        address = await page_address(settings)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox"]
        )
        page = await browser.new_page(viewport={"width": _WIDTH, "height": _HEIGHT})
        await page.goto(address)
        base = address.partition("/open")[0]
        if tutorial:
            await _take(page, f"{base}/jobs/{job.job_id}/report?mark=2", "tutorial-report")
        else:
            task = next(each.id for each in view.tasks if each.entities)
            await _take(page, f"{base}/jobs/{job.job_id}?task={task}", "page-progress")
            await _take(page, f"{base}/jobs/{job.job_id}/report?mark=1", "page-report")
            await page.emulate_media(color_scheme="dark")
            await _take(page, base, "page-ask-dark")
        await browser.close()


async def _take(page: Page, address: str, name: str) -> None:
    await page.goto(address)
    await page.screenshot(path=_FOLDER / f"{name}.png")


if __name__ == "__main__":
    asyncio.run(main(tutorial="tutorial" in sys.argv[1:]))
