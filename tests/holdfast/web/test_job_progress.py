"""Tests for the page of a job: it follows the job by itself, and its forms change the job."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import ExitStack

import pytest
from playwright.async_api import Browser, Request, Route, expect

from holdfast.models.jobs.job_record import JobStatus
from holdfast.models.questions.user_questions import QuestionKind
from holdfast.storage.jobs import job_rows
from holdfast.storage.views.job_queries import events_after
from holdfast.web.access.page_polls import POLL_HEADER
from tests.support.endpoints.scripted_model import ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.question_jobs import wait_for_question
from tests.support.jobs.running_engine import RunningEngine
from tests.support.long_parameters import only_long
from tests.support.services.browser import Reader, signed_in
from tests.support.services.http_service import HttpService
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

HOSTILE = '<img src=x onerror="alert(1)"><script>alert(2)</script>'
RIGHT_TO_LEFT = "كم كلفت منارة غانيت ستير؟"
LONG_WORD = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 3
WITHIN_MS = 20_000


@pytest.fixture(autouse=True)
def scripted(players: ScriptedRoles, tools: ScriptedTools) -> None:
    tools.answers = lambda argument: f"found {argument}"
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))


@pytest.fixture
async def without_scripts(browser: Browser, serving: HttpService) -> AsyncIterator[Reader]:
    async with signed_in(browser, serving, java_script_enabled=False) as reader:
        yield reader


async def waiting_job(engine: RunningEngine) -> str:
    job_id = await engine.submit("Who built the pier?", review=True)
    await wait_for_question(engine, job_id, QuestionKind.APPROVAL)
    return job_id


async def kinds(engine: RunningEngine, job_id: str) -> list[str]:
    return [entry.kind for entry in await events_after(engine.db, job_id, 0)]


@pytest.mark.conformance("WEB-02")
@pytest.mark.long
async def test_the_page_follows_a_job_over_a_restart_of_the_server(
    engine: RunningEngine, browser: Browser
) -> None:
    job_id = await waiting_job(engine)
    requests: list[Request] = []
    with ExitStack() as servers:
        before = servers.enter_context(HttpService(engine.holdfast, writes=True))
        async with signed_in(browser, before) as reader:
            reader.page.on("request", lambda request: requests.append(request))
            await reader.goto(f"/jobs/{job_id}")
            main, note = reader.page.locator("main"), reader.page.locator("#connection")
            await expect(main).to_contain_text("Run the plan", timeout=WITHIN_MS)
            servers.close()
            await expect(note).to_contain_text("does not answer", timeout=WITHIN_MS)

            port = int(before.url.rpartition(":")[2])
            after = servers.enter_context(HttpService(engine.holdfast, writes=True, port=port))
            await expect(note).to_have_count(0, timeout=WITHIN_MS)
            async with after.client() as client:
                asked = (await client.get(f"/jobs/{job_id}/questions/open")).json()[0]["id"]
                await client.post(f"/jobs/{job_id}/questions/{asked}", json={"choice": "approve"})
            await expect(main).to_contain_text("Read the report", timeout=WITHIN_MS)
            await expect(main).to_contain_text("2 of 2 tasks")
            await expect(reader.page.locator("#questions section")).to_have_count(0)
    # Only what the page asks for by itself has the limit of polls.
    by_itself = [each.resource_type == "fetch" for each in requests]
    assert any(by_itself)
    said = [POLL_HEADER.lower() in each.headers for each in requests]
    assert said == by_itself


@pytest.mark.conformance("WEB-02")
@pytest.mark.long
async def test_the_newest_entries_come_before_a_page_that_takes_long(
    engine: RunningEngine, reader: Reader, serving: HttpService
) -> None:
    job_id = await waiting_job(engine)
    log, asked = reader.page.locator("#log"), [asyncio.Event(), asyncio.Event()]
    held, fetches = [asyncio.Event(), asyncio.Event()], iter(range(2))

    async def hold(route: Route) -> None:
        # The answer is as old as the request: it must not take newer entries away.
        answer = await route.fetch()
        if route.request.resource_type == "fetch" and (number := next(fetches, None)) is not None:
            asked[number].set()
            await held[number].wait()
        await route.fulfill(response=answer)

    await reader.goto(f"/jobs/{job_id}")
    await expect(log).to_contain_text("A question to you")
    await reader.page.route(f"**/jobs/{job_id}", hold)
    await reader.page.evaluate("window.dispatchEvent(new Event('online'))")
    await asked[0].wait()
    async with serving.client() as client:
        await client.post(f"/jobs/{job_id}/pause")
    await expect(log).to_contain_text("Paused")
    paused = await reader.page.get_by_role("button", name="Resume").count()
    held[0].set()
    await asked[1].wait()  # the page asks again once it has taken the older answer
    words = await log.inner_text()
    held[1].set()

    assert paused == 0
    assert "Paused" in words
    await expect(reader.page.get_by_role("button", name="Resume").first).to_be_visible()
    await expect(log).to_contain_text("Paused")
    await reader.page.unroute_all(behavior="wait")


@pytest.mark.conformance("WEB-03")
async def test_without_scripts_a_job_is_steered_paused_resumed_approved_and_retried(
    engine: RunningEngine, without_scripts: Reader
) -> None:
    job_id, page = await waiting_job(engine), without_scripts.page
    main = page.locator("main")
    await without_scripts.goto(f"/jobs/{job_id}")

    await page.get_by_text("Steer…").click()
    await page.get_by_label("Guidance").fill("Prefer registers.")
    await page.get_by_role("button", name="Send").click()
    await expect(main).to_contain_text("You said: Prefer registers.")
    await page.get_by_role("button", name="Pause").click()
    await expect(main).to_contain_text("Paused. Running tasks finish")
    await page.get_by_role("button", name="Resume").first.click()
    await page.get_by_role("button", name="Run the plan").click()
    await expect(main).to_contain_text("Your answer was taken.")
    await engine.holdfast.wait(job_id)
    await without_scripts.goto(f"/jobs/{job_id}?task=T1")
    await page.get_by_role("link", name="Run again…", exact=True).click()
    await expect(main).to_contain_text("Run 2 tasks again")
    await page.get_by_role("button", name="Run 2 tasks again").click()
    await engine.holdfast.wait(job_id)

    seen = await kinds(engine, job_id)
    assert {"job.steered", "job.paused", "job.resumed", "question.answered", "job.retried"} <= set(
        seen
    )


@pytest.mark.conformance("WEB-03")
@pytest.mark.long
async def test_a_stopped_job_still_writes_its_report(
    engine: RunningEngine, reader: Reader, players: ScriptedRoles
) -> None:
    players.parts["reasoner"] = lambda asked: ScriptedReply.of(players._reasoner(asked), delay=20)
    job_id = await engine.submit("Who built the pier?")
    await reader.goto(f"/jobs/{job_id}")
    await expect(reader.page.locator("#now")).to_contain_text("1 of 2 tasks", timeout=WITHIN_MS)
    await reader.page.get_by_role("button", name="Write the report now").click()
    await expect(reader.page.locator("main")).to_contain_text("Read the report", timeout=WITHIN_MS)

    assert "report.delivered" in await kinds(engine, job_id)


@pytest.mark.long
async def test_an_answer_about_an_older_plan_is_refused_with_a_page(
    engine: RunningEngine, reader: Reader
) -> None:
    job_id = await waiting_job(engine)
    await reader.goto(f"/jobs/{job_id}")
    await reader.page.evaluate("document.querySelector('input[name=revision]').value = 0")
    await reader.page.get_by_role("button", name="Run the plan", exact=True).click()

    await expect(reader.page.get_by_role("alert")).to_contain_text("The plan has changed")
    assert await wait_for_question(engine, job_id, QuestionKind.APPROVAL)
    reader.complaints.clear()  # the browser reports the status 412


@pytest.mark.long
async def test_a_chosen_task_shows_its_promises_and_the_plan_keeps_still(
    engine: RunningEngine, reader: Reader
) -> None:
    job_id = (await engine.run("Who built the pier?")).job_id
    await reader.goto(f"/jobs/{job_id}")
    before = await reader.page.locator("#box-T2").bounding_box()
    await reader.page.locator("#box-T1").focus()
    await reader.page.keyboard.press("Enter")

    panel = reader.page.locator("#task")
    await expect(panel).to_contain_text("found")
    await expect(panel).to_contain_text("found a")
    await expect(reader.page).to_have_url(re.compile("task=T1"))
    assert await reader.page.locator("#box-T2").bounding_box() == before
    # A task that is chosen at the plan's first change leaves that change chosen.
    await reader.goto(f"/jobs/{job_id}?revision=0")
    await reader.page.locator("#box-T1").click()
    await expect(reader.page).to_have_url(re.compile(r"task=T1&revision=0"))


@pytest.mark.conformance("WEB-07")
@pytest.mark.parametrize("scheme", ["light", only_long("dark")])
async def test_every_page_of_a_job_is_accessible(
    scheme: str, engine: RunningEngine, reader: Reader
) -> None:
    waiting = await waiting_job(engine)
    done = (await engine.run("Who built the pier? " + "x" * 500)).job_id
    await reader.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]  # a word
    for width in (1440, 360):
        await reader.page.set_viewport_size({"width": width, "height": 800})
        for path in (
            waiting,
            f"{done}?task=T1",
            f"{done}?revision=1",
            f"{done}/log",
            f"{done}/calls",
            f"{done}/retry?task=T1",
        ):
            await reader.goto(f"/jobs/{path}")
            await reader.check_accessible()


@pytest.mark.conformance("WEB-07")
@pytest.mark.long
async def test_text_from_right_to_left_and_long_words_stay_in_the_window(
    engine: RunningEngine, reader: Reader, players: ScriptedRoles
) -> None:
    told = lookup_task("T1", query="a").with_description(f"{RIGHT_TO_LEFT} {LONG_WORD}", "")
    players.plan = plan(told, final_task("T2", "T1"))
    job_id = (await engine.run(f"{RIGHT_TO_LEFT} {LONG_WORD}")).job_id
    for width in (768, 360):
        await reader.page.set_viewport_size({"width": width, "height": 800})
        for path in ("?task=T1", "/report", "/fork?task=T1", "/tasks/T1", "/retry?task=T1"):
            await reader.goto(f"/jobs/{job_id}{path}")
            await reader.check_accessible()
            heading = reader.page.locator("h1")
            assert await heading.evaluate("each => getComputedStyle(each).direction") == "rtl"


@pytest.mark.conformance("WEB-03")
@pytest.mark.long
async def test_a_report_is_offered_only_where_something_was_found(
    engine: RunningEngine, reader: Reader
) -> None:
    job_id = await waiting_job(engine)
    await reader.goto(f"/jobs/{job_id}")
    controls = reader.page.locator("#controls")
    await expect(controls).to_contain_text("Cancel")
    offered = await controls.inner_text()
    # An open tab may be older than the job, so the server refuses as well.
    refused = await reader.page.request.post(
        f"{reader.url}/jobs/{job_id}/report-now", headers={"Origin": reader.url}
    )

    assert "report" not in offered
    assert refused.status == 400
    assert "No task is done yet" in await refused.text()
    reader.complaints.clear()  # the browser reports the status 400
    await controls.get_by_role("button", name="Cancel").click()
    await expect(reader.page.get_by_role("status").first).to_contain_text("You cancelled the job")
    assert (await engine.holdfast.wait(job_id)).status is JobStatus.CANCELLED
    assert "job.cancelling" in await kinds(engine, job_id)


@pytest.mark.conformance("WEB-08")
async def test_hostile_names_values_and_questions_are_text(
    engine: RunningEngine, reader: Reader, tools: ScriptedTools
) -> None:
    tools.answers = lambda argument: HOSTILE
    job_id = (await engine.run(f"Who? {HOSTILE}")).job_id
    for path in ("", "?task=T1", "/log", "/calls"):
        await reader.goto(f"/jobs/{job_id}{path}")
        await expect(reader.page.locator("h1")).to_contain_text("<script>alert(2)</script>")
        assert await reader.page.locator("main img, main script").count() == 0


async def test_a_job_of_another_owner_is_not_shown(
    engine: RunningEngine, serving: HttpService, browser: Browser
) -> None:
    job_id = await waiting_job(engine)
    async with serving.client() as client:
        body = {"name": "laptop", "owner": "maria", "scopes": ["read", "steer"]}
        key = (await client.post("/keys", json=body)).json()["key"]
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(f"{serving.url}/jobs/{job_id}")
    await page.get_by_label("Or use an API key").fill(key)
    await page.get_by_role("button", name="Sign in").click()

    await expect(page.get_by_role("alert")).to_contain_text("There is no job")
    for path in ("events", "log", "calls", "retry?task=T1", "loop/T1"):
        answer = await page.goto(f"{serving.url}/jobs/{job_id}/{path}")
        assert answer is not None
        assert answer.status == 404
    await context.close()
    assert not (await job_rows.load_job(engine.db, job_id)).status.is_final
