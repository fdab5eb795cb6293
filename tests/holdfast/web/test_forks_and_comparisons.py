"""Tests that the page forks a job with an edited plan, and shows both jobs next to each other."""

from datetime import timedelta

import pytest
from playwright.async_api import expect

from holdfast.roles.reports.claim_matcher import CLAIM_MATCHER
from holdfast.storage.evidence.evidence_rows import load_report
from holdfast.storage.jobs import job_rows
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.browser import Reader
from tests.support.services.http_service import HttpService
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.conformance("BEY-05", "REC-01"),
]

WITHIN_MS = 20_000


async def test_a_job_is_forked_with_an_edited_plan_and_compared(
    engine: RunningEngine,
    serving: HttpService,
    reader: Reader,
    players: ScriptedRoles,
    tools: ScriptedTools,
) -> None:
    tools.answers = lambda argument: f"found {argument}"
    pair = {"first": "A1", "second": "B1", "same_value": False}
    players.parts[CLAIM_MATCHER.name] = lambda _: {"pairs": [pair]}
    players.plan = plan(lookup_task("T1", query="aa"), final_task("T2", "T1"))
    # A model matches claims of one owner's jobs, so the page's user asks for both.
    body = {"question": "Who?", "model": "scripted", "preset": "kpi-chain"}
    async with serving.client() as client:
        first = (await client.post("/jobs", json=body)).json()["job_id"]
    await engine.holdfast.wait(first, timedelta(seconds=240))
    screen = reader.page
    await reader.goto(f"/jobs/{first}/fork")
    await screen.get_by_text("Edit the plan as YAML").click()
    edited = (await screen.get_by_label("The plan").input_value()).replace("aa", "bb")
    await screen.get_by_label("The plan").fill(edited)
    await screen.get_by_role("button", name="Show what would run").click()
    shown = screen.get_by_label("What would run")
    await expect(shown).to_contain_text("T1 runs again", timeout=WITHIN_MS)
    await expect(shown).to_contain_text("T2 needs what changes")
    await reader.check_accessible()
    await screen.get_by_role("button", name="Start the new job").click()
    await expect(screen.get_by_text("made from")).to_be_visible(timeout=WITHIN_MS)
    forked = screen.url.rpartition("/")[2]
    await engine.holdfast.wait(forked, timedelta(seconds=240))

    await reader.goto(f"/jobs/{first}/report")
    await screen.get_by_label("Compare with job").fill(forked)
    await screen.get_by_role("button", name="Compare").click()

    assert tools.called[-1] == ("wikipedia_search", "bb")
    await expect(screen.get_by_label("Tasks", exact=True)).to_contain_text("another task")
    claims = screen.get_by_label("Claims", exact=True)
    await expect(claims).to_contain_text("Matched by rules.")
    await reader.check_accessible()

    # The beginning of an id is enough, as on the command line.
    await reader.goto(f"/jobs/{first}/compare?other=%20{forked[:-1]}")
    await screen.get_by_label("Model that matches").select_option("scripted")
    await screen.get_by_role("button", name="Ask the model").click()
    await expect(claims).to_contain_text("Matched by rules and scripted.", timeout=WITHIN_MS)
    await expect(claims).to_contain_text(f"Recorded with job {forked}, and not paid for again.")
    (pair,) = await claims.get_by_role("row").filter(has_text="found aa").all()
    await expect(pair).to_contain_text("matched by scripted")
    foreign = await screen.request.post(
        f"{reader.url}/jobs/{first}/compare", form={"other": forked, "model": "scripted"}
    )
    assert foreign.status == 403


@pytest.mark.long
async def test_a_job_is_forked_with_another_preset_a_setting_and_without_evidence(
    engine: RunningEngine, reader: Reader, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    tools.answers = lambda argument: f"found {argument}"
    players.plan = plan(lookup_task("T1", query="aa"), final_task("T2", "T1"))
    first = (await engine.run("Who?")).job_id
    report = await load_report(engine.db, first)
    assert report is not None
    citation = report.citations[0]
    screen = reader.page
    await reader.goto(f"/jobs/{first}/report?mark={citation.mark}")
    await screen.get_by_role("link", name="Run again without this quote").click()
    await expect(screen.get_by_label("Quotes to leave out")).to_have_value(
        str(citation.evidence_id)
    )
    await screen.get_by_label("Method").select_option("loop")
    await screen.get_by_text("Change settings of the job").click()
    await screen.get_by_label("Changed settings").fill("max_tokns=90000")
    await screen.get_by_role("button", name="Show what would run").click()
    await expect(screen.get_by_role("alert")).to_contain_text("did you mean 'max_tokens'")
    reader.complaints.clear()  # the browser reports the status 400
    await screen.get_by_label("Changed settings").fill("max_tokens=90000")
    await screen.get_by_role("button", name="Show what would run").click()

    shown = screen.get_by_label("What would run")
    await expect(shown).to_contain_text(
        f"the method is Quick; max_tokens=90000; quote {citation.evidence_id} is left out",
        timeout=WITHIN_MS,
    )
    await reader.check_accessible()
    await screen.get_by_role("button", name="Start the new job").click()
    await expect(screen.get_by_text("made from")).to_be_visible(timeout=WITHIN_MS)

    request = (await job_rows.load_job(engine.db, screen.url.rpartition("/")[2])).request
    assert (request.preset, request.strategy.max_tokens) == ("loop", 90_000)
