"""Tests for `--notify`: a command of the user runs when a job ends, asks or pauses."""

import asyncio
from pathlib import Path

import pytest

from holdfast.cli.commands.jobs.job_notifications import notifying
from holdfast.jobs.job_controller import JobController
from tests.engine.control.test_job_controls import start_delayed_job
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

PATIENCE_S = 90


@pytest.fixture(autouse=True)
def _answering(tools: ScriptedTools) -> None:
    tools.answers = lambda argument: f"found {argument}"


async def test_the_command_runs_at_each_event_with_what_happened(
    engine: RunningEngine, players: ScriptedRoles, tmp_path: Path
) -> None:
    told = tmp_path / "told"
    job_id = await start_delayed_job(engine, players, "a", 5, until="task.started")

    async with notifying(
        engine.holdfast, job_id, f'echo "$JOB_EVENT $JOB_ID" >> {told}; test "$JOB_MESSAGE"'
    ):
        controller = JobController(engine.holdfast, "dana")
        await controller.pause(job_id)
        async with asyncio.timeout(PATIENCE_S):
            while not told.exists():
                await asyncio.sleep(0.05)
        await controller.resume(job_id)
        await engine.holdfast.wait(job_id)

    assert told.read_text().splitlines() == [f"job.paused {job_id}", f"job.done {job_id}"]


@pytest.mark.long
async def test_a_cancelled_job_and_a_failing_command_end_nothing_else(
    engine: RunningEngine,
    players: ScriptedRoles,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = tmp_path / "told"
    job_id = await start_delayed_job(engine, players, "a", 5, until="task.started")

    async with notifying(engine.holdfast, job_id, f'echo "$JOB_EVENT" >> {told}; exit 7'):
        await JobController(engine.holdfast, "dana").cancel(job_id)
        await engine.holdfast.wait(job_id)

    assert told.read_text() == "job.failed\n"
    assert "the command of --notify ended with exit code 7" in capsys.readouterr().err
