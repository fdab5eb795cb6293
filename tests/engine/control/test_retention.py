"""Tests that a worker erases ended jobs that are older than jobs of their owner are kept."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text
from temporalio.client import Client

from holdfast.configuration.retention_settings import read_retention
from holdfast.jobs import erasure
from holdfast.jobs.job_pruning import PrunedJobs, prune_jobs
from holdfast.jobs.retention import RETENTION_TURN, erase_due_jobs, jobs_due
from holdfast.models.access.erasures import ErasureSubject
from holdfast.models.errors import BadConfiguration, BadInput, NotFound, ServiceDown
from holdfast.models.jobs.follow_up import FollowUp
from holdfast.models.jobs.pruning import PrunedPart
from holdfast.services.worker.retention_upkeep import RetentionUpkeep
from holdfast.storage.core.exclusive_turns import exclusive_turn
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


@pytest.mark.long
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


async def test_a_job_that_cannot_be_erased_or_was_reopened_holds_up_no_other(
    engine: RunningEngine, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    oldest, reopened, stuck = [await ended_job(engine, "maria", 91) for _ in range(3)]

    async def is_stuck(temporal: Client, job_id: str) -> None:
        """The first that is erased, the newest, does not close; somebody reopens the next."""
        if job_id == stuck:
            async with engine.db.writing() as connection:
                statement = text(
                    "update jobs set status = 'queued', epoch = epoch + 1 where id = :job"
                )
                await connection.execute(statement, {"job": reopened})
            raise ServiceDown("the workflow is still open")

    monkeypatch.setattr(erasure, "wait_until_closed", is_stuck)
    kept = read_retention(config)
    assert kept is not None
    rounds = [await erase_due_jobs(engine.holdfast, kept) for _ in range(2)]

    assert [[each.subject for each in done.receipts] for done in rounds] == [[oldest], []]
    assert all(f"{stuck}: the workflow is still open" in done.note for done in rounds)
    assert await is_kept(engine, reopened)
    assert await is_kept(engine, stuck)
    with pytest.raises(BadInput, match="is queued"):
        await erasure.erase_job(engine.holdfast, reopened, by="retention", only_ended=True)
    receipt = await erasure_rows.begin_erasure(engine.db, ErasureSubject.JOB, reopened, "retention")
    with pytest.raises(BadInput, match="was reopened"):
        await erasure_rows.erase_stored_job(engine.db, receipt, reopened, (), epoch=0)
    async with engine.db.reading() as connection:
        entries = text("select count(*) from audit_entries where resource = :job")
        assert (await connection.execute(entries, {"job": stuck})).scalar_one() == 1


async def test_a_schedule_keeps_its_reports_and_prune_says_that_a_worker_has_the_turn(
    engine: RunningEngine, config: Path
) -> None:
    base, earlier, newest = [await ended_job(engine, "maria", 91) for _ in range(3)]
    kept = read_retention(config)
    assert kept is not None
    async with engine.db.writing() as connection:
        await connection.execute(
            text(
                "insert into schedules (id, owner, question, updated_job, times, time_zone, overlap,"
                " catch_up_s, status) values ('s1', 'maria', '?', :base, 'x', 'UTC', 'skip', 0,"
                " 'active')"
            ),
            {"base": base},
        )
        for run, job in enumerate((earlier, newest)):
            await connection.execute(
                text(
                    "insert into schedule_runs (schedule_id, run, job_id, begun_at)"
                    " values ('s1', :run, :job, now() + make_interval(secs => :n))"
                ),
                {"run": f"r{run}", "job": job, "n": run},
            )
            report = text(
                "insert into reports (job_id, body) values (:job, '{}') on conflict do nothing"
            )
            await connection.execute(report, {"job": job})

    assert [each.job_id for each in await jobs_due(engine.holdfast, kept)] == [earlier]
    async with exclusive_turn(engine.db, RETENTION_TURN) as has_turn:
        assert has_turn
        done = await erase_due_jobs(engine.holdfast, kept)
    assert (done.receipts, "another process erases" in done.note) == ((), True)
    async with engine.db.writing() as connection:
        await connection.execute(text("update schedules set status = 'ended'"))
    assert len(await jobs_due(engine.holdfast, kept)) == 3


def test_a_wrong_age_is_refused_with_the_right_form(tmp_path: Path) -> None:
    file = tmp_path / "holdfast.toml"
    file.write_text('[retention]\nowners = {maria = "3 months"}\n')

    with pytest.raises(BadConfiguration, match=r"90d"):
        read_retention(file)
    for number in ("365", "0.5", "true"):
        for entry in (f"after = {number}", f"owners = {{maria = {number}}}"):
            file.write_text(f"[retention]\n{entry}\n")
            with pytest.raises(BadConfiguration, match=r'such as "365d", not'):
                read_retention(file)
    assert read_retention(None) is None
    file.write_text('[retention]\nafter = "12h"\n')
    kept = read_retention(file)
    assert kept is not None
    assert kept.after == timedelta(hours=12)
