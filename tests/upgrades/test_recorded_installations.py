"""Tests that jobs which an earlier release began are continued: nothing is asked or planned twice.

`make released` records an installation of this version (docs/changing-workflows.md).
"""

import asyncio
from collections.abc import Collection
from importlib.metadata import version
from pathlib import Path

import pytest
from temporalio.client import Client

from holdfast.jobs.job_controller import JobController
from holdfast.roles.dialogue.role_definition import Role
from holdfast.storage.core.database import Database
from holdfast.storage.jobs import job_rows
from holdfast.worker import build_worker
from tests.durability.worker_launcher import WorkerLauncher
from tests.support.endpoints.scripted_model import ScriptedModel
from tests.support.jobs.running_engine import RunningEngine, running_engine
from tests.support.tools.scripted_tools import ScriptedTools
from tests.upgrades.continued_jobs import (
    course_of,
    finished_calls,
    job_ids,
    places_answered_twice,
)
from tests.upgrades.half_done_jobs import (
    HalfDoneScript,
    half_job,
    page,
    presets,
    question_of,
    servers_of,
    whole_job,
)
from tests.upgrades.installation_dumps import (
    INSTALLATIONS,
    dump_database,
    recorded_installations,
    restore_database,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

_WITHIN_S = 240
_LARGEST_BYTES = 1_000_000


@pytest.fixture
def script() -> HalfDoneScript:
    return HalfDoneScript()


@pytest.fixture
def model(script: HalfDoneScript):
    with ScriptedModel(script) as model:
        yield model


@pytest.fixture
def tools(tools: ScriptedTools) -> ScriptedTools:
    tools.answers = page
    return tools


def use_other_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every role other instructions, as a release does that words all prompts again."""
    system = Role.system.fget  # type: ignore[attr-defined]
    assert system is not None
    words = property(lambda role: f"{system(role)}\n\nMind the rules of this release.")
    monkeypatch.setattr(Role, "system", words)


async def submit(engine: RunningEngine, jobs: Collection[str]) -> list[str]:
    presets = {job: job.rpartition("-")[0] for job in jobs}
    return [
        await engine.submit(question_of(job), preset_name=preset, servers=servers_of(preset))
        for job, preset in presets.items()
    ]


async def wait_for_ends(engine: RunningEngine, ids: Collection[str]) -> None:
    async with asyncio.timeout(_WITHIN_S):
        await asyncio.gather(*(engine.holdfast.wait(job_id) for job_id in ids))


async def check_continued(db: Database, kinds: Collection[str]) -> None:
    """Check that each half-done job came to the same as its undisturbed twin."""
    assert await places_answered_twice(db) == []
    for preset in kinds:
        whole, half = [await course_of(db, job(preset)) for job in (whole_job, half_job)]
        assert half == whole, preset
        assert half.status == "done"
        assert not {"pending", "running"} & set(half.tasks.values())


def test_there_is_a_recording_and_it_is_small() -> None:
    files = recorded_installations()

    assert files
    assert sum(file.stat().st_size for file in files) < _LARGEST_BYTES


@pytest.mark.conformance("REL-02")
@pytest.mark.parametrize("has_other_words", [False, True], ids=["", "other words and tools"])
@pytest.mark.parametrize("file", recorded_installations(), ids=lambda file: file.stem)
async def test_a_recorded_installation_is_continued(
    temporal: Client,
    database_url: str,
    tmp_path: Path,
    model: ScriptedModel,
    tools: ScriptedTools,
    file: Path,
    has_other_words: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    toml = ""
    if has_other_words:
        use_other_words(monkeypatch)
        toml = f'[servers.more]\nurl = "{tools.url}"\n'
    await asyncio.to_thread(restore_database, file, database_url)
    async with running_engine(
        temporal, database_url, tmp_path, model_url=model.url, tools_url=tools.url, toml=toml
    ) as engine:
        models, called = await finished_calls(engine.db)
        open_jobs = await job_rows.open_job_ids(engine.db, 100)
        assert open_jobs
        for job_id in open_jobs:
            await JobController(engine.holdfast, "dana").resume(job_id)
        await wait_for_ends(engine, open_jobs)

        questions = await job_ids(engine.db)
        kinds = [kind for kind in presets() if question_of(half_job(kind)) in questions]
        assert len(kinds) == len(open_jobs)
        await check_continued(engine.db, kinds)
        assert await finished_calls(engine.db) == (models + model.count, called + len(tools.called))


@pytest.mark.conformance("REL-02")
async def test_jobs_of_today_are_continued_under_the_words_of_another_release(
    scripted_engine: RunningEngine,
    script: HalfDoneScript,
    model: ScriptedModel,
    database_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    engine, launcher = scripted_engine, WorkerLauncher(scripted_engine, tmp_path)
    await launcher.start()
    await wait_for_ends(engine, await submit(engine, map(whole_job, presets())))
    asked = {preset: script.arrived[whole_job(preset)] for preset in presets()}
    script.limits = {half_job(preset): count // 2 for preset, count in asked.items()}
    ids = await submit(engine, script.limits)
    async with asyncio.timeout(_WITHIN_S):
        while script.standing != set(script.limits):
            await asyncio.sleep(0.05)
    launcher.end()
    folder = INSTALLATIONS if request.config.getoption("--record") else tmp_path
    file = folder / f"{version('holdfast')}.sql.xz"
    await asyncio.to_thread(dump_database, database_url, file)

    use_other_words(monkeypatch)
    script.limits = {}
    model.release()
    async with build_worker(engine.temporal, engine.parts, engine.holdfast.settings):
        await wait_for_ends(engine, ids)

    await check_continued(engine.db, presets())
