"""Tests that the page of a job goes on by itself while the worker behind it is killed."""

import pytest
from playwright.async_api import expect

from tests.durability.worker_launcher import WorkerLauncher, kill_worker
from tests.support.endpoints.scripted_model import ScriptedModel
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.page_states import ANSWER, QUESTION, PageStates
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.browser import open_browser, signed_in
from tests.support.services.http_service import HttpService

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]
WITHIN_MS = 120_000


@pytest.mark.conformance("WEB-02")
async def test_a_page_shows_the_answer_and_the_receipt_after_its_worker_was_killed(
    client_side: RunningEngine,
    workers: WorkerLauncher,
    players: ScriptedRoles,
    model: ScriptedModel,
) -> None:
    states = PageStates(client_side, players, model)
    await states.add_documents()
    supervisor = await workers.start("--supervise")
    with HttpService(client_side.holdfast, writes=True) as serving:
        async with open_browser() as browser, signed_in(browser, serving) as reader:
            job_id = await states.at_work(QUESTION)
            await reader.goto(f"/jobs/{job_id}")
            now = reader.page.locator("#now")
            await expect(now).to_contain_text("2 of 6 tasks", timeout=WITHIN_MS)
            await reader.page.evaluate("window.isTheSamePage = true")

            await kill_worker(supervisor)
            await states.close()

            await expect(now).to_contain_text(ANSWER, timeout=WITHIN_MS)
            await expect(now).to_contain_text("Crash receipt 1.", timeout=WITHIN_MS)
            assert await reader.page.evaluate("window.isTheSamePage")
            assert reader.complaints == []
