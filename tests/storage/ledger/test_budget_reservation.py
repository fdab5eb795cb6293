"""Tests for the budget reservation before a model call, on a real PostgreSQL: no call leaves that
may exceed the cap."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import text

from holdfast.activities.lifecycle.budget_cap_question import open_budget_question
from holdfast.activities.lifecycle.control_activities import ControlActivities
from holdfast.models.budget.token_prices import Price
from holdfast.models.calls.call_records import CallKey, ReservationRequest
from holdfast.models.calls.model_requests import Completion, Message, ModelRequest
from holdfast.models.errors import BudgetHeld, BudgetReached
from holdfast.models.jobs.activity_orders import ControlOrder
from holdfast.models.jobs.job_record import JobRequest, JobStatus, StopReason
from holdfast.models.questions.control_requests import ControlKind
from holdfast.models.questions.user_questions import QuestionKind
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.storage.core.database import Database
from holdfast.storage.jobs import job_rows
from holdfast.storage.ledger.call_ledger import CallLedger, LedgerEntry
from holdfast.storage.questions.budget_question_rows import withdraw_budget_questions
from holdfast.storage.views import job_queries
from tests.support.jobs.database_services import database_services

pytestmark = pytest.mark.slow

PRICE = Price(input=Decimal(1), output=Decimal(10))  # per million


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url)
    yield database
    await database.close()


async def submitted(db: Database, **settings: Any) -> None:
    request = JobRequest(
        question="?", preset="kpi-chain", model="m", strategy=Strategy.model_validate(settings)
    )
    await job_rows.submit_job(db, "job-1", request, None)


def expense(
    input_tokens: int = 100,
    output_tokens: int = 100,
    price: Price | None = PRICE,
    *,
    longest: int | None = None,
    is_report: bool = False,
) -> ReservationRequest:
    return ReservationRequest(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        longest_output_tokens=output_tokens if longest is None else longest,
        price=price,
        is_report=is_report,
    )


async def opened(
    db: Database,
    name: str,
    what: ReservationRequest | None = None,
    *,
    role: str = "reasoner",
    ledger: CallLedger | None = None,
) -> LedgerEntry:
    request = ModelRequest(model="m", role=role, messages=(Message(role="user", content=name),))
    key = CallKey(job_id="job-1", task_id=name, request_hash=request.hash)
    return await (ledger or CallLedger(db)).open_model_call(key, request, what or expense())


async def closed(db: Database, call: LedgerEntry, taken: int, given: int) -> None:
    completion = Completion(text="{}", model="m", input_tokens=taken, output_tokens=given)
    cost = PRICE.of(input_tokens=taken, output_tokens=given)
    await CallLedger(db).close_model_call(call.row_id, completion, cost)


async def spent(db: Database) -> tuple[int, Decimal, int]:
    """Tokens and money that were spent, and tokens that are held for calls under way."""
    query = text(
        "select sum(input_tokens + output_tokens), coalesce(sum(cost), 0), sum(reserved_tokens)"
        " from model_calls where job_id = 'job-1'"
    )
    async with db.reading() as connection:
        row = (await connection.execute(query)).one()
    return int(row[0] or 0), row[1], int(row[2] or 0)


@pytest.mark.conformance("BEY-06", "VMAO-13")
@pytest.mark.parametrize("cap", [{"max_tokens": 1000}, {"max_cost": 0.0055}])
async def test_calls_that_leave_at_once_share_the_room_that_there_is(
    db: Database, cap: dict[str, Any]
) -> None:
    await submitted(db, **cap, report_reserve=0)

    async def call(n: int) -> bool:
        try:
            await opened(db, f"T{n}")
        except BudgetHeld:
            return False
        return True

    left = await asyncio.gather(*(call(n) for n in range(30)))

    # Each may take 200 tokens, or 0.0011 in money: five fit into either cap.
    assert sum(left) == 5
    assert len(await job_queries.job_calls(db, "job-1")) == 5, "what does not fit is not announced"
    assert await spent(db) == (0, 0, 1000)


@pytest.mark.conformance("BEY-06")
async def test_spend_passes_the_cap_by_no_more_than_one_call_whatever_is_under_way(
    db: Database,
) -> None:
    await submitted(db, max_tokens=5000, report_reserve=0)

    async def work(worker: int) -> int:
        made = 0
        while True:
            try:
                call = await opened(db, f"T{worker}-{made}")
            except BudgetHeld:
                await asyncio.sleep(0)  # Temporal waits longer
                continue
            except BudgetReached:
                return made
            await closed(db, call, 100, 100 if made % 2 else 40)
            made += 1

    made = await asyncio.gather(*(work(n) for n in range(8)))

    tokens, _, held = await spent(db)
    assert sum(made) > 20
    assert (held, tokens <= 5000, tokens > 5000 - 8 * 200) == (0, True, True)


@pytest.mark.conformance("BEY-06")
@pytest.mark.parametrize("cap", [{"max_tokens": 15_000}, {"max_cost": 0.15}])
@pytest.mark.parametrize("answered", [0, 3])
async def test_answers_as_long_as_the_models_longest_keep_the_cap_side_by_side(
    db: Database, cap: dict[str, Any], answered: int
) -> None:
    await submitted(db, **cap, report_reserve=0)
    for n in range(answered):
        await closed(db, await opened(db, f"K{n}"), 100, 600)
    under_way: list[LedgerEntry] = []
    for n in range(30):
        with suppress(BudgetHeld):
            under_way.append(await opened(db, f"T{n}", expense(200, 1000, longest=2000)))

    for call in under_way:
        await closed(db, call, 200, 2000)

    tokens, money, _ = await spent(db)
    assert len(under_way) > 3
    assert tokens <= 15_000 if "max_tokens" in cap else money <= Decimal("0.15")


@pytest.mark.conformance("BEY-06")
@pytest.mark.parametrize("is_report", [False, True])
async def test_one_call_passes_the_cap_with_its_answer_and_leaves_alone(
    db: Database, is_report: bool
) -> None:
    await submitted(db, max_tokens=2500, report_reserve=0)
    long_answers = expense(200, 1000, longest=9000, is_report=is_report)
    first = await opened(db, "T1", long_answers)
    with pytest.raises(BudgetHeld):
        await opened(db, "T2", long_answers)
    await closed(db, first, 200, 100)
    second = await opened(db, "T2", long_answers)
    with pytest.raises(BudgetHeld):
        await opened(db, "T3", long_answers)

    await closed(db, second, 200, 9000)

    with pytest.raises(BudgetReached):
        await opened(db, "T3", long_answers)


async def test_calls_of_a_role_with_short_answers_leave_side_by_side_near_the_cap(
    db: Database,
) -> None:
    await submitted(db, max_tokens=20_000, report_reserve=0)
    most = expense(100, 1000, longest=8000)
    for n in range(3):
        await closed(db, await opened(db, f"K{n}", most), 100, 50)

    for n in range(30):
        await opened(db, f"T{n}", most)

    await opened(db, "X1", most, role="extractor")
    kept = r"under way of 20,000 tokens; next to calls .* room for 18,\d{3} tokens more, for longer"
    with pytest.raises(BudgetHeld, match=kept):
        await opened(db, "X2", most, role="extractor")


@pytest.mark.conformance("BEY-06")
async def test_what_is_held_is_given_back_when_a_call_is_settled_or_fails(db: Database) -> None:
    await submitted(db, max_tokens=450, report_reserve=0)
    first, second = await opened(db, "T1"), await opened(db, "T2")
    with pytest.raises(BudgetHeld, match="0 and 400 under way of 450 tokens"):
        await opened(db, "T3")
    with pytest.raises(BudgetReached, match="0 and 400 under way of 450 tokens"):
        await opened(db, "T3", expense(400, 100))

    await CallLedger(db).fail_model_call(first.row_id, "busy")
    await opened(db, "T3")
    with pytest.raises(BudgetHeld):
        await opened(db, "T4")
    await closed(db, second, 10, 10)

    with pytest.raises(BudgetHeld, match="20 and 200 under way of 450 tokens"):
        await opened(db, "T5", expense(200, 100))
    await opened(db, "T4")
    assert await spent(db) == (20, PRICE.of(input_tokens=10, output_tokens=10), 400)


async def test_a_call_of_which_nobody_heard_for_long_counts_as_spent(db: Database) -> None:
    await submitted(db, max_tokens=300, report_reserve=0)
    await opened(db, "T1")
    with pytest.raises(BudgetHeld):
        await opened(db, "T2")

    async with db.writing() as connection:
        past = text("update model_calls set started_at = now() - interval '1 hour'")
        await connection.execute(past)

    with pytest.raises(BudgetReached, match="200 of 300 tokens"):
        await opened(db, "T2")
    await opened(db, "T1")
    with pytest.raises(BudgetHeld):  # the call is under way again, and may cost less
        await opened(db, "T2")


async def test_a_call_that_is_sent_again_holds_its_room_once(db: Database) -> None:
    await submitted(db, max_tokens=300, report_reserve=0)

    for _ in range(3):
        await opened(db, "T1")

    assert await spent(db) == (0, 0, 200)
    (call,) = await job_queries.job_calls(db, "job-1")
    assert call.sends == 3


async def test_a_recorded_answer_is_given_though_the_budget_is_used_up(db: Database) -> None:
    await submitted(db, max_tokens=300, report_reserve=0)
    await closed(db, await opened(db, "T1"), 5000, 1)

    again = await opened(db, "T1")

    assert isinstance(again.answer, Completion)
    assert again.answer.input_tokens == 5000
    with pytest.raises(BudgetReached):
        await opened(db, "T2")


async def test_the_answer_that_waits_is_counted_before_the_next_call_leaves(db: Database) -> None:
    await submitted(db, max_tokens=500, report_reserve=0)
    ledger = CallLedger(db, may_wait=True)
    first = await opened(db, "T1", ledger=ledger)
    await ledger.close_model_call(first.row_id, Completion(text="{}", model="m", input_tokens=400))

    with pytest.raises(BudgetReached, match="400 of 500 tokens"):
        await opened(db, "T2", ledger=ledger)

    assert await spent(db) == (400, 0, 0)


@pytest.mark.conformance("BEY-06")
async def test_a_share_of_the_cap_is_kept_for_the_report_and_the_report_alone(
    db: Database,
) -> None:
    await submitted(db, max_tokens=1000, report_reserve=0.3)
    await closed(db, await opened(db, "T1"), 600, 0)
    with pytest.raises(BudgetReached, match="600 of 1,000 tokens, 30% of it kept for the report"):
        await opened(db, "T2")

    report = await opened(db, "report", expense(900, is_report=True), role="synthesiser")
    await closed(db, report, 900, 100)

    with pytest.raises(BudgetReached, match="1,600 of 1,000"):
        await opened(db, "again", expense(is_report=True), role="synthesiser")


async def test_the_longest_answer_of_the_role_so_far_is_what_the_next_may_take(
    db: Database,
) -> None:
    await submitted(db, max_tokens=2000, report_reserve=0)
    await closed(db, await opened(db, "T1"), 10, 700)

    second = await opened(db, "T2")

    assert (await spent(db))[2] == 100 + 700
    await opened(db, "X1", role="extractor")
    assert (await spent(db))[2] == 800 + 200
    await closed(db, second, 10, 0)
    await opened(db, "T3")
    assert (await spent(db))[2] == 200 + 800


async def test_a_few_short_answers_do_not_promise_that_the_next_is_short(db: Database) -> None:
    await submitted(db, max_tokens=2000)
    held = []
    for n in range(4):
        call = await opened(db, f"T{n}")
        held.append((await spent(db))[2])
        await closed(db, call, 10, 5)

    assert held == [200, 200, 200, 105]


async def test_no_call_without_a_price_leaves_under_a_cap_on_money(db: Database) -> None:
    await submitted(db, max_cost=1)

    for is_report in (False, True):
        with pytest.raises(BudgetReached, match="price of model 'm' is unknown"):
            await opened(db, "T1", expense(price=None, is_report=is_report))

    assert await job_queries.job_calls(db, "job-1") == []


async def test_a_cap_that_was_raised_meanwhile_is_heard_at_once(db: Database) -> None:
    await submitted(db, max_tokens=100)
    with pytest.raises(BudgetReached):
        await opened(db, "T1")

    async with db.job("job-1") as write:
        await write.set(strategy=Strategy(max_tokens=1000).model_dump(mode="json"))

    assert (await opened(db, "T1")).answer is None


async def test_what_a_call_cost_is_stored_and_an_unknown_cost_is_not_zero(db: Database) -> None:
    await submitted(db)
    first, second = await opened(db, "T1"), await opened(db, "T2")
    await closed(db, first, 1000, 100)
    known = (await job_queries.job_spending(db, "job-1")).spent

    await CallLedger(db).close_model_call(second.row_id, Completion(text="{}", model="m"), None)

    assert known.total.cost == Decimal("0.002")
    unknown = (await job_queries.job_spending(db, "job-1")).spent
    assert unknown.total.cost is None
    assert [(each.name, each.cost) for each in unknown.by_task] == [
        ("T1", Decimal("0.002")),
        ("T2", None),
    ]
    assert [call.cost for call in await job_queries.job_calls(db, "job-1")] == [
        Decimal("0.002"),
        None,
    ]


async def test_the_cap_holds_under_a_recovery_and_the_saved_calls_are_noted(db: Database) -> None:
    await submitted(db, max_tokens=700, report_reserve=0)
    await closed(db, await opened(db, "T1"), 100, 100)
    await opened(db, "T2")  # in flight when the worker died
    async with db.writing() as connection:
        await connection.execute(
            text(
                "insert into recoveries (job_id, number, cause, lost_worker, last_seen_at, resumed_at)"
                " values ('job-1', 1, 'worker', 'w', now(), now())"
            )
        )
    ledger = CallLedger(db, recovery=1)

    for name in ("T1", "T2", "T3"):
        await opened(db, name, ledger=ledger)
    with pytest.raises(BudgetHeld):
        await opened(db, "T4", ledger=ledger)

    query = text("select was_reused from recovered_calls order by call_id")
    async with db.reading() as connection:
        assert list((await connection.execute(query)).scalars()) == [True, False]


@pytest.mark.conformance("BEY-06")
async def test_one_question_about_the_budget_is_open_at_a_time_and_asked_again_once_withdrawn(
    db: Database,
) -> None:
    await submitted(db, max_tokens=100)

    async def asked(key: str) -> int:
        async with db.job("job-1") as write:
            return (await open_budget_question(write, key)).id

    first = [await asked("paused-1@1"), await asked("paused-2@1")]
    async with db.job("job-1") as write:
        await withdraw_budget_questions(write)
    again = await asked("paused-1@2")

    assert first == [first[0]] * 2
    assert again != first[0]
    assert [each.id for each in (await job_queries.job_counts(db, "job-1")).questions] == [again]
    kinds = [each.kind for each in await job_queries.events_after(db, "job-1", 0)]
    assert kinds.count("question.asked") == 2


@pytest.mark.parametrize("kind", [ControlKind.PAUSED, ControlKind.RESUMED])
async def test_a_pause_at_the_cap_asks_once_and_resuming_withdraws_the_question(
    db: Database, kind: ControlKind
) -> None:
    await submitted(db, max_tokens=100)
    epoch = await job_rows.begin_job_run(db, "job-1", "run-1")
    controlling = ControlActivities(database_services(db))
    pause = ControlOrder(
        job_id="job-1",
        epoch=epoch,
        key="paused-1@1",
        kind=ControlKind.PAUSED,
        by="holdfast",
        message="no room",
        is_over_budget=True,
    )
    for _ in range(2):
        await controlling.record_control(pause)

    if kind is ControlKind.RESUMED:
        resume = ControlOrder(job_id="job-1", epoch=epoch, key="r", kind=kind, by="dana")
        await controlling.record_control(resume)

    is_open = kind is ControlKind.PAUSED
    found = (await job_queries.job_counts(db, "job-1")).questions
    assert [each.kind for each in found] == [QuestionKind.BUDGET] * is_open
    assert all(each.deadline is None for each in found)
    assert (await job_rows.load_job(db, "job-1")).status is (
        JobStatus.PAUSED if is_open else JobStatus.RUNNING
    )


async def test_a_job_that_ended_meanwhile_is_asked_nothing(db: Database) -> None:
    await submitted(db, max_tokens=100)
    epoch = await job_rows.begin_job_run(db, "job-1", "run-1")
    async with db.job("job-1") as write:
        await job_rows.store_job_end(write, JobStatus.CANCELLED, StopReason.CANCELLED, "")

    order = ControlOrder(
        job_id="job-1",
        epoch=epoch,
        key="k",
        kind=ControlKind.PAUSED,
        by="holdfast",
        is_over_budget=True,
    )
    await ControlActivities(database_services(db)).record_control(order)

    assert (await job_queries.job_counts(db, "job-1")).questions == ()
