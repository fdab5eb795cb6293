"""Tests that the former release works on the schema of this one, as in a rolling release.

The former release is a commit, whose code is unpacked from git. Both of its sides run: the client
that submits the job, and the worker. `make released` names the commit.
"""

import asyncio
import subprocess
import sys
import tarfile
from io import BytesIO
from pathlib import Path

import pytest

from holdfast.corpus.folder_ingestion import ingest_folder
from holdfast.jobs.job_lookup import report_of
from holdfast.models.jobs.job_record import JobStatus
from holdfast.storage.views.job_queries import job_calls
from tests.durability.worker_launcher import WorkerLauncher
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.conformance("OPS-03")]

ROOT = Path(__file__).parents[2]
FORMER_RELEASE = ROOT / "tests/upgrades/former_release"
_WITHIN_S = 400
_SUBMIT = """
import asyncio, os
from holdfast.client import open_client
from holdfast.models.jobs.job_record import JobRequest
from holdfast.planning.strategies.strategy_presets import preset
from holdfast.services.service_lifecycle import attach_to_services
from holdfast.settings import load_settings

async def submit():
    settings = load_settings()
    strategy = preset("kpi-chain").strategy
    request = JobRequest(
        question="When?", preset="kpi-chain", model="scripted", strategy=strategy
    )
    async with open_client(settings, await attach_to_services(settings)) as holdfast:
        print(await holdfast.submit(request), flush=True)

asyncio.run(submit())
os._exit(0)  # threads of Temporal's client may disturb the end of Python
"""
_READ = """
import asyncio, os, sys
from holdfast.client import open_client
from holdfast.jobs.job_lookup import report_of
from holdfast.services.service_lifecycle import attach_to_services
from holdfast.settings import load_settings

async def read():
    settings = load_settings()
    async with open_client(settings, await attach_to_services(settings)) as holdfast:
        print((await report_of(holdfast, sys.argv[1])).question, flush=True)

asyncio.run(read())
os._exit(0)
"""


@pytest.fixture(scope="module")
def former_code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the code of the former release."""
    commit = FORMER_RELEASE.read_text("utf-8").strip()
    command = ["git", "-C", str(ROOT), "archive", commit]
    try:
        packed = subprocess.run(command, capture_output=True, check=True, timeout=60).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip(f"git does not have the commit of the former release here: {commit[:10]}")
    folder = tmp_path_factory.mktemp("former-release")
    with tarfile.open(fileobj=BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return folder


async def test_client_and_worker_of_the_former_release_work_on_this_schema(
    client_side: RunningEngine,
    workers: WorkerLauncher,
    players: ScriptedRoles,
    tools: ScriptedTools,
    former_code: Path,
) -> None:
    players.plan = plan(lookup_task("T1", query="lighthouse"), final_task("T2", "T1"))
    tools.answers = {"lighthouse": "It was lit in 1841."}
    python = ("env", f"PYTHONPATH={former_code}", sys.executable, "-P")
    imported = "import holdfast.worker; print(holdfast.worker.__file__)"
    assert (await workers.run(*python, "-c", imported)).startswith(str(former_code))

    await workers.start(PYTHONPATH=str(former_code))
    job_id = (await workers.run(*python, "-c", _SUBMIT)).strip()
    async with asyncio.timeout(_WITHIN_S):
        job = await client_side.holdfast.wait(job_id)

    assert job.status is JobStatus.DONE, job.message
    assert {call.sends for call in await job_calls(client_side.db, job_id)} == {1}


@pytest.mark.long
async def test_the_client_of_the_former_release_reads_a_report_of_this_one(
    client_side: RunningEngine,
    workers: WorkerLauncher,
    players: ScriptedRoles,
    tools: ScriptedTools,
    former_code: Path,
    tmp_path: Path,
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("It was lit in 1841.")
    await ingest_folder(client_side.db, tmp_path / "notes", "notes")
    players.plan = plan(lookup_task("T1", query="lighthouse"), final_task("T2", "T1"))
    tools.answers = {"lighthouse": "It was lit in 1841."}
    await workers.start()
    job_id = await client_side.submit("When?", collection="notes")
    async with asyncio.timeout(_WITHIN_S):
        await client_side.holdfast.wait(job_id)

    python = ("env", f"PYTHONPATH={former_code}", sys.executable, "-P")
    read = await workers.run(*python, "-c", _READ, job_id)

    assert read == "When?\n"
    report = await report_of(client_side.holdfast, job_id)
    assert report.documents == 1
