"""Tests for a server below a path of a proxy: every link, redirect and stream stays below it."""

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import urldefrag, urljoin

import httpx2
import pytest
from playwright.async_api import expect

from holdfast import AsyncClient
from holdfast.models.access.http_config import checked_root_path
from holdfast.models.errors import BadInput
from holdfast.web.access.page_links import make_link_token
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.long_parameters import only_long
from tests.support.services.browser import open_browser
from tests.support.services.http_service import HttpService
from tests.support.services.mcp_host import answer_of, mcp_host
from tests.support.services.path_proxy import PathProxy
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400), pytest.mark.conformance("API-01")]

ROOT = "/holdfast"
WITHIN_MS = 60_000


@pytest.fixture(autouse=True)
def scripted(players: ScriptedRoles, tools: ScriptedTools) -> None:
    tools.answers = lambda argument: f"found {argument}"
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))


@pytest.fixture
def serving(engine: RunningEngine) -> Iterator[HttpService]:
    settings = engine.holdfast.settings.model_copy(update={"model": "scripted"})
    holdfast = replace(engine.holdfast, settings=settings)
    with HttpService(holdfast, writes=True, root_path=f"{ROOT}/") as serving:
        yield serving


class Addresses(HTMLParser):
    """The addresses of a page: what a browser fetches or follows, and where its forms go."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.followed: set[str] = set()
        self.streams: set[str] = set()
        self.forms: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value}
        self.followed |= {given[name] for name in ("href", "src") if name in given}
        self.streams |= {given["data-events"]} if "data-events" in given else set()
        self.forms |= {given[name] for name in ("action", "formaction") if name in given}


@pytest.mark.parametrize("strips", [True, only_long(False)], ids=["stripped", "kept"])
async def test_every_link_of_the_pages_stays_below_the_root_path(
    engine: RunningEngine, serving: HttpService, strips: bool
) -> None:
    job = (await engine.run("Who built the pier?")).job_id
    seen: set[str] = set()

    async with (
        PathProxy(serving.url, ROOT, strips) as proxy,
        httpx2.AsyncClient(trust_env=False, timeout=120, follow_redirects=True) as client,
    ):
        opened = await client.get(f"{proxy.url}/open?token={make_link_token(serving.token)}")
        assert (opened.status_code, str(opened.url)) == (200, f"{proxy.url}/")
        waiting = deque([f"{proxy.url}/", f"{proxy.url}/jobs/{job}"])
        while waiting:
            address = urldefrag(waiting.popleft())[0]
            # One address of each path is enough: queries only choose what a page shows.
            path = address.partition("?")[0]
            if path in seen or not address.startswith(f"{proxy.origin}/"):
                continue
            seen.add(path)
            answer = await client.get(address)
            assert answer.status_code == 200, address
            if "text/html" not in answer.headers["content-type"]:
                continue
            found = Addresses(answer.text)
            waiting += [urljoin(address, each) for each in found.followed]
            for form in found.forms:
                assert urljoin(address, form).startswith(f"{proxy.url}/"), form
            for stream in found.streams:
                async with client.stream("GET", urljoin(address, stream)) as events:
                    assert events.headers["content-type"].startswith("text/event-stream")

        assert proxy.outside == []
    paths = {path.removeprefix(proxy.url) for path in seen}
    assert {"/", "/jobs", "/schedules", "/collections", "/models", "/spend", "/health"} <= paths
    assert {f"/jobs/{job}{tab}" for tab in ("", "/report", "/log", "/calls")} <= paths
    assert any(path.endswith("live.js") for path in paths)


@pytest.mark.conformance("WEB-01")
@pytest.mark.long
async def test_a_browser_asks_and_follows_a_job_below_the_root_path(
    engine: RunningEngine, serving: HttpService
) -> None:
    async with (
        PathProxy(serving.url, ROOT, strips=True) as proxy,
        open_browser() as browser,
        await browser.new_page() as page,
    ):
        complaints: list[str] = []
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else 0)
        page.set_default_timeout(WITHIN_MS)
        await page.goto(f"{proxy.url}/open?token={make_link_token(serving.token)}")
        await page.get_by_label("Question", exact=True).fill("Who built the pier?")
        await page.locator("input[name=preset][value=kpi-chain]").check()
        await page.get_by_role("button", name="Ask", exact=True).click()
        await page.wait_for_url(f"{proxy.url}/jobs/*")
        await expect(page.locator("[data-events]")).to_have_attribute(
            "data-over", "yes", timeout=WITHIN_MS
        )
        cookies = await page.context.cookies()

    assert complaints == []
    assert proxy.outside == []
    assert [each["path"] for each in cookies] == [ROOT]


@pytest.mark.conformance("API-06")
@pytest.mark.long
async def test_programs_get_addresses_below_the_root_path(
    engine: RunningEngine, serving: HttpService
) -> None:
    headers = {"Authorization": f"Bearer {serving.token}"}
    asking = {"question": "Who?", "preset": "kpi-chain"}
    async with (
        PathProxy(serving.url, ROOT, strips=False) as proxy,
        httpx2.AsyncClient(trust_env=False, timeout=120, headers=headers) as client,
        AsyncClient(proxy.url, serving.token) as typed,
    ):
        asked = await client.post(f"{proxy.url}/v1/jobs", json=asking)
        located = await client.get(urljoin(proxy.url, asked.headers["location"]))
        await client.post(f"{proxy.url}/v1/jobs", json=asking)
        listed = await client.get(f"{proxy.url}/v1/jobs?limit=1")
        later = await client.get(urljoin(proxy.url, listed.links["next"]["url"]))
        described = (await client.get(f"{proxy.url}/openapi.json")).json()
        slashed = await client.get(f"{proxy.url}/v1/jobs/?limit=1")
        job_id = asked.json()["job_id"]
        last = [event async for event in typed.follow(job_id)][-1]
        body = {"model": "holdfast-kpi-chain", "input": "Who?", "background": False}
        answered = await client.post(f"{proxy.url}/v1/responses", json=body)

    assert asked.headers["location"] == f"{ROOT}/v1/jobs/{job_id}"
    assert located.json()["job_id"] == job_id
    assert [each["job_id"] for each in later.json()] == [job_id]
    assert slashed.headers["location"] == f"{ROOT}/v1/jobs?limit=1"
    assert described["servers"] == [{"url": ROOT}]
    assert last.kind == "job.ended"
    cited = f"{proxy.url}/jobs/job-{answered.json()['id'].removeprefix('resp_')}/report?mark="
    assert cited in answered.text
    assert proxy.outside == []


@pytest.mark.conformance("MCP-01")
@pytest.mark.parametrize("strips", [True, only_long(False)], ids=["stripped", "kept"])
async def test_an_mcp_host_gets_addresses_below_the_root_path(
    engine: RunningEngine, serving: HttpService, strips: bool
) -> None:
    asking = {"question": "Who?", "preset": "kpi-chain"}
    async with (
        PathProxy(serving.url, ROOT, strips) as proxy,
        mcp_host(serving, url=proxy.url) as host,
        httpx2.AsyncClient(trust_env=False, timeout=120) as browser,
    ):
        started = await answer_of(host, "research_start", **asking)
        await engine.holdfast.wait(started["job"])
        state = await answer_of(host, "research_status", job=started["job"])
        report = await host.read_resource(f"holdfast://jobs/{started['job']}/report")
        unsigned = await browser.get(state["page"])

    assert started["page"] == state["page"] == f"{proxy.url}/jobs/{started['job']}"
    assert state["status"] == "done"
    assert report.contents
    # The page is there, and wants a sign-in.
    assert unsigned.status_code in (302, 303, 401), unsigned.text
    assert proxy.outside == []


@pytest.mark.parametrize(
    "text", ["holdfast", "/a b", "/v1", "/jobs/x", '/"><script>', "/..", "//x"]
)
def test_a_root_path_that_cannot_work_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="such as /holdfast"):
        checked_root_path(text)


def test_a_slash_at_the_end_of_a_root_path_does_not_count() -> None:
    assert [checked_root_path(text) for text in ("/", "", "/a/b/")] == ["", "", "/a/b"]
