"""Tests that jobs of bundles run again over frozen evidence, and that differences are told."""

import re
from datetime import timedelta
from pathlib import Path
from xml.etree import ElementTree

import pytest

from holdfast.bundles.bundle_writer import write_bundle
from holdfast.cli.commands.replay_command import (
    EXIT_DIFFERENT,
    EXIT_NOT_REPLAYED,
    exit_code,
    junit_file,
)
from holdfast.models.bundles.bundle_manifest import Redaction
from holdfast.records.bundle_replay import (
    ReplayChanges,
    ReplayedBundle,
    replay_bundle,
    replay_bundles,
)
from tests.support.endpoints.scripted_model import ScriptedModel
from tests.support.endpoints.scripted_roles import ScriptedRoles, extractor_script
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.conformance("REC-03")]


@pytest.fixture
async def bundle(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools, tmp_path: Path
) -> Path:
    tools.answers = lambda argument: f"The light {argument} was built in 1862."
    players.parts["extractor"] = extractor_script("1862", 0.9, quote="was built in 1862")
    players.plan = plan(lookup_task("T1", query="Ouzel"), final_task("T2", "T1"))
    job = await engine.run("When was the light built?")
    path = tmp_path / "job.crate.zip"
    with path.open("wb") as file:
        await write_bundle(engine.holdfast, job.job_id, file)
    return path


def _cut_off(bundle: Path, path: Path) -> Path:
    path.write_bytes(bundle.read_bytes()[:-100])
    return path


async def replayed(
    engine: RunningEngine, path: Path, *, is_live: bool = False, **settings: str
) -> ReplayedBundle:
    changes = ReplayChanges(settings=settings, is_live=is_live)
    return await replay_bundle(engine.holdfast, path, changes, timedelta(seconds=240))


async def test_a_replay_without_a_change_is_the_same_and_sends_nothing(
    engine: RunningEngine, bundle: Path, model: ScriptedModel, tools: ScriptedTools
) -> None:
    asked, called = model.count, len(tools.called)

    result = await replayed(engine, bundle)

    assert result.is_same, result
    assert result.calls_sent == 0
    assert result.calls_now == result.calls_before
    assert (model.count, len(tools.called)) == (asked, called)


@pytest.mark.long
async def test_a_call_without_a_recording_names_the_nearest_one(
    engine: RunningEngine, bundle: Path, players: ScriptedRoles, model: ScriptedModel
) -> None:
    asked = model.count

    result = await replayed(engine, bundle, chunk_tokens="300", confidence_threshold="0.95")

    assert not result.is_same
    assert model.count == asked, "the evidence is frozen"


@pytest.mark.long
async def test_a_live_replay_asks_and_tells_which_claims_changed(
    engine: RunningEngine, bundle: Path, players: ScriptedRoles, model: ScriptedModel
) -> None:
    players.parts["extractor"] = extractor_script("1863", 0.9, quote="was built in 1862")
    changes = ReplayChanges(model="another-model", is_live=True)

    result = await replay_bundle(engine.holdfast, bundle, changes, timedelta(seconds=240))
    frozen = await replay_bundle(
        engine.holdfast,
        bundle,
        changes.model_copy(update={"is_live": False}),
        timedelta(seconds=240),
    )

    assert result.calls_sent > 0
    assert not frozen.is_same
    assert re.search(r"the nearest is call \d+", frozen.message)
    assert "differs in its model: recorded 'scripted', now 'another-model'" in frozen.message
    read = ElementTree.fromstring(junit_file([frozen]))
    assert read.get("failures") == "1"


@pytest.mark.long
async def test_a_junit_file_has_the_time_of_each_bundle(
    engine: RunningEngine, bundle: Path, tmp_path: Path
) -> None:
    cut = _cut_off(bundle, tmp_path / "cut.crate.zip")

    results = await replay_bundles(
        engine.holdfast, [bundle, cut], ReplayChanges(), timedelta(seconds=240)
    )

    suite = ElementTree.fromstring(junit_file(results))
    times = [float(each.get("time", "")) for each in suite.findall("testcase")]
    assert times[0] > times[1], "a job ran for the first one alone"
    assert float(suite.get("time", "")) == pytest.approx(sum(times), abs=0.01)


@pytest.mark.long
async def test_a_bundle_that_is_refused_does_not_hide_the_others(
    engine: RunningEngine, bundle: Path, tmp_path: Path
) -> None:
    origin = (await replayed(engine, bundle)).origin
    paths = [bundle]
    for left_out in (Redaction.PROMPTS, Redaction.QUESTIONS):
        paths.append(tmp_path / f"{left_out}.crate.zip")
        with paths[-1].open("wb") as file:
            await write_bundle(engine.holdfast, origin, file, redacted=[left_out])
    within = timedelta(seconds=240)

    results = await replay_bundles(engine.holdfast, paths, ReplayChanges(), within)

    assert [each.is_same for each in results] == [True, False, False]
    assert [each.message for each in results[1:]] == [
        "the bundle is without prompts, so nothing can be replayed",
        "the bundle is without questions, so nothing can be replayed",
    ]
    cases = ElementTree.fromstring(junit_file(results)).findall("testcase/failure")
    assert len(cases) == 2
    assert exit_code(results) == EXIT_DIFFERENT


@pytest.mark.long
async def test_bundles_that_are_all_refused_each_say_why(
    engine: RunningEngine, bundle: Path, tmp_path: Path
) -> None:
    altered = _cut_off(bundle, tmp_path / "altered.crate.zip")
    changes, within = ReplayChanges(settings={"colour": "red"}), timedelta(seconds=240)

    results = await replay_bundles(engine.holdfast, [altered, bundle], changes, within)

    assert [each.is_refused for each in results] == [True, True]
    assert "colour" not in results[0].message
    assert "colour" in results[1].message
    cases = ElementTree.fromstring(junit_file(results)).findall("testcase/failure")
    assert [each.text for each in cases] == [f"{each.bundle}: {each.message}" for each in results]
    assert exit_code(results) == EXIT_NOT_REPLAYED
