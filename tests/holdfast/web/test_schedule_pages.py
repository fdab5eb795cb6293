"""Tests that schedules are made, run, paused, resumed and ended on the page."""

import re
import time

import pytest
from playwright.async_api import Browser, expect

from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.schedules.schedule import ScheduleStatus, ScheduleTerms
from holdfast.planning.strategies.strategy_presets import preset
from holdfast.schedules.schedule_management import (
    list_schedules,
    run_now,
    runs_of_schedule,
    schedule_question,
)
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.browser import Reader, signed_in
from tests.support.services.http_service import HttpService
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.conformance("REC-06", "WEB-07"),
]

WITHIN_MS = 240_000


@pytest.fixture(autouse=True)
def scripted(players: ScriptedRoles, tools: ScriptedTools) -> None:
    tools.answers = lambda argument: f"found {argument}"
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))


async def test_without_scripts_a_schedule_is_made_run_paused_resumed_and_ended(
    browser: Browser, engine: RunningEngine, serving: HttpService
) -> None:
    async with signed_in(browser, serving, java_script_enabled=False) as reader:
        page, main = reader.page, reader.page.locator("main")
        await reader.goto("/schedules?model=scripted")
        await expect(main).to_contain_text("There is no schedule yet")
        question = page.get_by_label("Question", exact=True)
        times = page.get_by_label("Times", exact=True)
        await question.fill("Which suppliers <b>delivered</b> late?")
        await page.get_by_label("Method").select_option("kpi-chain")
        await times.fill("on mondays")
        await page.get_by_label("Time zone").select_option("Europe/Berlin")
        await page.get_by_role("button", name="Add the schedule").click()
        # What was written stays in the form; the browser reports the status 400.
        await expect(page.get_by_role("alert")).to_contain_text("on mondays")
        await expect(question).to_have_value(re.compile("<b>delivered</b>"))
        runs = page.get_by_label("Number of runs")
        await runs.fill("1.5")
        await page.get_by_role("button", name="Add the schedule").click()
        await expect(page.get_by_role("alert")).to_contain_text("give a whole number")
        await runs.fill("")
        await times.fill("weekly on monday 08:00")
        await page.get_by_role("button", name="Add the schedule").click()
        await expect(page).to_have_url(re.compile("/schedules/schedule-"))
        await expect(main).to_contain_text("weekly on monday 08:00 Europe/Berlin")
        schedule = page.url.rpartition("/")[2]
        await expect(main).to_contain_text("It has not run yet")

        await page.get_by_role("button", name="Run now").click()
        # The page looks again by itself until the run's job has ended.
        row = page.get_by_role("row").nth(1)
        await expect(row).to_contain_text("done", timeout=WITHIN_MS)
        run = (await runs_of_schedule(engine.holdfast, schedule, None, limit=1))[0].job_id
        await expect(row.get_by_role("link", name=str(run))).to_be_visible()
        for button, state in (("Pause", "paused"), ("Resume", "active"), ("End for good", "ended")):
            if state == "ended":
                await page.get_by_text("End the schedule").click()
            await page.get_by_role("button", name=button).click()
            await expect(main.locator(".pill").first).to_have_text(state)
        await expect(main.get_by_role("button")).to_have_count(0)

        await reader.goto(f"/jobs/{run}/report")
        await page.get_by_role("link", name="Update it at certain times").click()
        await times.fill("every 6h")
        await page.get_by_role("button", name="Add the schedule").click()
        await expect(main).to_contain_text(f"updates the report of {run}")
        await reader.goto("/schedules")
        await expect(page.get_by_role("link", name="Which suppliers")).to_have_count(2)
        made = await list_schedules(engine.holdfast, None)
        assert {each.status for each in made} == {ScheduleStatus.ACTIVE, ScheduleStatus.ENDED}
        assert {each.updates for each in made} == {"", run}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.long
async def test_the_pages_of_schedules_are_accessible(
    scheme: str, engine: RunningEngine, reader: Reader
) -> None:
    request = JobRequest(
        question="Who? " + "x" * 500,
        preset="kpi-chain",
        model="scripted",
        strategy=preset("kpi-chain").strategy,
    )
    terms = ScheduleTerms(times="weekly on monday 08:00", time_zone="Europe/Berlin")
    made = await schedule_question(engine.holdfast, request, terms)
    await run_now(engine.holdfast, made.id, None)
    await reader.goto(f"/schedules/{made.id}?asked={int(time.time())}")
    await expect(reader.page.get_by_role("row").nth(1)).to_contain_text("done", timeout=WITHIN_MS)
    await reader.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # a word
    for width in (1440, 360):
        await reader.page.set_viewport_size({"width": width, "height": 800})
        for path in ("", f"/{made.id}", "?update=job-x"):
            await reader.goto(f"/schedules{path}")
            await reader.check_accessible()


async def test_schedules_of_another_owner_are_not_shown(
    serving: HttpService, engine: RunningEngine, browser: Browser
) -> None:
    request = JobRequest(
        question="Who?", preset="kpi-chain", model="scripted", strategy=preset("kpi-chain").strategy
    )
    made = await schedule_question(engine.holdfast, request, ScheduleTerms(times="daily 08:00"))
    async with serving.client() as client:
        body = {"name": "laptop", "owner": "maria", "scopes": ["read", "ask"]}
        key = (await client.post("/keys", json=body)).json()["key"]
    async with await browser.new_page() as page:
        await page.goto(f"{serving.url}/schedules")
        await page.get_by_label("Or use an API key").fill(key)
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.locator("main")).to_contain_text("There is no schedule yet")
        latest = await page.request.get(f"{serving.url}/schedules/{made.id}?asked={10**12}")
        assert latest.status < 500, "no calendar has the second"
        for change in ("", "/run", "/end"):
            headers = {"Origin": serving.url}
            address = f"{serving.url}/schedules/{made.id}{change}"
            send = page.request.post if change else page.request.get
            assert (await send(address, headers=headers)).status == 404
    assert (await list_schedules(engine.holdfast, None))[0].status is ScheduleStatus.ACTIVE
