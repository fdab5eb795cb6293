"""Tests that a tab that slept, lost the network or waits for a silent server goes on by itself."""

import asyncio

import pytest
from playwright.async_api import Route, expect

from holdfast.jobs.erasure import erase_job
from holdfast.models.questions.user_questions import QuestionKind
from tests.support.endpoints.scripted_model import ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles, planner_answer
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.question_jobs import wait_for_question
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.browser import Reader
from tests.support.services.http_service import HttpService
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(400),
    pytest.mark.conformance("WEB-02"),
]

WITHIN_MS = 90_000


@pytest.fixture(autouse=True)
def scripted(players: ScriptedRoles, tools: ScriptedTools) -> None:
    tools.answers = lambda argument: f"found {argument}"
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))


async def open_waiting_job(engine: RunningEngine, reader: Reader) -> str:
    """A tab with a job that waits for approval of its plan, marked so that a reload would show."""
    job_id = await engine.submit("Who built the pier?", review=True)
    await wait_for_question(engine, job_id, QuestionKind.APPROVAL)
    await reader.goto(f"/jobs/{job_id}")
    await expect(reader.page.locator("main")).to_contain_text("Run the plan", timeout=WITHIN_MS)
    await reader.page.evaluate("window.isTheSamePage = true")
    return job_id


async def end(engine: RunningEngine, serving: HttpService, job_id: str) -> None:
    async with serving.client() as client:
        asked = (await client.get(f"/jobs/{job_id}/questions/open")).json()[0]["id"]
        await client.post(f"/jobs/{job_id}/questions/{asked}", json={"choice": "approve"})
    await engine.holdfast.wait(job_id)


async def check_shows_end(reader: Reader) -> None:
    """The tab shows the end of the job, and was never loaded again."""
    now = reader.page.locator("#now")
    await expect(now).to_contain_text("Read the report", timeout=WITHIN_MS)
    await expect(now).to_contain_text("2 of 2 tasks")
    await expect(reader.page.locator("#connection")).to_have_count(0, timeout=WITHIN_MS)
    await expect(reader.page.locator("#log")).to_contain_text("report", ignore_case=True)
    assert await reader.page.evaluate("window.isTheSamePage")


async def test_a_frozen_tab_shows_what_happened_meanwhile(
    engine: RunningEngine, serving: HttpService, reader: Reader
) -> None:
    job_id = await open_waiting_job(engine, reader)
    browser = await reader.page.context.new_cdp_session(reader.page)
    await browser.send("Page.setWebLifecycleState", {"state": "frozen"})
    await end(engine, serving, job_id)
    await browser.send("Page.setWebLifecycleState", {"state": "active"})

    await check_shows_end(reader)


@pytest.mark.long
async def test_a_tab_without_network_says_so_and_goes_on(
    engine: RunningEngine, serving: HttpService, reader: Reader
) -> None:
    job_id = await open_waiting_job(engine, reader)
    await reader.page.context.set_offline(True)
    note = reader.page.locator("#connection")
    await expect(note).to_contain_text("does not answer. Nothing is lost", timeout=WITHIN_MS)
    await end(engine, serving, job_id)
    await reader.page.context.set_offline(False)

    await check_shows_end(reader)
    reader.complaints.clear()  # the browser reports the lost network


@pytest.mark.long
async def test_a_tab_says_that_its_server_is_silent_and_goes_on(
    engine: RunningEngine, serving: HttpService, reader: Reader
) -> None:
    """A server that is stopped, or behind a lost network, accepts a request and never answers."""
    job_id, answers = await open_waiting_job(engine, reader), asyncio.Event()

    async def hold(route: Route) -> None:
        await answers.wait()
        await route.continue_()

    address = f"{reader.url}/jobs/{job_id}"
    await reader.page.route(address, hold)
    note = reader.page.locator("#connection")
    await expect(note).to_contain_text("has not answered yet", timeout=WITHIN_MS)
    await end(engine, serving, job_id)
    answers.set()

    await check_shows_end(reader)
    await reader.page.unroute_all(behavior="wait")


@pytest.mark.long
async def test_a_tab_that_was_opened_before_the_plan_shows_all_of_it(
    engine: RunningEngine, reader: Reader, players: ScriptedRoles
) -> None:
    players.parts["planner"] = lambda asked: ScriptedReply.of(planner_answer(players.plan), delay=5)
    job_id = await engine.submit("Who built the pier?")
    await reader.goto(f"/jobs/{job_id}")
    await expect(reader.page.locator("#now")).to_contain_text("Read the report", timeout=WITHIN_MS)

    await expect(reader.page.locator("#row-T1")).to_be_visible()
    await expect(reader.page.locator("#fall")).to_be_visible()


@pytest.mark.long
async def test_a_tab_of_a_job_that_was_erased_meanwhile_says_so_and_asks_no_more(
    engine: RunningEngine, reader: Reader
) -> None:
    job_id = await open_waiting_job(engine, reader)
    note = reader.page.locator("#connection")
    await reader.page.context.set_offline(True)
    await expect(note).to_contain_text("does not answer", timeout=WITHIN_MS)
    await erase_job(engine.holdfast, job_id, by="an operator")
    await reader.page.context.set_offline(False)

    await expect(note).to_have_text(f"There is no job '{job_id}' among yours.", timeout=WITHIN_MS)
    reader.complaints.clear()  # the browser reports the lost network, and the 404
