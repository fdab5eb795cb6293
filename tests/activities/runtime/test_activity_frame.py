"""Tests that the activity frame does work once, whatever is repeated, lost or run twice."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
from sqlalchemy import insert

from holdfast.activities.runtime.activity_frame import ReceiptScope, Record, Recorded, work_once
from holdfast.models.errors import Overtaken, StaleEpoch
from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.activity_orders import RunOrder
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.storage.core.database import Database, JobTransaction
from holdfast.storage.core.tables.job_tables import receipts
from holdfast.storage.jobs import job_rows
from holdfast.storage.views import job_queries

pytestmark = pytest.mark.slow

JOB = "job-1"
KEY = "weigh"
FIRST_RUN = RunOrder(job_id=JOB, epoch=1)
SECOND_RUN = RunOrder(job_id=JOB, epoch=2)


class Weight(Frozen):
    """The receipt of the work here."""

    grams: int


@dataclass
class Weighing:
    """Work whose every repetition weighs one gram more."""

    scope: ReceiptScope = ReceiptScope.JOB
    count: int = 0
    may_record: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.may_record.set()

    async def __call__(self) -> Record[Weight]:
        self.count += 1
        grams = self.count
        await self.may_record.wait()

        async def record(tx: JobTransaction) -> Recorded[Weight]:
            tx.event("weighed", grams=grams)
            return Recorded(Weight(grams=grams), self.scope)

        return record


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url)
    request = JobRequest(question="?", preset="kpi-chain", model="m", strategy=Strategy())
    await job_rows.submit_job(database, JOB, request, None)
    await job_rows.begin_job_run(database, JOB, "run-1")
    yield database
    await database.close()


async def weigh(db: Database, order: RunOrder, work: Weighing) -> int:
    return (await work_once(db, order, KEY, Weight, work)).grams


async def recorded(db: Database) -> list[object]:
    events = await job_queries.events_after(db, JOB, 0)
    return [event.facts["grams"] for event in events if event.kind == "weighed"]


async def test_a_repeated_activity_returns_its_receipt_and_does_not_work_again(
    db: Database,
) -> None:
    work = Weighing()

    assert [await weigh(db, FIRST_RUN, work) for _ in range(2)] == [1, 1]

    assert work.count == 1
    assert await recorded(db) == [1]


async def test_a_receipt_of_one_run_does_not_count_in_the_next(db: Database) -> None:
    work = Weighing(ReceiptScope.RUN)
    first = [await weigh(db, FIRST_RUN, work) for _ in range(2)]

    await job_rows.begin_job_run(db, JOB, "run-2")
    second = [await weigh(db, SECOND_RUN, work) for _ in range(2)]

    assert (first, second) == ([1, 1], [2, 2])


async def test_an_activity_without_a_receipt_works_again(db: Database) -> None:
    work = Weighing(ReceiptScope.NONE)

    assert [await weigh(db, FIRST_RUN, work) for _ in range(2)] == [1, 2]

    assert await recorded(db) == [1, 2]


@pytest.mark.parametrize("late", [ReceiptScope.JOB, ReceiptScope.RUN])
@pytest.mark.parametrize("early", [ReceiptScope.JOB, ReceiptScope.RUN])
async def test_of_two_attempts_at_once_the_later_records_nothing_and_finds_the_receipt(
    db: Database, early: ReceiptScope, late: ReceiptScope
) -> None:
    slow = Weighing(late, count=10)
    slow.may_record.clear()
    slow_attempt = asyncio.create_task(weigh(db, FIRST_RUN, slow))
    while slow.count == 10:
        await asyncio.sleep(0)
    assert await weigh(db, FIRST_RUN, Weighing(early)) == 1

    slow.may_record.set()
    with pytest.raises(Overtaken):
        await slow_attempt

    assert await weigh(db, FIRST_RUN, slow) == 1
    assert await recorded(db) == [1]


async def test_a_run_that_another_has_taken_over_records_nothing(db: Database) -> None:
    await job_rows.begin_job_run(db, JOB, "run-2")

    with pytest.raises(StaleEpoch):
        await weigh(db, FIRST_RUN, Weighing())

    assert await recorded(db) == []


TURN = "T3#1/4"
"""The key of an agent's turn today."""


async def keep_under(db: Database, key: str, body: dict[str, object]) -> None:
    async with db.writing() as connection:
        row = {"job_id": JOB, "key": key, "body": body}
        await connection.execute(insert(receipts).values(row))


@pytest.mark.conformance("REL-02")
async def test_a_receipt_of_an_earlier_format_counts(db: Database) -> None:
    """Until format 2 an agent's turn had the number of its answered questions."""
    work = Weighing()
    await keep_under(db, "T3#1/4.0", {"grams": 0, "questions": [1]})
    await keep_under(db, "T3#1/4.1", {"grams": 7, "dropped": "a field of that release"})

    found = await work_once(db, FIRST_RUN, TURN, Weight, work)

    assert (found.grams, work.count) == (7, 0)


@pytest.mark.parametrize(
    ("key", "facts"),
    [
        ("T3#1/4.0", {"questions": [1]}),
        ("T3#1/44.0", {}),
        ("T3#1/40", {}),
        ("T3#2/4.0", {}),
        ("T3.1#1/4.0", {}),
    ],
)
async def test_a_question_and_other_work_are_no_receipt_of_a_turn(
    db: Database, key: str, facts: dict[str, object]
) -> None:
    work = Weighing()
    await keep_under(db, key, {"grams": 0} | facts)

    found = await work_once(db, FIRST_RUN, TURN, Weight, work)

    assert (found.grams, work.count) == (1, 1)
