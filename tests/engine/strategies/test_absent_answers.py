"""Tests that a question which the documents do not answer ends with a report that says so."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from temporalio.client import Client

from holdfast.corpus.folder_ingestion import ingest_folder
from holdfast.jobs.job_lookup import report_of
from holdfast.reports.markdown_and_json_rendering import to_markdown
from holdfast.storage.plans import task_queries
from tests.support.jobs.running_engine import RunningEngine, running_engine
from tests.support.long_parameters import only_long

pytestmark = pytest.mark.slow

MOST_CALLS = 50
"""Of the built-in model, for a question that is searched for in every way and not answered."""
SECTIONS = ("What was searched", "Nearest passages", "What would help")


@asynccontextmanager
async def engine_over(
    temporal: Client, database_url: str, folder: Path, documents: Mapping[str, str]
) -> AsyncIterator[RunningEngine]:
    """An engine whose collection `notes` has these documents, by the names of their files."""
    read = folder / "docs"
    read.mkdir()
    for name, text in documents.items():
        (read / name).write_text(text)
    async with running_engine(temporal, database_url, folder) as engine:
        await ingest_folder(engine.db, read, "notes")
        yield engine


@pytest.mark.conformance("REP-05")
@pytest.mark.parametrize("preset_name", ["research", "kpi-chain", only_long("tdp")])
async def test_the_report_names_the_documents_and_the_nearest_passages(
    temporal: Client, database_url: str, tmp_path: Path, preset_name: str
) -> None:
    documents = {
        "heron.md": "# Heron\n\nThe Heron project has its own football team.\n",
        "osprey.md": "# Osprey\n\nOsprey is a battery of 175 Wh/kg.\n",
    }

    async with engine_over(temporal, database_url, tmp_path, documents) as engine:
        job = await engine.run(
            "Who won the football championship of 2019?",
            preset_name=preset_name,
            model="extractive",
            collection="notes",
        )
        report = await report_of(engine.holdfast, job.job_id)

    assert job.status == "failed"
    assert job.calls.model <= MOST_CALLS
    assert report.answer is None
    assert [each.text for each in report.summary] == ["Not found in your 2 documents."]
    assert [(each.quote, each.title, each.address) for each in report.nearest][:1] == [
        ("The Heron project has its own football team.", "Heron", "heron.md")
    ]
    assert any("football championship" in text for text in report.searches)
    assert report.advice[-1] == "Add documents that state what was not found, and ask again."
    text = to_markdown(report)
    assert "- “The Heron project has its own football team.” (Heron, heron.md)" in text
    order = [text.index(f"## {title}") for title in SECTIONS]
    assert order == sorted(order)
    assert report.citations == ()


@pytest.mark.conformance("REP-05")
async def test_a_loop_without_an_answer_shows_the_nearest_passages_and_no_word_twice_in_a_search(
    temporal: Client, database_url: str, tmp_path: Path
) -> None:
    documents = {"heron.md": "# Heron\n\nThe Heron project has its own football team.\n"}

    async with engine_over(temporal, database_url, tmp_path, documents) as engine:
        job = await engine.run(
            "Who won the football championship of 2019?",
            preset_name="loop",
            model="extractive",
            collection="notes",
        )
        report = await report_of(engine.holdfast, job.job_id)

    assert report.answer is None
    assert [each.quote for each in report.nearest] == [
        "The Heron project has its own football team."
    ]
    assert len(report.searches) > 1
    for search in report.searches:
        words = search.casefold().split()
        assert len(words) == len(set(words)), search
    assert "cites" not in to_markdown(report)


@pytest.mark.conformance("REP-05")
@pytest.mark.parametrize("preset_name", ["research", "kpi-chain"])
@pytest.mark.long
async def test_a_question_that_needs_a_calculation_is_declined_with_the_reason(
    temporal: Client, database_url: str, tmp_path: Path, preset_name: str
) -> None:
    documents = {
        "leak.md": (
            "# Leak in bay 4\n\nThe leak in bay 4 was found on 3 May 2023. "
            "The repair was completed on 21 June 2023.\n"
        ),
    }

    async with engine_over(temporal, database_url, tmp_path, documents) as engine:
        job = await engine.run(
            "How many days passed from the leak to the repair?",
            preset_name=preset_name,
            model="extractive",
            collection="notes",
        )
        report = await report_of(engine.holdfast, job.job_id)

    assert report.answer is None
    assert report.confidence is None
    assert [each.text for each in report.summary][-1] == (
        "The question asks for a calculation; the built-in model quotes values, and calculates none."
    )
    assert len(report.advice) == 1, "more documents would not help"
    assert report.advice[0].startswith("Ask a language model")
    assert report.documents == 1
    if preset_name == "research":
        assert {task.id.partition(".")[0] for task in job.tasks} == {"T0"}, "nothing is planned"
        assert "The leak in bay 4 was found on 3 May 2023." in {e.quote for e in report.nearest}


@pytest.mark.conformance("REP-05")
@pytest.mark.parametrize("preset_name", ["research", "kpi-chain"])
async def test_of_two_questions_the_first_is_answered_and_the_second_is_named(
    temporal: Client, database_url: str, tmp_path: Path, preset_name: str
) -> None:
    documents = {
        "bridge.md": "# Selby Bridge\n\nSelby Bridge was built by Ada Marsh.\n",
    }

    async with engine_over(temporal, database_url, tmp_path, documents) as engine:
        job = await engine.run(
            "Who built Selby Bridge, and in which year?",
            preset_name=preset_name,
            model="extractive",
            collection="notes",
        )
        report = await report_of(engine.holdfast, job.job_id)

    assert report.answer == "Ada Marsh"
    (gap,) = report.gaps
    assert gap == (
        "The second part of the question was not looked into, because the built-in model answers "
        "one question at a time: in which year?"
    )


async def test_a_search_without_hits_says_so_and_asks_no_extractor(
    temporal: Client, database_url: str, tmp_path: Path
) -> None:
    documents = {
        "osprey.md": "# Osprey\n\nOsprey is a battery of 175 Wh/kg.\n",
    }

    async with engine_over(temporal, database_url, tmp_path, documents) as engine:
        job = await engine.run(
            "Who won the football championship of 2019?",
            preset_name="kpi-chain",
            model="extractive",
            collection="notes",
        )
        tasks = await task_queries.load_tasks(engine.db, job.job_id)
        report = await report_of(engine.holdfast, job.job_id)

    first = next(each for each in tasks if each.task.id == "T1")
    assert first.failure is not None
    assert first.failure.message == (
        "corpus.search found nothing for these arguments; try others, or another tool."
    )
    assert "No model wrote this report." in to_markdown(report)
