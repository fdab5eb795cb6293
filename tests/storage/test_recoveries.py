"""Recoveries against a real PostgreSQL: one row a loss, and the calls that are noted under it."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from models.calls import CallKey
from models.completions import Completion, Message, ModelRequest
from models.errors import StaleEpoch
from models.jobs import JobRequest, JobStatus, StopReason
from models.recoveries import Cause, Loss, Recovery, Reused, SentAgain
from models.strategy import Strategy
from models.tools import ToolAnswer
from storage import jobs, recoveries, views
from storage.database import Database
from storage.ledger import Ledger

JOB = "job-1"
MODEL_CALL = ModelRequest(model="m", role="planner", messages=(Message(role="user", content="x"),))
COMPLETION = Completion(text="{}", model="m", input_tokens=70, output_tokens=5)


@pytest.fixture
async def db(database_url: str):
    database = Database(database_url)
    request = JobRequest(question="?", preset="kpi-chain", model="m", strategy=Strategy())
    await jobs.submit(database, JOB, request, None)
    yield database
    await database.close()


def ago(seconds: float) -> datetime:
    return datetime.now(UTC) - timedelta(seconds=seconds)


def death(worker: str = "1@host#a", seconds: float = 2) -> Loss:
    return Loss(cause=Cause.WORKER, lost=worker, at=ago(seconds))


def outage(seconds: float) -> Loss:
    return Loss(cause=Cause.DATABASE, at=ago(seconds))


def key(part: str, task: str = "T1") -> CallKey:
    return CallKey(job_id=JOB, task_id=task, part=part, request_hash=part)


async def recovered(db: Database, loss: Loss | None = None) -> Ledger:
    """The ledger of an activity that goes on after a loss."""
    return Ledger(db, recovery=await recoveries.begin(db, JOB, loss or death()))


async def only(db: Database) -> Recovery:
    (recovery,) = await recoveries.of_job(db, JOB)
    return recovery


async def test_all_attempts_that_a_dead_worker_had_share_one_recovery_and_one_event(
    db: Database,
) -> None:
    loss = death()

    numbers = await asyncio.gather(*(recoveries.begin(db, JOB, loss) for _ in range(10)))

    assert set(numbers) == {1}
    events = await views.events_after(db, JOB, 0)
    assert [event.seq for event in events] == [1, 2]
    assert (events[1].kind, events[1].facts) == ("job.recovered", {"cause": "worker", "number": 1})


async def test_each_dead_worker_is_a_recovery_of_its_own(db: Database) -> None:
    losses = [death("1@host#a"), death("1@host#b"), death("1@host#a")]

    assert [await recoveries.begin(db, JOB, loss) for loss in losses] == [1, 2, 1]


async def test_a_name_that_dies_again_much_later_is_another_recovery(db: Database) -> None:
    first = await recoveries.begin(db, JOB, death("1@box", seconds=3600))
    async with db.writing() as connection:
        await connection.exec_driver_sql(
            "update recoveries set resumed_at = resumed_at - interval '50 minutes'"
        )

    again = await recoveries.begin(db, JOB, death("1@box"))

    assert (first, again) == (1, 2)
    assert [each.lost for each in await recoveries.of_job(db, JOB)] == ["1@box", "1@box"]


async def test_a_death_that_nobody_could_name_is_one_with_the_death_seen_beside_it(
    db: Database,
) -> None:
    named = await recoveries.begin(db, JOB, death("1@host#a"))

    assert await recoveries.begin(db, JOB, death("")) == named


async def test_attempts_of_one_outage_share_a_recovery_and_a_later_outage_does_not(
    db: Database,
) -> None:
    first = [await recoveries.begin(db, JOB, outage(seconds)) for seconds in (70, 68, 3)]
    async with db.writing() as connection:
        await connection.exec_driver_sql(
            "update recoveries set resumed_at = resumed_at - interval '1 minute'"
        )

    later = await recoveries.begin(db, JOB, outage(3))

    assert (first, later) == ([1, 1, 1], 2)


async def test_a_clock_that_runs_ahead_does_not_put_the_loss_after_the_recovery(
    db: Database,
) -> None:
    await recoveries.begin(db, JOB, death(seconds=-5))

    recovery = await only(db)
    assert 0 <= recovery.seconds_until_resumed < 1


async def test_an_older_run_notes_no_recovery(db: Database) -> None:
    old = await jobs.begin(db, JOB, "run-1")
    await jobs.begin(db, JOB, "run-2")

    with pytest.raises(StaleEpoch):
        await recoveries.begin(db, JOB, death(), epoch=old)

    assert await recoveries.of_job(db, JOB) == []


async def test_the_receipt_tells_reused_from_sent_again_and_leaves_the_rest_out(
    db: Database,
) -> None:
    first = Ledger(db)
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
    assert recovery.reused == Reused(model=1, tool=1, tokens=75)
    assert recovery.sent_again == SentAgain(model=1, tool=1)
    assert recovery.seconds_to_end is None


async def test_without_a_recovery_nothing_is_noted(db: Database) -> None:
    await recoveries.begin(db, JOB, death())
    for _ in range(2):
        await Ledger(db).open_model_call(key("1"), MODEL_CALL)
        await Ledger(db).open_tool_call(key("1"), "lab.search", {})

    assert (await only(db)).sent_again == SentAgain()


async def test_a_call_is_counted_once_however_often_it_is_met(db: Database) -> None:
    opened = await Ledger(db).open_model_call(key("1"), MODEL_CALL)
    await Ledger(db).close_model_call(opened.row_id, COMPLETION)

    ledger = await recovered(db)
    for _ in range(3):
        await ledger.open_model_call(key("1"), MODEL_CALL)

    assert (await only(db)).reused == Reused(model=1, tokens=75)


async def test_a_call_that_is_not_safe_to_repeat_is_not_counted_as_sent_again(
    db: Database,
) -> None:
    await Ledger(db).open_tool_call(key("1"), "lab.note", {})
    ledger = await recovered(db)
    opened = await ledger.open_tool_call(key("1"), "lab.note", {})
    assert opened.is_unclear

    await ledger.withhold_tool_call(opened.row_id, "not safe to repeat")

    assert (await only(db)).sent_again == SentAgain()
    (call,) = await views.calls(db, JOB)
    assert (call.status, call.error) == ("refused", "not safe to repeat")


async def test_a_call_that_an_earlier_one_answers_is_not_counted_as_sent_again(
    db: Database,
) -> None:
    asked = CallKey(job_id=JOB, task_id="T1", request_hash="same")
    await Ledger(db).open_tool_call(asked.model_copy(update={"task_id": "T2"}), "lab.search", {})
    opened = await Ledger(db).open_tool_call(asked, "lab.search", {})
    await Ledger(db).close_tool_call(opened.row_id, ToolAnswer(text="found"))

    ledger = await recovered(db)
    again = await ledger.open_tool_call(
        asked.model_copy(update={"task_id": "T2"}), "lab.search", {}
    )

    assert again.earlier is not None
    assert (await only(db)).sent_again == SentAgain()


async def test_an_ended_job_knows_how_long_it_took_from_the_loss(db: Database) -> None:
    epoch = await jobs.begin(db, JOB, "run-1")
    await recoveries.begin(db, JOB, death(seconds=10))
    async with db.job(JOB, epoch) as write:
        await jobs.end(write, JobStatus.DONE, StopReason.ANSWERED, "")

    recovery = await only(db)

    assert recovery.seconds_to_end is not None
    assert 10 <= recovery.seconds_until_resumed <= recovery.seconds_to_end


async def test_a_job_that_has_ended_is_not_written_to(db: Database) -> None:
    async with db.job(JOB) as write:
        await jobs.end(write, JobStatus.DONE, StopReason.ANSWERED, "")
    before = await views.events_after(db, JOB, 0)

    assert await recoveries.begin(db, JOB, death("1@box")) is None
    assert await views.events_after(db, JOB, 0) == before
