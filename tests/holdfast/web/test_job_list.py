"""Tests for the list of jobs: search, filters, paging, and what hostile questions do."""

import re
from urllib.parse import urlencode

import pytest
from sqlalchemy import text

from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.long_parameters import only_long
from tests.support.services.browser import Reader
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

HOSTILE = '<img src=x onerror="alert(1)"><script>alert(2)</script> \u202egnp.exe'


@pytest.fixture
async def jobs(engine: RunningEngine) -> list[str]:
    """Forty jobs that wait for an hour."""
    from datetime import timedelta

    return [
        await engine.submit(f"Question {number} about piers?", start_delay=timedelta(hours=1))
        for number in range(40)
    ]


@pytest.mark.conformance("WEB-06")
@pytest.mark.long
async def test_pages_of_the_list_have_every_job_once(jobs: list[str], reader: Reader) -> None:
    await reader.goto("/jobs")
    first = await reader.page.locator("td.q a").evaluate_all("all => all.map(a => a.pathname)")
    await reader.page.get_by_role("link", name="Older jobs").click()
    await reader.page.wait_for_url(re.compile("after="))
    rest = await reader.page.locator("td.q a").evaluate_all("all => all.map(a => a.pathname)")

    assert [*first, *rest] == [f"/jobs/{job}" for job in reversed(jobs)]
    assert await reader.page.get_by_role("link", name="Older jobs").count() == 0


@pytest.mark.conformance("WEB-06")
async def test_search_and_filters_find_jobs(jobs: list[str], reader: Reader) -> None:
    await reader.goto("/jobs")
    await reader.page.get_by_role("searchbox").fill("question 17")
    await reader.page.get_by_role("combobox", name="State").select_option("queued")
    await reader.page.get_by_role("button", name="Search").click()
    found = await reader.page.locator("td.q").all_inner_texts()
    lists = []
    for other in ({"status": "done"}, {"preset": "loop"}):
        await reader.goto(f"/jobs?{urlencode({'q': 'question 17', **other})}")
        lists.append(await reader.page.inner_text("main"))

    assert found == ["Question 17 about piers?"]
    assert all("No job matches" in each for each in lists)


@pytest.mark.long
async def test_an_unsure_answer_is_not_shown_as_answered(
    engine: RunningEngine, reader: Reader, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    tools.answers = lambda argument: f"found {argument}"
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    job_id = (await engine.run("Who built the pier?")).job_id
    unsure = "update reports set body = jsonb_set(body, '{confidence}', '0.31') where job_id = :job"
    async with engine.db.engine.begin() as connection:
        await connection.execute(text(unsure), {"job": job_id})
    for path in ("/jobs", "/", f"/jobs/{job_id}", f"/jobs/{job_id}/report"):
        await reader.goto(path)
        pill = reader.page.locator("main .pill").first
        assert await pill.inner_text() == "unsure, 31%"
        assert await pill.get_attribute("class") == "pill weak"


@pytest.mark.conformance("WEB-08")
async def test_a_hostile_question_is_text(engine: RunningEngine, reader: Reader) -> None:
    await engine.submit(HOSTILE)
    await reader.goto("/jobs")

    shown = await reader.page.locator("td.q").inner_text()

    assert shown == HOSTILE.replace("\u202e", "")
    assert await reader.page.locator("main img, main script").count() == 0


@pytest.mark.conformance("WEB-07")
@pytest.mark.parametrize("scheme", ["light", only_long("dark")])
@pytest.mark.long
async def test_the_list_is_accessible_on_a_phone(
    scheme: str, jobs: list[str], engine: RunningEngine, reader: Reader
) -> None:
    await engine.submit("x" * 3000)
    await reader.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # a word
    await reader.page.set_viewport_size({"width": 360, "height": 740})
    for path in ("/jobs", "/jobs?q=nothing"):
        await reader.goto(path)
        await reader.check_accessible()
