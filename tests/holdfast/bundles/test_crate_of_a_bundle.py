"""Tests that other programs and a browser without a network read a bundle."""

import zipfile
from pathlib import Path

import pytest
from rocrate.rocrate import ROCrate

from holdfast.bundles.bundle_writer import write_bundle
from tests.support.endpoints.scripted_roles import ScriptedRoles, extractor_script
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools


@pytest.mark.conformance("REC-04")
async def test_a_bundle_is_a_crate_of_a_workflow_run(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools, tmp_path: Path
) -> None:
    tools.answers = lambda _argument: "The light was built in 1862."
    players.parts["extractor"] = extractor_script("1862", 0.9, quote="was built in 1862")
    players.plan = plan(lookup_task("T1"), final_task("T2", "T1"))
    job = await engine.run("When was the light built?")
    with (tmp_path / "job.zip").open("wb") as file:
        await write_bundle(engine.holdfast, job.job_id, file)
    with zipfile.ZipFile(tmp_path / "job.zip") as archive:
        archive.extractall(tmp_path / "crate")

    crate = ROCrate(tmp_path / "crate")

    assert crate.mainEntity.id == "plan.yaml"
    assert "ComputationalWorkflow" in crate.mainEntity.type
    assert {each.id for each in crate.mainEntity["step"]} == {"#step/T1", "#step/T2"}
    run = crate.dereference("#run")
    assert run["instrument"] is crate.mainEntity
    assert [each.id for each in run["result"]] == ["report.json"]
    profiles = {each.id for each in crate.root_dataset["conformsTo"]}
    assert "https://w3id.org/ro/wfrun/provenance/0.5" in profiles
    described = {each.id for each in crate.data_entities if each.type != "Dataset"}
    assert described == {
        str(each.relative_to(tmp_path / "crate"))
        for each in (tmp_path / "crate").rglob("*")
        if each.is_file()
    } - {"ro-crate-metadata.json", "manifest.json"}
    page = (tmp_path / "crate" / "index.html").read_text("utf-8")
    assert "default-src 'none'" in page
    assert 'href="#passage-1"' in page
    assert 'id="passage-1"' in page
    for outside in ('src="http', "<script", "<link", "@import", "url("):
        assert outside not in page
