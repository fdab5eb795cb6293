"""Tests for recoveries on a real PostgreSQL: one row per loss, and the calls noted under it."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from holdfast.models.calls.call_records import CallKey
from holdfast.models.calls.model_requests import Completion, Message, ModelRequest
from holdfast.models.calls.tool_signatures import ToolAnswer
from holdfast.models.errors import StaleEpoch
from holdfast.models.jobs.job_record import JobRequest, JobStatus, StopReason
from holdfast.models.jobs.job_recovery import (
    LossCause,
    LostAttempt,
    Recovery,
    ResentCalls,
    ReusedCalls,
)
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.storage.core.database import Database
from holdfast.storage.jobs import job_rows
from holdfast.storage.ledger import job_recovery_rows
from holdfast.storage.ledger.call_ledger import CallLedger
from holdfast.storage.views import job_queries

pytestmark = pytest.mark.slow

JOB = "job-1"
MODEL_CALL = ModelRequest(model="m", role="planner", messages=(Message(role="user", content="x"),))
COMPLETION = Completion(text="{}", model="m", input_tokens=70, output_tokens=5)


@pytest.fixture
async def db(database_url: str):
    database = Database(database_url)
    request = JobRequest(question="?", preset="kpi-chain", model="m", strategy=Strategy())
    await job_rows.submit_job(database, JOB, request, None)
    yield database
    await database.close()


def ago(seconds: float) -> datetime:
    return datetime.now(UTC) - timedelta(seconds=seconds)


def death(worker: str = "1@host#a", seconds: float = 2) -> LostAttempt:
    return LostAttempt(cause=LossCause.WORKER, lost_worker=worker, at=ago(seconds))


def outage(seconds: float) -> LostAttempt:
    return LostAttempt(cause=LossCause.DATABASE, at=ago(seconds))


def key(part: str, task: str = "T1") -> CallKey:
    return CallKey(job_id=JOB, task_id=task, part=part, request_hash=part)


async def recovered(db: Database, loss: LostAttempt | None = None) -> CallLedger:
    """The ledger of an activity that goes on after a loss."""
    return CallLedger(db, recovery=await job_recovery_rows.begin_recovery(db, JOB, loss or death()))


async def only(db: Database) -> Recovery:
    (recovery,) = await job_recovery_rows.recoveries_of(db, JOB)
    return recovery


async def test_all_attempts_that_a_dead_worker_had_share_one_recovery_and_one_event(
    db: Database,
) -> None:
    loss = death()

    numbers = await asyncio.gather(
        *(job_recovery_rows.begin_recovery(db, JOB, loss) for _ in range(10))
    )

    assert set(numbers) == {1}
    events = await job_queries.events_after(db, JOB, 0)
    assert [event.seq for event in events] == [1, 2]
    assert (events[1].kind, events[1].facts) == ("job.recovered", {"cause": "worker", "number": 1})


async def test_each_dead_worker_is_a_recovery_of_its_own(db: Database) -> None:
    losses = [death("1@host#a"), death("1@host#b"), death("1@host#a")]

    assert [await job_recovery_rows.begin_recovery(db, JOB, loss) for loss in losses] == [1, 2, 1]


async def test_a_name_that_dies_again_much_later_is_another_recovery(db: Database) -> None:
    first = await job_recovery_rows.begin_recovery(db, JOB, death("1@box", seconds=3600))
    async with db.writing() as connection:
        await connection.exec_driver_sql(
            "update recoveries set resumed_at = resumed_at - interval '50 minutes'"
        )

    again = await job_recovery_rows.begin_recovery(db, JOB, death("1@box"))

    assert (first, again) == (1, 2)
    assert [each.lost_worker for each in await job_recovery_rows.recoveries_of(db, JOB)] == [
        "1@box",
        "1@box",
    ]


async def test_a_death_that_nobody_could_name_is_one_with_the_death_seen_with_it(
    db: Database,
) -> None:
    named = await job_recovery_rows.begin_recovery(db, JOB, death("1@host#a"))

    assert await job_recovery_rows.begin_recovery(db, JOB, death("")) == named


async def test_attempts_of_one_outage_share_a_recovery_and_a_later_outage_does_not(
    db: Database,
) -> None:
    first = [
        await job_recovery_rows.begin_recovery(db, JOB, outage(seconds)) for seconds in (70, 68, 3)
    ]
    async with db.writing() as connection:
        await connection.exec_driver_sql(
            "update recoveries set resumed_at = resumed_at - interval '1 minute'"
        )

    later = await job_recovery_rows.begin_recovery(db, JOB, outage(3))

    assert (first, later) == ([1, 1, 1], 2)


async def test_a_clock_that_runs_ahead_does_not_put_the_loss_after_the_recovery(
    db: Database,
) -> None:
    await job_recovery_rows.begin_recovery(db, JOB, death(seconds=-5))

    recovery = await only(db)
    assert 0 <= recovery.seconds_until_resumed < 1


async def test_an_older_run_notes_no_recovery(db: Database) -> None:
    old = await job_rows.begin_job_run(db, JOB, "run-1")
    await job_rows.begin_job_run(db, JOB, "run-2")

    with pytest.raises(StaleEpoch):
        await job_recovery_rows.begin_recovery(db, JOB, death(), epoch=old)

    assert await job_recovery_rows.recoveries_of(db, JOB) == []


async def test_the_receipt_tells_reused_from_sent_again_and_leaves_the_rest_out(
    db: Database,
) -> None:
    first = CallLedger(db)
    done = await first.open_model_call(key("done"), MODEL_CALL)
    await first.close_model_call(done.row_id, COMPLETION)
    await first.open_model_call(key("in flight"), MODEL_CALL)
    failed = await first.open_model_call(key("failed"), MODEL_CALL)
    await first.fail_model_call(failed.row_id, "429")
    found = await first.open_tool_call(key("done"), "lab.search", {})
    await first.close_tool_call(found.row_id, ToolAnswer(text="found"))
    await first.open_tool_call(key("in flight"), "lab.search", {})

    second = await recovered(db)
    for part in ("done", "in flight", "failed", "new"):
        await second.open_model_call(key(part), MODEL_CALL)
        await second.open_tool_call(key(part), "lab.search", {})

    recovery = await only(db)
    assert recovery.reused == ReusedCalls(model=1, tool=1, tokens=75)
    assert recovery.sent_again == ResentCalls(model=1, tool=1)
    assert recovery.seconds_to_end is None


async def test_without_a_recovery_nothing_is_noted(db: Database) -> None:
    await job_recovery_rows.begin_recovery(db, JOB, death())
    for _ in range(2):
        await CallLedger(db).open_model_call(key("1"), MODEL_CALL)
        await CallLedger(db).open_tool_call(key("1"), "lab.search", {})

    assert (await only(db)).sent_again == ResentCalls()


async def test_a_call_is_counted_once_however_often_it_is_met(db: Database) -> None:
    opened = await CallLedger(db).open_model_call(key("1"), MODEL_CALL)
    await CallLedger(db).close_model_call(opened.row_id, COMPLETION)

    ledger = await recovered(db)
    for _ in range(3):
        await ledger.open_model_call(key("1"), MODEL_CALL)

    assert (await only(db)).reused == ReusedCalls(model=1, tokens=75)


async def test_a_call_that_is_not_safe_to_repeat_is_not_counted_as_sent_again(
    db: Database,
) -> None:
    await CallLedger(db).open_tool_call(key("1"), "lab.note", {})
    ledger = await recovered(db)
    opened = await ledger.open_tool_call(key("1"), "lab.note", {})
    assert opened.is_outcome_unknown

    await ledger.withhold_tool_call(opened.row_id, "not safe to repeat")

    assert (await only(db)).sent_again == ResentCalls()
    (call,) = await job_queries.job_calls(db, JOB)
    assert (call.status, call.error) == ("refused", "not safe to repeat")


async def test_a_call_that_an_earlier_one_answers_is_not_counted_as_sent_again(
    db: Database,
) -> None:
    asked = CallKey(job_id=JOB, task_id="T1", request_hash="same")
    await CallLedger(db).open_tool_call(
        asked.model_copy(update={"task_id": "T2"}), "lab.search", {}
    )
    opened = await CallLedger(db).open_tool_call(asked, "lab.search", {})
    await CallLedger(db).close_tool_call(opened.row_id, ToolAnswer(text="found"))

    ledger = await recovered(db)
    again = await ledger.open_tool_call(
        asked.model_copy(update={"task_id": "T2"}), "lab.search", {}
    )

    assert again.earlier is not None
    assert (await only(db)).sent_again == ResentCalls()


async def test_an_ended_job_knows_how_long_it_took_from_the_loss(db: Database) -> None:
    epoch = await job_rows.begin_job_run(db, JOB, "run-1")
    await job_recovery_rows.begin_recovery(db, JOB, death(seconds=10))
    async with db.job(JOB, epoch) as write:
        await job_rows.store_job_end(write, JobStatus.DONE, StopReason.ANSWERED, "")

    recovery = await only(db)

    assert recovery.seconds_to_end is not None
    assert 10 <= recovery.seconds_until_resumed <= recovery.seconds_to_end


async def test_a_job_that_has_ended_is_not_written_to(db: Database) -> None:
    async with db.job(JOB) as write:
        await job_rows.store_job_end(write, JobStatus.DONE, StopReason.ANSWERED, "")
    before = await job_queries.events_after(db, JOB, 0)

    assert await job_recovery_rows.begin_recovery(db, JOB, death("1@box")) is None
    assert await job_queries.events_after(db, JOB, 0) == before
