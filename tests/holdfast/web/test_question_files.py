"""Tests for the files that come with a question: dropped or chosen, read, and asked over."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from holdfast.corpus.collection_lookup import list_collections
from holdfast.models.corpus.document_uploads import (
    DocumentUpload,
    SkippedFile,
    UploadResult,
    UploadStatus,
)
from holdfast.models.jobs.job_filter import JobFilter
from holdfast.storage.jobs import job_rows
from holdfast.web.ask.question_files import reading_fault
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.browser import Reader, signed_in
from tests.support.services.http_service import HttpService
from tests.support.tools.scripted_tools import ScriptedTools

QUESTION = "Who built the pier?"
DROP = """([name, text]) => {
  const files = new DataTransfer();
  files.items.add(new File([text], name));
  return files;
}"""
DROPPED = (
    ("pier notes.md", "The pier was built by Orlan Treave."),
    ("harbour.md", "The harbour was dug in 1868."),
)


@pytest.fixture(autouse=True)
def scripted(players: ScriptedRoles, tools: ScriptedTools) -> None:
    tools.answers = lambda argument: f"found {argument}"
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))


async def fill(page: Page) -> None:
    await page.get_by_label("Question", exact=True).fill(QUESTION)
    await page.locator("input[value=kpi-chain]").check()


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.conformance("WEB-06")
async def test_a_question_is_asked_over_files_that_are_dropped_on_it(
    engine: RunningEngine, reader: Reader
) -> None:
    await reader.goto("/")
    await fill(reader.page)
    for each in DROPPED:
        files = await reader.page.evaluate_handle(DROP, list(each))
        await reader.page.dispatch_event("form[data-drop]", "drop", {"dataTransfer": files})
    await reader.page.get_by_role("button", name="Ask", exact=True).click()
    # The page asks by itself once the files are read.
    await expect(reader.page.locator("main")).to_contain_text("The question was submitted")

    [job] = await engine.holdfast.list_jobs(JobFilter())
    stored = await job_rows.load_job(engine.db, job.job_id)
    [collection] = await list_collections(engine.holdfast)
    assert stored.request.question == QUESTION
    assert stored.request.collection == collection.name
    assert collection.name.startswith("pier-notes-")
    assert collection.documents == len(DROPPED)
    await engine.holdfast.wait(job.job_id)


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.conformance("WEB-07")
@pytest.mark.long
async def test_files_are_chosen_without_scripts_and_added_to_a_collection(
    engine: RunningEngine, browser: Browser, serving: HttpService, tmp_path: Path
) -> None:
    await engine.add_document("harbour", "The harbour was dug in 1868.")
    good, odd = tmp_path / "pier.md", tmp_path / "odd.bin"
    good.write_text("The pier was built by Orlan Treave.")
    odd.write_bytes(b"\x00\x01\x02" * 900)
    async with signed_in(browser, serving, java_script_enabled=False) as reader:
        page, main = reader.page, reader.page.locator("main")
        await reader.goto("/?collection=harbour")
        await page.get_by_label("Your files").set_input_files([good, odd])
        await fill(page)
        await page.get_by_role("button", name="Ask", exact=True).click()
        left_out = page.get_by_role("alert").get_by_text("left out: odd.bin")
        reading = page.get_by_text("being read into the collection harbour")
        await expect(left_out.or_(reading)).to_be_visible()
        # Each press asks again whether the files are read.
        while not await left_out.is_visible():
            async with page.expect_navigation():
                await page.get_by_role("button", name="Ask", exact=True).click()
        assert await page.get_by_label("Question", exact=True).input_value() == QUESTION
        assert await engine.holdfast.list_jobs(JobFilter()) == []
        await page.get_by_role("button", name="Ask", exact=True).click()
        await expect(main).to_contain_text("The question was submitted")

    [collection] = await list_collections(engine.holdfast)
    assert (collection.name, collection.documents) == ("harbour", 2)
    [job] = await engine.holdfast.list_jobs(JobFilter())
    await engine.holdfast.wait(job.job_id)


def upload(status: UploadStatus, *, message: str = "", **result: int) -> DocumentUpload:
    counts = {"added": 0, "changed": 0, "unchanged": 0, "removed": 0}
    skipped = tuple(SkippedFile(path=f"{n}.bin", reason="no text") for n in range(7))
    return DocumentUpload(
        id="upload-1", owner="maria", collection="harbour", replaces_collection=False, metadata={},
        files=7, size_bytes=7, status=status, message=message, created_at=datetime.now(UTC),
        result=UploadResult(**{**counts, **result}, skipped=skipped if result else ()),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("read", "words"),
    [
        (upload(UploadStatus.DONE), ""),
        (upload(UploadStatus.FAILED, message="the disk is full"), "read: the disk is full"),
        (upload(UploadStatus.DONE, added=1), "and 2 more; ask again to go on without them"),
        (upload(UploadStatus.DONE, added=0), "no file could be read, so choose others"),
    ],
)
def test_a_file_that_was_left_out_is_said_before_anything_is_paid(
    read: DocumentUpload, words: str
) -> None:
    assert reading_fault(read).endswith(words)
    assert bool(reading_fault(read)) == bool(words)
