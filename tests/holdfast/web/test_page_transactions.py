"""Tests that the page of a job reads with few statements, and shows what was at one moment."""

from collections import Counter

import pytest
from sqlalchemy import event

from holdfast.models.jobs.job_record import JobStatus
from holdfast.storage.jobs import job_rows
from holdfast.web.watch.job_page import load_job_page
from tests.support.jobs.running_engine import RunningEngine

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("owner", [None, "maria"])
async def test_a_page_reads_its_records_in_two_transactions_around_the_call_of_temporal(
    owner: str | None, idle_engine: RunningEngine
) -> None:
    job_id = await idle_engine.submit("Who built the pier?")
    holdfast = idle_engine.holdfast.on_behalf_of(owner)
    if owner is not None:
        change = "update jobs set owner = 'maria'"
        async with idle_engine.db.writing() as connection:
            await connection.exec_driver_sql(change)
    seen: Counter[str] = Counter()
    engine = holdfast.db.engine.sync_engine

    def begin(*given: object) -> None:
        seen["transactions"] += 1

    def execute(_connection: object, _cursor: object, statement: str, *given: object) -> None:
        if "FROM" in statement:  # and not the role of an owner, which each transaction takes
            seen[statement] += 1

    event.listen(engine, "begin", begin)
    event.listen(engine, "before_cursor_execute", execute)
    try:
        shown = await load_job_page(holdfast, job_id)
    finally:
        event.remove(engine, "begin", begin)
        event.remove(engine, "before_cursor_execute", execute)

    assert shown.view.question == "Who built the pier?"
    assert seen.pop("transactions") == 2
    assert max(seen.values()) == 1, "a statement was sent twice"
    assert seen.total() == 24


async def test_all_records_of_a_page_are_those_of_one_moment(idle_engine: RunningEngine) -> None:
    job_id = await idle_engine.submit("Who built the pier?")
    async with idle_engine.db.shared_reading() as db:
        before = await job_rows.load_job(db, job_id)
        async with idle_engine.db.writing() as connection:
            await connection.exec_driver_sql("update jobs set status = 'paused'")
        after = await job_rows.load_job(db, job_id)

    assert before.status == after.status
    assert (await job_rows.load_job(idle_engine.db, job_id)).status is JobStatus.PAUSED
