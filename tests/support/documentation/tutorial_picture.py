"""Make the picture of docs/tutorial.md: `python -m tests.support.documentation.tutorial_picture`.

The picture shows the running installation of HOLDFAST_HOME after the tutorial's first question.
"""

import asyncio
from pathlib import Path

from playwright.async_api import async_playwright

from holdfast.client import open_client
from holdfast.jobs.job_lookup import newest_jobs
from holdfast.models.jobs.job_filter import JobFilter
from holdfast.services.service_lifecycle import attach_to_services
from holdfast.settings import load_settings
from holdfast.web.page_address import page_address
from tests.support.services.browser import chromium

_FOLDER = Path(__file__).parents[3] / "docs" / "pictures"
_NAME = "tutorial-report"
_WIDTH, _HEIGHT = 1440, 900


async def main() -> None:
    """Write the picture of the newest answered job."""
    settings = load_settings()
    endpoints = await attach_to_services(settings)
    async with open_client(settings, endpoints) as holdfast:
        (job, *_) = await newest_jobs(holdfast, JobFilter(status="done", preset="research"))
        address = await page_address(settings)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox"]
        )
        page = await browser.new_page(viewport={"width": _WIDTH, "height": _HEIGHT})
        await page.goto(address)
        base = address.partition("/open")[0]
        await page.goto(f"{base}/jobs/{job.job_id}/report?mark=2")
        await page.screenshot(path=_FOLDER / f"{_NAME}.png")
        await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
