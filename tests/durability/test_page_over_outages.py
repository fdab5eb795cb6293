"""Tests that the page of a job says in words that PostgreSQL or Temporal is away, and goes on."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import expect
from temporalio.testing import WorkflowEnvironment

from tests.durability.held_answer import HeldAnswer
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine, running_engine
from tests.support.services.browser import Reader, open_browser, signed_in
from tests.support.services.http_service import HttpService
from tests.support.services.restartable_postgres import RestartablePostgres
from tests.support.services.temporal_dev_server import start_temporal
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(400),
    pytest.mark.conformance("WEB-02"),
]
WITHIN_MS = 120_000


async def open_job(reader: Reader, job_id: str) -> None:
    """Open the page of the job, marked so that a reload would show."""
    await reader.goto(f"/jobs/{job_id}")
    await expect(reader.page.locator("h1")).to_have_text("When?")
    await reader.page.evaluate("window.isTheSamePage = true")


async def test_a_page_says_that_postgres_is_away_and_shows_the_end_afterwards(
    engine_on_server: RunningEngine,
    server: RestartablePostgres,
    players: ScriptedRoles,
    tools: ScriptedTools,
) -> None:
    engine, held = engine_on_server, HeldAnswer(players._reasoner)
    tools.answers = lambda argument: f"found {argument}"
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    players.parts["reasoner"] = held
    with HttpService(engine.holdfast, writes=True) as serving:
        async with open_browser() as browser, signed_in(browser, serving) as reader:
            job_id = await engine.submit("When?")
            await held.asked()
            await open_job(reader, job_id)
            note, now = reader.page.locator("#connection"), reader.page.locator("#now")
            await expect(now).to_contain_text("1 of 2 tasks", timeout=WITHIN_MS)

            server.kill()
            await expect(note).to_contain_text("PostgreSQL", timeout=WITHIN_MS)
            await expect(note).to_contain_text("Nothing is lost")
            await expect(now).to_contain_text("1 of 2 tasks")
            held.may_answer.set()
            server.start()

            await expect(now).to_contain_text("Read the report", timeout=WITHIN_MS)
            await expect(now).to_contain_text("2 of 2 tasks")
            await expect(note).to_have_count(0, timeout=WITHIN_MS)
            await expect(reader.page.locator("#log")).to_contain_text("T2")
            assert await reader.page.evaluate("window.isTheSamePage")


@pytest.fixture
async def own_temporal() -> AsyncIterator[WorkflowEnvironment]:
    """A server that the test may end."""
    environment = await start_temporal()
    yield environment
    await environment.shutdown()


@pytest.mark.long
async def test_a_page_says_that_temporal_is_away_until_it_is_back(
    own_temporal: WorkflowEnvironment, database_url: str, tmp_path: Path
) -> None:
    """That the job itself goes on is what test_replaced_temporal.py shows."""
    address = own_temporal.client.service_client.config.target_host
    async with running_engine(own_temporal.client, database_url, tmp_path, polls=False) as engine:
        with HttpService(engine.holdfast, writes=True) as serving:
            async with open_browser() as browser, signed_in(browser, serving) as reader:
                job_id = await engine.submit("When?")
                await open_job(reader, job_id)
                words, now = f"Temporal at {address!r} does not answer", reader.page.locator("#now")
                await expect(now).not_to_contain_text(words)

                await own_temporal.shutdown()
                await expect(now).to_contain_text(words, timeout=WITHIN_MS)
                async with await start_temporal(int(address.rpartition(":")[2])):
                    await expect(now).not_to_contain_text(words, timeout=WITHIN_MS)
                    assert await reader.page.evaluate("window.isTheSamePage")
