"""Tests that a job at its limit asks on its page how to go on, in plain words and with fields."""

from typing import Any

import pytest
from playwright.async_api import expect

from holdfast.models.jobs.job_record import JobStatus
from holdfast.models.questions.user_questions import QuestionKind
from holdfast.storage.jobs import job_rows
from tests.support.documentation.internal_names import internal_names_in
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.question_jobs import wait_for_question
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.browser import Reader
from tests.support.tools.scripted_tools import ScriptedTools

_CALL = {"prompt_tokens": 900, "completion_tokens": 100, "total_tokens": 1000}


def _counted(players: ScriptedRoles, name: str) -> Any:
    def part(asked: ReceivedRequest) -> ScriptedReply:
        said = ScriptedReply.of(getattr(players, f"_{name}")(asked))
        return ScriptedReply(content=said.content, usage=_CALL)

    return part


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.conformance("WEB-03", "VMAO-13")
async def test_a_job_at_its_limit_goes_on_under_a_new_limit_of_the_page(
    engine: RunningEngine, reader: Reader, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    tools.answers = lambda argument: f"found {argument}"
    players.plan = plan(
        lookup_task("T1", query="a"), lookup_task("T2", "T1", query="b"), final_task("T3", "T2")
    )
    for name in ("planner", "extractor", "reasoner", "synthesiser"):
        players.parts[name] = _counted(players, name)
    job_id = await engine.submit(
        "Who?", slots="1", servers=("lab",), max_tokens="4000", report_reserve="0"
    )
    job = await engine.holdfast.wait(job_id, or_paused=True)
    assert job.status is JobStatus.PAUSED
    await reader.goto(f"/jobs/{job_id}")
    asked = reader.page.get_by_label("A question to you")
    raised = asked.get_by_role("button", name="Go on under this limit")

    await expect(asked).to_contain_text("of 4,000 tokens. By task:")
    await reader.check_accessible()
    words = await asked.inner_text()
    await raised.click()  # the browser asks for the field first
    await asked.get_by_label("New limit in tokens").fill("50,000")
    await raised.click()
    await engine.holdfast.wait(job_id)

    assert "`" not in words
    assert internal_names_in(words) == set()
    stored = await job_rows.load_job(engine.db, job_id)
    assert (stored.status, stored.request.strategy.max_tokens) == (JobStatus.DONE, 50_000)


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.conformance("WEB-03")
@pytest.mark.long
async def test_a_job_that_has_not_ended_gets_another_limit(
    engine: RunningEngine, reader: Reader, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    tools.answers = lambda argument: f"found {argument}"
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    job_id = await engine.submit("Who?", review=True)
    await wait_for_question(engine, job_id, QuestionKind.APPROVAL)
    page = reader.page
    await reader.goto(f"/jobs/{job_id}")

    await page.get_by_text("Another limit…").click()
    await page.get_by_label("Limit in tokens").fill("60,000")
    await page.get_by_role("button", name="Set the limit").click()
    await expect(page.locator("main")).to_contain_text("The new limit holds")
    await page.get_by_role("button", name="Run the plan", exact=True).click()
    await engine.holdfast.wait(job_id)

    stored = await job_rows.load_job(engine.db, job_id)
    assert (stored.status, stored.request.strategy.max_tokens) == (JobStatus.DONE, 60_000)
