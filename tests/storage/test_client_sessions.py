"""Tests that a worker's sessions show that it lives, and that a URL may set options itself."""

from collections.abc import AsyncIterator

import pytest
from sqlalchemy import text

from holdfast.models.jobs.activity_orders import (
    AttemptOrder,
    ReplanOrder,
    ReportOrder,
    ReviseOrder,
    VerificationRoundOrder,
)
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.models.wire.call_places import REPORT_LABEL, CallPlaces, planning_label
from holdfast.storage.core.client_sessions import session_options
from holdfast.storage.core.database import Database
from holdfast.storage.jobs import job_rows
from holdfast.storage.ledger.open_calls import give_sign_of_life, has_call_under_way

pytestmark = pytest.mark.slow

_OPENED = text("""
    insert into model_calls
        (job_id, task_id, attempt, part, request_hash, request, status, role, model)
    values ('job-1', 'T1', 1, '1', 'h', '', 'started', 'reasoner', 'm')
""")
_MOVED = text("update model_calls set task_id = :label")
_ANSWERED = text("update model_calls set status = 'done'")


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    """A database with a job that has a call under way."""
    database = Database(database_url)
    request = JobRequest(question="?", preset="kpi-chain", model="m", strategy=Strategy())
    await job_rows.submit_job(database, "job-1", request, None)
    async with database.writing() as connection:
        await connection.execute(_OPENED)
    yield database
    await database.close()


@pytest.mark.conformance("BEY-02")
async def test_a_call_is_under_way_while_its_worker_has_a_session_and_no_outcome(
    db: Database, database_url: str
) -> None:
    async def is_under_way(task_id: str, worker: str) -> bool:
        places = CallPlaces(exact=(task_id,))
        return await has_call_under_way(db, "job-1", places, worker=worker)

    worker = Database(database_url, worker="1@host")
    await give_sign_of_life(worker)
    seen = [await is_under_way("T1", "1@host"), await is_under_way("T2", "1@host")]
    of_another = await is_under_way("T1", "2@host")
    async with db.writing() as connection:
        await connection.execute(_ANSWERED)
    seen.append(await is_under_way("T1", "1@host"))
    await worker.close()

    assert (seen, of_another) == ([True, False, False], False)


@pytest.mark.parametrize(
    ("order", "label"),
    [
        (AttemptOrder(job_id="job-1", epoch=1), planning_label(0)),
        (AttemptOrder(job_id="job-1", epoch=1), planning_label(2)),
        (ReplanOrder(job_id="job-1", epoch=1, task_id="T1"), "replan:T1#2"),
        (ReviseOrder(job_id="job-1", epoch=1, results_considered=3), "revise:3#1"),
        (VerificationRoundOrder(job_id="job-1", epoch=1, round=1), "verify:1"),
        (VerificationRoundOrder(job_id="job-1", epoch=1, round=1), "fill:1"),
        (ReportOrder(job_id="job-1", epoch=1), REPORT_LABEL),
    ],
)
async def test_the_calls_of_the_job_are_under_way_at_their_labels(
    db: Database, database_url: str, order: AttemptOrder, label: str
) -> None:
    worker = Database(database_url, worker="1@host")
    await give_sign_of_life(worker)
    before = await has_call_under_way(db, "job-1", order.places, worker="1@host")
    async with db.writing() as connection:
        await connection.execute(_MOVED, {"label": label})
    after = await has_call_under_way(db, "job-1", order.places, worker="1@host")
    await worker.close()

    assert (before, after) == (False, True)


async def test_an_option_of_the_url_goes_before_ours() -> None:
    url = "postgresql+psycopg://holdfast@db/holdfast?connect_timeout=3"

    assert "connect_timeout" not in session_options(url)
    assert session_options(url, "1@host").keys() >= {"tcp_user_timeout", "application_name"}
