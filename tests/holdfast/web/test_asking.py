"""Tests for the page that asks: estimate, cap, plan to approve or edit, and mistakes."""

import re

import pytest
from playwright.async_api import expect
from sqlalchemy import text

from holdfast.models.jobs.job_filter import JobFilter
from holdfast.models.questions.user_questions import QuestionKind
from holdfast.storage.jobs import job_rows
from holdfast.storage.plans.task_queries import load_plan
from holdfast.storage.views.earlier_job_amounts import load_earlier_amounts
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.question_jobs import wait_for_question
from tests.support.jobs.running_engine import RunningEngine
from tests.support.long_parameters import only_long
from tests.support.services.browser import Reader
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


@pytest.fixture(autouse=True)
def scripted(players: ScriptedRoles, tools: ScriptedTools) -> None:
    tools.answers = lambda argument: f"found {argument}"
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))


async def fill(reader: Reader, question: str) -> None:
    await reader.goto("/")
    await reader.page.get_by_label("Question", exact=True).fill(question)
    await reader.page.locator("input[value=kpi-chain]").check()


def job_of(reader: Reader) -> str:
    return reader.page.url.partition("/jobs/")[2].partition("?")[0]


@pytest.mark.conformance("WEB-01")
async def test_a_question_is_asked_under_a_cap_and_its_edited_plan_runs(
    engine: RunningEngine, reader: Reader
) -> None:
    await fill(reader, "Who built the pier?")
    await reader.page.get_by_label("Limit in tokens").fill("50,000")
    await reader.page.get_by_label("Show me the plan first").check()
    await reader.page.get_by_role("button", name="Ask", exact=True).click()
    await expect(reader.page.locator("main")).to_contain_text("The question was submitted")
    job_id = job_of(reader)
    await wait_for_question(engine, job_id, QuestionKind.APPROVAL)
    spent_before = await engine.holdfast.show(job_id)
    asked = reader.page.get_by_label("A question to you")
    await expect(asked).to_contain_text(re.compile(r"Estimate: .*3 model calls, 1 tool call"))

    await reader.page.get_by_text("Edit it as YAML").click(timeout=20_000)
    yaml = reader.page.get_by_label("The plan in YAML")
    edited = (await yaml.input_value()).replace(
        "Search for: Who built the pier?", "find the builder"
    )
    await yaml.fill(edited)
    await reader.page.get_by_role("button", name="Run the edited plan").click()
    await engine.holdfast.wait(job_id)

    job = await job_rows.load_job(engine.db, job_id)
    tasks = (await load_plan(engine.db, job_id)).tasks
    assert job.request.strategy.max_tokens == 50_000
    assert spent_before.calls.tool == 0
    assert "find the builder" in {task.description for task in tasks}


@pytest.mark.conformance("WEB-01")
@pytest.mark.long
async def test_earlier_jobs_say_what_the_next_one_takes(
    engine: RunningEngine, reader: Reader
) -> None:
    await reader.goto("/?model=scripted")
    nothing = await reader.page.locator("label:has([value=kpi-chain])").inner_text()
    for _ in range(3):
        await engine.run("Who built the pier?")
    await engine.submit("Who?", review=True)
    amounts = await load_earlier_amounts(engine.db, "scripted", None)
    await reader.goto("/?model=scripted")
    shown = await reader.page.locator("label:has([value=kpi-chain])").inner_text()

    assert "No earlier job with scripted" in nothing
    assert amounts["kpi-chain"].jobs == 3
    assert amounts["kpi-chain"].calls == len(await _calls(engine)) / 3
    assert f"{amounts['kpi-chain'].calls} calls" in shown
    assert "from 3 earlier jobs" in shown
    assert await load_earlier_amounts(engine.db, "scripted", "maria") == {}


async def _calls(engine: RunningEngine) -> list[str]:
    query = (
        "select 'm' from model_calls m join jobs on jobs.id = job_id where jobs.status = 'done' "
        "union all select 't' from tool_calls t join jobs on jobs.id = job_id "
        "where jobs.status = 'done' and repeated_call_id is null"
    )
    async with engine.db.reading() as connection:
        return [str(row[0]) for row in await connection.execute(text(query))]


@pytest.mark.parametrize(
    ("field", "given", "fault"),
    [
        ("Limit in tokens", "many", "The limit in tokens is 'many'"),
        ("Limit in USD", "-1", "The limit in money is '-1'"),
        ("Question", "   ", "The question is empty"),
    ],
)
async def test_a_mistake_comes_back_with_what_was_written(
    field: str, given: str, fault: str, engine: RunningEngine, reader: Reader
) -> None:
    await fill(reader, "Who built the pier?")
    await reader.page.get_by_label(field, exact=True).fill(given)
    await reader.page.get_by_role("button", name="Ask", exact=True).click()

    await expect(reader.page.get_by_role("alert")).to_contain_text(fault)
    assert await reader.page.get_by_label(field, exact=True).input_value() == given
    assert await reader.page.locator("input[value=kpi-chain]").is_checked()
    assert await engine.holdfast.list_jobs(JobFilter()) == []
    reader.complaints.clear()  # the browser reports the status 400


@pytest.mark.long
async def test_sending_one_form_twice_gives_one_job(engine: RunningEngine, reader: Reader) -> None:
    await fill(reader, "Who built the pier?")
    key = await reader.page.locator("input[name=key]").input_value()
    form = {"question": "Who built the pier?", "preset": "kpi-chain", "key": key}
    for _ in range(2):
        await reader.page.request.post(
            f"{reader.url}/ask", form=form, headers={"Origin": reader.url}
        )

    assert len(await engine.holdfast.list_jobs(JobFilter())) == 1


@pytest.mark.conformance("WEB-07")
@pytest.mark.parametrize("scheme", ["light", only_long("dark")])
async def test_the_form_is_accessible(scheme: str, engine: RunningEngine, reader: Reader) -> None:
    await engine.run("Who built the pier?")
    await reader.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # a word
    for width in (1440, 360):
        await reader.page.set_viewport_size({"width": width, "height": 800})
        await reader.goto("/")
        await reader.check_accessible()
