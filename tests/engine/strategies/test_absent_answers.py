"""Tests that a question which the documents do not answer ends with a report that says so."""

from pathlib import Path

import pytest
from temporalio.client import Client

from holdfast.corpus.folder_ingestion import ingest_folder
from holdfast.jobs.job_lookup import report_of
from tests.support.jobs.running_engine import running_engine

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("preset_name", ["research", "kpi-chain", "tdp"])
async def test_the_report_names_the_documents_and_the_nearest_passages(
    temporal: Client, database_url: str, tmp_path: Path, preset_name: str
) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "heron.md").write_text("# Heron\n\nThe Heron project has its own football team.\n")
    (folder / "osprey.md").write_text("# Osprey\n\nOsprey is a battery of 175 Wh/kg.\n")

    async with running_engine(temporal, database_url, tmp_path) as engine:
        await ingest_folder(engine.db, folder, "notes")
        job = await engine.run(
            "Who won the football championship of 2019?",
            preset_name=preset_name,
            model="extractive",
            collection="notes",
        )
        report = await report_of(engine.holdfast, job.job_id)

    assert job.status == "failed"
    assert report.answer is None
    assert [each.text for each in report.summary] == ["Not found in your 2 documents."]
    nearest = [gap for gap in report.gaps if gap.startswith("Nearest passage:")]
    assert nearest[0] == (
        "Nearest passage: “The Heron project has its own football team.” (Heron, heron.md)"
    )
    assert report.citations == ()
