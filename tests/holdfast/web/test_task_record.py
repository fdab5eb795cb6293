"""Tests for the record of a task: queries, passages, attempts and their events in Temporal."""

import pytest
from playwright.async_api import expect

from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.browser import Reader
from tests.support.tools.scripted_tools import ScriptedTools


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.conformance("WEB-04")
async def test_a_task_leads_to_its_queries_passages_and_events(
    engine: RunningEngine, reader: Reader, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    tools.answers = lambda argument: f"found {argument}"
    players.plan = plan(lookup_task("T1", query="the <pier>"), final_task("T2", "T1"))
    job_id = (await engine.run("Who built the pier?")).job_id
    main = reader.page.locator("main")
    await reader.goto(f"/jobs/{job_id}?task=T1")
    await reader.page.get_by_role("link", name="Queries, passages and events").click()

    await expect(main.locator("summary")).to_contain_text("lab.wikipedia_search")
    await expect(main.locator("summary")).to_contain_text("query: the <pier>")
    await expect(main.locator(".doc").first).to_contain_text("found the <pier>")
    await expect(main.locator(".chain")).to_contain_text("Attempt 1")
    await expect(main.locator(".chain")).to_contain_text("T1, event")
    await expect(main.locator(".chain")).to_contain_text("completed")
    for width in (1440, 360):
        await reader.page.set_viewport_size({"width": width, "height": 800})
        await reader.check_accessible()

    await reader.goto(f"/jobs/{job_id}/tasks/T2")
    await expect(main).to_contain_text("No tool was asked for this task")
    await reader.goto(f"/jobs/{job_id}/tasks/T9")
    await expect(reader.page.get_by_role("alert")).to_contain_text("has no task 'T9'")
    reader.complaints.clear()  # the browser reports the status 404
