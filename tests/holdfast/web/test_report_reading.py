"""Tests for the page of a report: from a mark to the exact characters, the call and the event."""

import json
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, expect
from sqlalchemy import text

from holdfast.corpus.folder_ingestion import ingest_folder
from holdfast.models.evidence.evidence import Report
from holdfast.models.evidence.source_checks import SourceDrift, StoredSourceCheck
from holdfast.storage.evidence.evidence_rows import load_report
from holdfast.web.read.cited_passage import _source_words, citations_line
from tests.support.documentation.internal_names import internal_names_in
from tests.support.endpoints.scripted_roles import ScriptedRoles, extractor_script
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.long_parameters import only_long
from tests.support.services.browser import Reader, signed_in
from tests.support.services.http_service import HttpService
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

HOSTILE = '<img src=x onerror="alert(1)"><script>alert(2)</script>'


@pytest.fixture(autouse=True)
def scripted(players: ScriptedRoles, tools: ScriptedTools) -> None:
    tools.answers = lambda argument: f"Before it. found {argument} After it."
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))


async def reported(engine: RunningEngine, question: str = "Who built the pier?") -> Report:
    job_id = (await engine.run(question)).job_id
    report = await load_report(engine.db, job_id)
    assert report is not None
    assert report.citations
    return report


@pytest.mark.conformance("WEB-04")
@pytest.mark.parametrize("scripts", [True, only_long(False)])
async def test_a_mark_leads_to_the_exact_characters_the_call_and_the_event(
    scripts: bool,
    engine: RunningEngine,
    browser: Browser,
    serving: HttpService,
    players: ScriptedRoles,
) -> None:
    players.parts["extractor"] = extractor_script("found a", 0.9, quote="found a")
    report = await reported(engine)
    citation = report.citations[0]
    async with signed_in(browser, serving, java_script_enabled=scripts) as reader:
        await reader.goto(f"/jobs/{report.job_id}/report")
        await reader.page.locator("article sup a").first.click()
        panel = reader.page.locator("#source")

        await expect(panel.locator("mark")).to_have_text(citation.quote)
        # Exactly: `to_have_text` takes no notice of spaces at the ends.
        assert await panel.locator("mark").text_content() == citation.quote
        assert await panel.locator(".doc").text_content() == "Before it. found a After it."
        await expect(panel).to_contain_text("quoted letter by letter")
        chain = panel.get_by_role("list", name="Where it comes from")
        for step in ("Sentence", "Passage", "Found by", "In Temporal"):
            await expect(chain).to_contain_text(step)
        await expect(chain).to_contain_text("lab.wikipedia_search")
        await expect(chain).to_contain_text("event")
        marked = reader.page.locator("article sup a[aria-current]").first
        await expect(marked).to_have_text(str(citation.mark))


@pytest.mark.long
async def test_every_form_of_the_report_is_a_download(
    engine: RunningEngine, reader: Reader
) -> None:
    report = await reported(engine)
    await reader.goto(f"/jobs/{report.job_id}/report")
    links = await reader.page.locator("a[download]").all()
    names = []
    for link in links:
        async with reader.page.expect_download() as download:
            await link.click()
        names.append((await download.value).suggested_filename)

    endings = ("json", "md", "html", "docx", "pdf", "csl.json", "ris", "bib", "obsidian.zip")
    expected = {f"{report.job_id}.{ending}" for ending in (*endings, "crate.zip")}
    assert set(names) == expected


@pytest.mark.long
async def test_a_follow_up_begins_with_this_report(engine: RunningEngine, reader: Reader) -> None:
    report = await reported(engine)
    await reader.goto(f"/jobs/{report.job_id}/report")
    await reader.page.get_by_label("Ask a follow-up").fill("And when?")
    await reader.page.get_by_role("button", name="Ask", exact=True).click()

    await expect(reader.page.locator("#head")).to_contain_text(f"follows {report.job_id}")
    await expect(reader.page.locator("h1")).to_have_text("And when?")
    await engine.holdfast.wait(Path(urlsplit(reader.page.url).path).name)


@pytest.mark.long
async def test_a_job_without_a_report_says_why(
    engine: RunningEngine, reader: Reader, players: ScriptedRoles
) -> None:
    job_id = await engine.submit("Who?", review=True)
    await reader.goto(f"/jobs/{job_id}/report")
    await expect(reader.page.get_by_role("alert")).to_contain_text("its report is not written yet")
    back = reader.page.get_by_role("link", name="Back to the job")
    assert await back.get_attribute("href") == f"/jobs/{job_id}"

    players.plan = plan()
    failed = await engine.run("Who?")
    await reader.goto(f"/jobs/{failed.job_id}/report")

    said = await reader.page.get_by_role("alert").inner_text()
    assert (
        "found nothing to report, and “Resume” or “Run the plan” on the page of the job tries again"
        in said
    )
    assert "Write the report now" not in said
    assert internal_names_in(said) == set()
    reader.complaints.clear()  # the browser reports the status 404


@pytest.mark.conformance("WEB-08")
async def test_a_hostile_report_does_nothing(
    engine: RunningEngine, reader: Reader, tools: ScriptedTools
) -> None:
    tools.answers = lambda argument: f"{HOSTILE} javascript:alert(3) \u202egnp.exe"
    report = await reported(engine, f"Who? {HOSTILE}")
    for mark in report.citations:
        await reader.goto(f"/jobs/{report.job_id}/report?mark={mark.mark}")
        await expect(reader.page.locator("#source mark")).to_contain_text("<script>")
        assert await reader.page.locator("main img, main script").count() == 0
        hrefs = await reader.page.locator("main a").evaluate_all("all => all.map(a => a.protocol)")
        assert set(hrefs) == {"http:"}


@pytest.mark.conformance("WEB-07")
@pytest.mark.parametrize("scheme", ["light", only_long("dark")])
@pytest.mark.long
async def test_the_report_is_accessible(scheme: str, engine: RunningEngine, reader: Reader) -> None:
    report = await reported(engine)
    await reader.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]  # a word
    for width in (1440, 360):
        await reader.page.set_viewport_size({"width": width, "height": 800})
        for query in ("", f"?mark={report.citations[0].mark}"):
            await reader.goto(f"/jobs/{report.job_id}/report{query}")
            await reader.check_accessible()


@pytest.mark.conformance("WEB-07")
@pytest.mark.long
async def test_the_keyboard_alone_opens_a_passage(engine: RunningEngine, reader: Reader) -> None:
    report = await reported(engine)
    await reader.goto(f"/jobs/{report.job_id}/report")
    for _ in range(40):
        await reader.page.keyboard.press("Tab")
        if await reader.page.evaluate("document.activeElement.matches('article sup a')"):
            break
    await reader.page.keyboard.press("Enter")

    await expect(reader.page.locator("#source mark")).to_have_text(report.citations[0].quote)
    await expect(reader.page.locator("#source")).to_be_focused()


@pytest.mark.parametrize("drift", list(SourceDrift))
def test_every_state_of_a_source_has_its_words(drift: SourceDrift) -> None:
    at = datetime(2026, 11, 3, tzinfo=UTC)

    words = _source_words(StoredSourceCheck(evidence_id=1, verdict=drift, checked_at=at))

    assert "3 November 2026" in words.words


def test_a_report_with_a_warning_does_not_claim_that_all_citations_open() -> None:
    report = Report(question="Who?", answer="x", warnings=("the source of [1] is gone",))

    assert citations_line(report).tone != "good"


@pytest.mark.long
async def test_a_report_of_ten_megabytes_is_read_in_part_and_downloaded_whole(
    engine: RunningEngine, reader: Reader
) -> None:
    report = await reported(engine)
    marks = list(report.findings[0].marks)
    findings = [{"text": f"Finding {n}: {'a b ' * 130}", "marks": marks} for n in range(20_000)]
    grow = "update reports set body = jsonb_set(body, '{findings}', cast(:findings as jsonb))"
    async with engine.db.engine.begin() as connection:
        await connection.execute(text(grow), {"findings": json.dumps(findings)})
    await reader.goto(f"/jobs/{report.job_id}/report")
    shown = await reader.page.content()
    await reader.page.locator("article sup a").nth(40).click()

    await expect(reader.page.locator("#source mark")).to_have_text(
        report.citations[0].quote, timeout=60_000
    )
    assert len(shown) < 1_000_000
    assert "19,700 more findings" in shown
    async with reader.page.expect_download(timeout=120_000) as download:
        await reader.page.get_by_role("link", name="Download all of it").click()
    path = await (await download.value).path()
    assert path.stat().st_size > 10_000_000


@pytest.mark.conformance("BEY-09")
@pytest.mark.long
async def test_the_page_says_whether_the_folder_of_the_documents_could_be_read_again(
    engine: RunningEngine, reader: Reader, tmp_path: Path
) -> None:
    docs, moved = tmp_path / "docs", tmp_path / "moved"
    docs.mkdir()
    (docs / "pier.md").write_text("# The pier\n\nIt was opened in 1868.\n")
    await ingest_folder(engine.db, docs, "pier")
    job_id = (await engine.run("Who built the pier?", collection="pier")).job_id
    said = reader.page.get_by_role("status")
    again = reader.page.get_by_role("button", name="Read the sources again")

    docs.rename(moved)
    await reader.goto(f"/jobs/{job_id}/report")
    await again.click()
    await expect(said).to_contain_text("not all documents")
    moved.rename(docs)
    await again.click()
    await expect(said).to_contain_text("each citation says what was found")
