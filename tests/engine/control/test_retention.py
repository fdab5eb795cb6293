"""Tests that a worker erases ended jobs that are older than jobs of their owner are kept."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from holdfast.configuration.retention_settings import read_retention
from holdfast.jobs.job_pruning import PrunedJobs, prune_jobs
from holdfast.models.errors import BadConfiguration, BadInput, NotFound
from holdfast.models.jobs.follow_up import FollowUp
from holdfast.models.jobs.pruning import PrunedPart
from holdfast.services.worker.retention_upkeep import RetentionUpkeep
from holdfast.storage.jobs import erasure_rows, job_rows
from tests.support.jobs.running_engine import RunningEngine

pytestmark = pytest.mark.conformance("OPS-07", "WAVE-14")

_KEPT = """
[retention]
after = "365d"
owners = {maria = "90d", archive = "never"}
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "retention.toml"
    file.write_text(_KEPT)
    return file


async def ended_job(engine: RunningEngine, owner: str, days_ago: int) -> str:
    """A job that ended so many days ago."""
    job_id = (await engine.run(f"Of {owner}?")).job_id
    statement = text(
        "update jobs set owner = :owner, finished_at = now() - make_interval(days => :days)"
        " where id = :job"
    )
    async with engine.db.writing() as connection:
        await connection.execute(statement, {"job": job_id, "owner": owner, "days": days_ago})
    return job_id


async def is_kept(engine: RunningEngine, job_id: str) -> bool:
    try:
        await job_rows.load_job(engine.db, job_id)
    except NotFound:
        return False
    return True


async def test_a_worker_erases_the_jobs_whose_time_is_over_and_leaves_receipts(
    engine: RunningEngine, config: Path
) -> None:
    due = [await ended_job(engine, "maria", 91), await ended_job(engine, "otto", 366)]
    kept = [
        await ended_job(engine, "maria", 89),
        await ended_job(engine, "otto", 364),
        await ended_job(engine, "archive", 9000),
    ]
    followed = await ended_job(engine, "maria", 100)
    follow_up = FollowUp(job=followed)
    async with engine.db.writing() as connection:
        await connection.execute(
            text("update jobs set follow_up = cast(:follow_up as jsonb) where id = :job"),
            {"follow_up": follow_up.model_dump_json(), "job": kept[0]},
        )

    upkeep = asyncio.create_task(RetentionUpkeep(engine.holdfast, read_retention(config)).repeat())
    try:
        async with asyncio.timeout(120):
            while any([await is_kept(engine, each) for each in due]):
                await asyncio.sleep(0.05)
    finally:
        upkeep.cancel()

    assert all([await is_kept(engine, each) for each in (*kept, followed)])
    receipts = await erasure_rows.load_receipts(engine.db, 10)
    assert {(each.subject, each.erased_by) for each in receipts} == {
        (each, "retention") for each in due
    }


async def test_prune_without_an_age_does_what_retention_says(
    engine: RunningEngine, config: Path
) -> None:
    old, young = await ended_job(engine, "maria", 91), await ended_job(engine, "maria", 1)
    settings = engine.holdfast.settings.model_copy(update={"config_file": config})
    holdfast = replace(engine.holdfast, settings=settings)

    async def prune(*, is_dry_run: bool) -> PrunedJobs:
        return await prune_jobs(
            holdfast, PrunedPart.JOBS, older_than=None, down_to=None, is_dry_run=is_dry_run
        )

    listed = await prune(is_dry_run=True)
    assert [each.job_id for each in listed.found] == [old]
    assert await is_kept(engine, old)

    done = await prune(is_dry_run=False)
    assert [each.job_id for each in done.removed] == [old]
    assert (await is_kept(engine, old), await is_kept(engine, young)) == (False, True)
    with pytest.raises(BadInput, match=r"\[retention\]"):
        await prune_jobs(
            engine.holdfast, PrunedPart.JOBS, older_than=None, down_to=None, is_dry_run=True
        )


def test_a_wrong_age_is_refused_with_the_right_form(tmp_path: Path) -> None:
    file = tmp_path / "holdfast.toml"
    file.write_text('[retention]\nowners = {maria = "3 months"}\n')

    with pytest.raises(BadConfiguration, match=r"90d"):
        read_retention(file)
    assert read_retention(None) is None
    file.write_text('[retention]\nafter = "12h"\n')
    kept = read_retention(file)
    assert kept is not None
    assert kept.after == timedelta(hours=12)
