"""Make the pictures of docs/page.md: `python -m tests.support.documentation.page_pictures`.

A home of its own has one job in each state: a research over the demo's documents, with a scripted
model in place of a hosted one. The worker is killed in the middle of the answered job.
"""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

from playwright.async_api import Page
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from holdfast.services.service_lifecycle import stop_services
from tests.durability.worker_launcher import WorkerLauncher, kill_worker
from tests.support.endpoints.scripted_model import ScriptedModel
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.page_states import QUESTION, PageStates
from tests.support.jobs.running_engine import running_engine
from tests.support.services.browser import Reader, open_browser, signed_in
from tests.support.services.http_service import HttpService
from tests.support.services.service_installation import ServiceInstallation
from tests.support.tools.scripted_tools import ScriptedTools

_FOLDER = Path(__file__).parents[3] / "docs" / "pictures"
_WIDE, _NARROW, _HEIGHT = 1440, 360, 900
_MODEL = "model-x"
_PRICES = f'[prices."{_MODEL}"]\ninput = 0.6\noutput = 2.4\n'
_PATHS = r"(/[\w.-]+){2,}"
_HIDE_PATHS = """pattern => document.querySelectorAll("td.long").forEach(cell => {
  cell.textContent = cell.textContent.replace(new RegExp(pattern, "g"), "/…") })"""
"""Paths of this machine say nothing to a reader."""
_STATES: Mapping[str, tuple[str, str]] = {
    "page-progress": ("answered", "?task=T3"),
    "page-running": ("running", "?task=T4"),
    "page-waiting": ("waiting", ""),
    "page-paused": ("paused", ""),
    "page-failed": ("failed", ""),
    "page-no-answer": ("no-answer", "/report"),
    "page-unsure": ("unsure", "/report?mark=1"),
    "page-report": ("answered", "/report?mark=1"),
}


async def main() -> None:
    """Write every picture."""
    async with _states() as (states, serving), open_browser() as browser:
        jobs = await states.make_all()
        size = {"width": _WIDE, "height": _HEIGHT}
        async with signed_in(browser, serving, viewport=size) as reader:
            for name, (state, path) in _STATES.items():
                await _take(reader, f"/jobs/{jobs[state]}{path}", name)
            await _take(reader, "/jobs", "page-jobs")
            await reader.goto("/health")
            await reader.page.evaluate(_HIDE_PATHS, _PATHS)
            await _save(reader.page, "page-health")
            await reader.page.emulate_media(color_scheme="dark")
            await reader.goto(f"/?model={_MODEL}&preset=kpi-chain")
            await reader.page.get_by_label("Question", exact=True).fill(QUESTION)
            await _save(reader.page, "page-ask-dark")
            await _take(reader, f"/jobs/{jobs['running']}", "page-running-dark")
            await reader.page.emulate_media(color_scheme="light")
            await reader.page.set_viewport_size({"width": _NARROW, "height": _HEIGHT})
            await _take(reader, f"/jobs/{jobs['answered']}/report", "page-report-narrow")
            await _take(reader, f"/jobs/{jobs['running']}", "page-running-narrow")
        await states.close()


@asynccontextmanager
async def _states() -> AsyncIterator[tuple[PageStates, HttpService]]:
    """Services, a supervised worker, the scripted model and tools, and the page's server."""
    players = ScriptedRoles()
    with (
        tempfile.TemporaryDirectory(prefix="hf") as home,
        tempfile.TemporaryDirectory(prefix="hf") as folder,
        ScriptedModel(players) as model,
        ScriptedTools() as tools,
    ):
        parts = Path(folder)
        installation = ServiceInstallation(Path(home, "home"))
        os.environ["HOLDFAST_HOME"] = str(installation.home)  # which the page of the health reads
        endpoints = await installation.up(worker=True)
        temporal = await Client.connect(
            endpoints.temporal_address, data_converter=pydantic_data_converter
        )
        try:
            async with running_engine(
                temporal,
                endpoints.database_url,
                parts,
                model_url=model.url,
                tools_url=tools.url,
                polls=False,
                toml=_PRICES,
            ) as engine:
                with ExitStack() as ends:
                    workers = WorkerLauncher(engine, parts)
                    ends.callback(workers.end)
                    supervisor = await workers.start("--supervise")
                    states = PageStates(engine, players, model, model_name=_MODEL)
                    states.interrupt = lambda: kill_worker(supervisor)
                    yield states, ends.enter_context(HttpService(engine.holdfast, writes=True))
        finally:
            await asyncio.to_thread(stop_services, installation.settings)


async def _take(reader: Reader, path: str, name: str) -> None:
    await reader.goto(path)
    await _save(reader.page, name)


async def _save(page: Page, name: str) -> None:
    await page.screenshot(path=_FOLDER / f"{name}.png")


if __name__ == "__main__":
    asyncio.run(main())
