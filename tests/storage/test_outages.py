"""Tests that an outage is stored once, and moves the deadlines of open questions by its length."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, text

from holdfast.models.calls.call_records import CallKey
from holdfast.models.calls.model_requests import ModelRequest
from holdfast.models.questions.user_questions import AnswerOrigin, OpenQuestion, QuestionKind
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.outage_tables import outages
from holdfast.storage.jobs import job_rows
from holdfast.storage.jobs.outage_rows import note_services_present
from holdfast.storage.ledger.call_ledger import CallLedger
from holdfast.storage.questions import question_rows
from holdfast.storage.questions.question_rows import NewQuestion
from tests.support.jobs.earlier_jobs import earlier_request

pytestmark = [pytest.mark.slow, pytest.mark.conformance("REL-01")]

_HOUR = timedelta(hours=1)


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    db = Database(database_url)
    await job_rows.submit_job(db, "job-1", earlier_request("Why?"), None)
    await note_services_present(db)
    yield db
    await db.close()


async def let_pass(db: Database, time: timedelta) -> None:
    """Make everything stored so far older, as if the time had passed; negative: the clock is set
    back."""
    async with db.writing() as connection:
        for statement in (
            "update service_presence set seen_at = seen_at - :time",
            "update questions set asked_at = asked_at - :time, deadline = deadline - :time",
            "update model_calls set finished_at = finished_at - :time",
        ):
            await connection.execute(text(statement), {"time": time})


async def ask(db: Database, key: str = "q", *, left: timedelta = _HOUR / 2) -> OpenQuestion:
    new = NewQuestion(
        key=key, kind=QuestionKind.QUESTION, text="?", deadline=datetime.now(UTC) + left
    )
    async with db.job("job-1") as write:
        asked = await question_rows.open_question(write, new)
    assert asked is not None
    return asked


async def time_left(db: Database, asked: OpenQuestion) -> timedelta:
    deadline = (await question_rows.load_question(db, "job-1", asked.id)).deadline
    assert deadline is not None
    return deadline - datetime.now(UTC)


async def stored_outages(db: Database) -> list[timedelta]:
    async with db.reading() as connection:
        rows = (await connection.execute(select(outages))).all()
    return [row.ended_at - row.began_at for row in rows]


def about(time: timedelta) -> object:
    return pytest.approx(time.total_seconds(), abs=60)


async def test_an_outage_moves_the_deadline_of_an_open_question(db: Database) -> None:
    asked = await ask(db)
    await let_pass(db, 9 * _HOUR)

    outage = await note_services_present(db)

    assert outage is not None
    assert outage.total_seconds() == about(9 * _HOUR)
    assert (await time_left(db, asked)).total_seconds() == about(_HOUR / 2)
    assert await note_services_present(db) is None
    assert len(await stored_outages(db)) == 1


async def test_workers_that_come_back_together_store_one_outage(db: Database) -> None:
    asked = await ask(db)
    await let_pass(db, _HOUR)

    seen = await asyncio.gather(*(note_services_present(db) for _ in range(8)))

    assert sum(each is not None for each in seen) == 1
    assert len(await stored_outages(db)) == 1
    assert (await time_left(db, asked)).total_seconds() == about(_HOUR / 2)


async def test_a_short_silence_moves_nothing(db: Database) -> None:
    asked = await ask(db)
    before = await question_rows.load_question(db, "job-1", asked.id)
    async with db.writing() as connection:
        silent = "update service_presence set seen_at = seen_at - interval '5 seconds'"
        await connection.execute(text(silent))

    assert await note_services_present(db) is None

    assert await question_rows.load_question(db, "job-1", asked.id) == before
    assert await stored_outages(db) == []


@pytest.mark.parametrize("jump", [_HOUR, -_HOUR], ids=["ahead", "back"])
async def test_a_clock_that_jumps_takes_no_time_from_people(db: Database, jump: timedelta) -> None:
    asked = await ask(db)
    await let_pass(db, jump)

    await note_services_present(db)

    assert (await time_left(db, asked)) >= _HOUR / 2 - timedelta(minutes=1)
    assert await note_services_present(db) is None
    assert all(time > timedelta(0) for time in await stored_outages(db))


async def test_what_is_answered_or_was_due_before_the_outage_keeps_its_deadline(
    db: Database,
) -> None:
    due, answered = await ask(db, "due", left=-_HOUR), await ask(db, "answered")
    question = await question_rows.load_question(db, "job-1", answered.id)
    async with db.job("job-1") as write:
        await question_rows.answer_question(write, question, "so", AnswerOrigin.USER, "dana")
    await let_pass(db, 2 * _HOUR)

    await note_services_present(db)

    assert (await time_left(db, due)).total_seconds() == about(-3 * _HOUR)
    assert (await time_left(db, answered)).total_seconds() == about(-1.5 * _HOUR)


async def test_an_outage_does_not_make_a_busy_model_look_busy_for_hours(db: Database) -> None:
    """Otherwise the fallback model would be called after one failure and a closed lid."""
    ledger = CallLedger(db)
    request = ModelRequest(role="planner", model="m", messages=())
    key = CallKey(job_id="job-1", request_hash=request.hash)
    opened = await ledger.open_model_call(key, request)
    await ledger.fail_model_call(opened.row_id, "503", kind="ModelBusy")
    await let_pass(db, _HOUR)
    assert (await ledger.failing_duration(opened.row_id)).total_seconds() == about(_HOUR)

    await note_services_present(db)

    assert (await ledger.failing_duration(opened.row_id)).total_seconds() == about(timedelta(0))
