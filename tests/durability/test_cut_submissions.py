"""Tests that a job is stored whole or not at all, and runs although its client has ended."""

from datetime import timedelta

import pytest
from sqlalchemy import text

from holdfast.models.errors import NotFound
from holdfast.models.jobs.job_record import JobRequest
from holdfast.planning.strategies.strategy_presets import preset
from holdfast.storage.core import database
from holdfast.storage.jobs import job_rows
from tests.durability.worker_launcher import WorkerLauncher
from tests.support.jobs.running_engine import RunningEngine

_REQUEST = JobRequest(
    question="Why?", preset="kpi-chain", model="scripted", strategy=preset("kpi-chain").strategy
)


@pytest.mark.conformance("REL-05")
async def test_a_job_is_stored_with_its_first_event_or_not_at_all(
    idle_engine: RunningEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def end_here(*_: object) -> None:
        raise RuntimeError("the client ends")

    with monkeypatch.context() as patch:
        patch.setattr(database, "_append_events", end_here)
        with pytest.raises(RuntimeError, match="the client ends"):
            await job_rows.submit_job(idle_engine.db, "job-cut", _REQUEST, "key")

    with pytest.raises(NotFound):
        await job_rows.load_job(idle_engine.db, "job-cut")
    assert await job_rows.submit_job(idle_engine.db, "job-cut", _REQUEST, "key") == (
        "job-cut",
        True,
    )
    assert await job_rows.submit_job(idle_engine.db, "job-2", _REQUEST, "key") == ("job-cut", False)


@pytest.mark.slow
@pytest.mark.conformance("REL-05")
async def test_a_worker_starts_a_job_whose_client_ended_before_its_workflow(
    client_side: RunningEngine, workers: WorkerLauncher
) -> None:
    job_id, _ = await job_rows.submit_job(client_side.db, "job-alone", _REQUEST, None)
    async with client_side.db.writing() as connection:
        await connection.execute(text("update jobs set created_at = now() - interval '1 minute'"))

    await workers.start()
    job = await client_side.holdfast.wait(job_id, timedelta(seconds=60))

    assert job.status.is_final
