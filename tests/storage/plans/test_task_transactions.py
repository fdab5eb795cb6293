"""Tests for the two transactions of a task on a real PostgreSQL, and for their connections."""

import asyncio
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text

from holdfast.models.calls.call_records import CallKey
from holdfast.models.calls.model_requests import Completion, Message, ModelRequest
from holdfast.models.calls.tool_signatures import SourcePassage, ToolAnswer
from holdfast.models.errors import NotFound, Overtaken, StaleEpoch, StorageAway
from holdfast.models.evidence.evidence import LocatedQuote
from holdfast.models.jobs.activity_orders import TaskOrder
from holdfast.models.jobs.event_mark import EventMark
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.jobs.job_state import TaskReceipt
from holdfast.models.plans.plan_change import PlanChange
from holdfast.models.plans.plan_change_cause import PlanChangeCause
from holdfast.models.plans.research_plan import ExpectedEntity, Plan, Task, TaskKind, TaskStatus
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.models.tasks.attempt_results import EntityValue
from holdfast.storage.core.database import Database
from holdfast.storage.evidence import evidence_rows
from holdfast.storage.jobs import job_rows
from holdfast.storage.ledger.call_ledger import CallLedger
from holdfast.storage.plans import plan_change_rows, task_queries, task_transactions
from holdfast.storage.plans.task_transactions import RunningTask, TaskAttemptOutcome
from holdfast.storage.views import job_queries

pytestmark = pytest.mark.slow

MODEL_CALL = ModelRequest(model="m", role="r", messages=(Message(role="user", content="x"),))
PLAN = Plan(
    tasks=(
        Task(id="T1", kind=TaskKind.TOOL, description="find", expects=(ExpectedEntity(name="x"),)),
        Task(id="T2", kind=TaskKind.REASONING, description="so", depends_on=("T1",)),
    )
)


@pytest.fixture
async def db(database_url: str):
    database = Database(database_url)
    yield database
    await database.close()


async def begin_sample_job(db: Database, job_id: str = "job-1") -> TaskOrder:
    request = JobRequest(question="?", preset="kpi-chain", model="m", strategy=Strategy())
    await job_rows.submit_job(db, job_id, request, None)
    epoch = await job_rows.begin_job_run(db, job_id, "run-1")
    change = PlanChange(cause=PlanChangeCause.PLANNED, added=PLAN.tasks)
    async with db.job(job_id, epoch) as write:
        await plan_change_rows.store_change(write, Plan(), change)
    return TaskOrder(job_id=job_id, epoch=epoch, task_id="T1", attempt=1)


def sample_attempt(
    value: object = "found", passage: SourcePassage | None = None
) -> TaskAttemptOutcome:
    passage = passage or SourcePassage(address="a.txt", text="it was found here", end=17)
    return TaskAttemptOutcome(
        task=PLAN.tasks[0],
        receipt=TaskReceipt(task_id="T1", attempt=1, status=TaskStatus.DONE, confidence=1.0),
        kept=(EntityValue.of_promise(PLAN.tasks[0].expects[0], value, 1.0),),
        read=(passage, passage),
        found=(LocatedQuote(entity="x", passage=passage, start=7, end=12),),
    )


async def cut_off(database_url: str) -> None:
    """Ends every other connection of the database, as a restart does."""
    plain = database_url.replace("+psycopg", "")
    async with await psycopg.AsyncConnection.connect(plain, autocommit=True) as connection:
        await connection.execute(
            "select pg_terminate_backend(pid, 5000) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
        )


async def test_a_task_begins_with_the_entities_of_those_it_depends_on(db: Database) -> None:
    order = await begin_sample_job(db)
    await task_transactions.finish_task(
        CallLedger(db), order, "T1#1", sample_attempt({"deep": [1, None, "\x00"]})
    )

    begun = await task_transactions.begin_task(
        db, order.model_copy(update={"task_id": "T2"}), "T2#1"
    )

    assert isinstance(begun, RunningTask)
    assert begun.task == PLAN.tasks[1].model_copy(update={"status": TaskStatus.RUNNING})
    assert begun.memory == {"T1": {"x": {"deep": [1, None, "\ufffd"]}}}


async def test_a_finished_task_gives_its_receipt_and_writes_nothing(db: Database) -> None:
    order = await begin_sample_job(db)
    await task_transactions.begin_task(db, order, "T1#1")
    stored = await task_transactions.finish_task(CallLedger(db), order, "T1#1", sample_attempt())
    before = await job_queries.events_after(db, "job-1", 0)

    again = await task_transactions.begin_task(db, order, "T1#1")

    assert again == stored
    assert stored.seen == EventMark(number=before[-1].seq, at=before[-1].at)
    assert await job_queries.events_after(db, "job-1", 0) == before
    assert [event.seq for event in before] == list(range(1, len(before) + 1))


async def test_an_older_run_stores_nothing_but_the_answers_it_paid_for(db: Database) -> None:
    old = await begin_sample_job(db)
    ledger = CallLedger(db, may_wait=True)
    key = CallKey(job_id="job-1", request_hash="h")
    opened = await ledger.open_model_call(key, MODEL_CALL)
    await ledger.close_model_call(opened.row_id, Completion(text="paid", model="m"))
    await job_rows.begin_job_run(db, "job-1", "run-2")

    with pytest.raises(StaleEpoch, match="epoch 2"):
        await task_transactions.finish_task(ledger, old, "T1#1", sample_attempt())

    with pytest.raises(StaleEpoch, match="epoch 2"):
        await task_transactions.begin_task(db, old, "T1#1")
    stored = await task_queries.load_task(db, "job-1", "T1")
    assert (stored.task.status, stored.task.result) == (TaskStatus.PENDING, {})
    assert await evidence_rows.evidence_of(db, "job-1") == []
    again = await CallLedger(db).open_model_call(key, MODEL_CALL)
    assert again.answer == Completion(text="paid", model="m")


async def test_of_an_attempt_that_was_worked_twice_one_is_stored_and_nothing_is_doubled(
    db: Database,
) -> None:
    """As by a worker that was cut off, taken over, and comes back."""
    order = await begin_sample_job(db)
    await task_transactions.begin_task(db, order, "T1#1")
    await task_transactions.begin_task(db, order, "T1#1")

    outcomes = await asyncio.gather(
        *(
            task_transactions.finish_task(CallLedger(db), order, "T1#1", sample_attempt())
            for _ in range(4)
        ),
        return_exceptions=True,
    )

    assert sorted(type(each).__name__ for each in outcomes) == [*["Overtaken"] * 3, "TaskReceipt"]
    assert len(await evidence_rows.evidence_of(db, "job-1")) == 1
    log = await job_queries.events_after(db, "job-1", 0)
    assert [event.kind for event in log].count("task.done") == 1
    assert [event.seq for event in log] == list(range(1, len(log) + 1))


async def test_what_does_not_exist_is_named(db: Database) -> None:
    order = await begin_sample_job(db)

    with pytest.raises(NotFound, match="job-9"):
        await task_transactions.begin_task(db, order.model_copy(update={"job_id": "job-9"}), "T1#1")
    with pytest.raises(NotFound, match="T9"):
        await task_transactions.begin_task(db, order.model_copy(update={"task_id": "T9"}), "T9#1")


async def test_an_outcome_that_cannot_be_stored_leaves_nothing(db: Database) -> None:
    order = await begin_sample_job(db)
    await task_transactions.finish_task(CallLedger(db), order, "T1#1", sample_attempt())
    before = await job_queries.events_after(db, "job-1", 0)

    with pytest.raises(Overtaken):
        await task_transactions.finish_task(CallLedger(db), order, "T1#1", sample_attempt("other"))

    assert await job_queries.events_after(db, "job-1", 0) == before
    assert len(await evidence_rows.evidence_of(db, "job-1")) == 1


async def test_jobs_that_read_the_same_source_at_once_each_keep_their_evidence(
    db: Database,
) -> None:
    names = [f"job-{n}" for n in range(6)]
    orders = [await begin_sample_job(db, name) for name in names]

    await asyncio.gather(
        *(
            task_transactions.finish_task(CallLedger(db), each, "T1#1", sample_attempt())
            for each in orders
        )
    )

    found = [await evidence_rows.evidence_of(db, name) for name in names]
    assert [len(each) for each in found] == [1] * 6
    assert len({each[0].source_id for each in found}) == 1


async def test_a_source_that_a_slow_transaction_is_storing_is_shared(
    db: Database, database_url: str
) -> None:
    first, second = await begin_sample_job(db, "job-1"), await begin_sample_job(db, "job-2")
    await task_transactions.finish_task(CallLedger(db), first, "T1#1", sample_attempt())
    (known,) = await evidence_rows.evidence_of(db, "job-1")
    plain = database_url.replace("+psycopg", "")
    async with await psycopg.AsyncConnection.connect(plain) as slow:
        await slow.execute("update sources set title = 'new'")
        finishing = asyncio.create_task(
            task_transactions.finish_task(CallLedger(db), second, "T1#1", sample_attempt())
        )
        await asyncio.wait({finishing}, timeout=0.2)
        assert not finishing.done()

    await finishing

    (found,) = await evidence_rows.evidence_of(db, "job-2")
    assert (found.source_id, found.quote, found.resolves) == (known.source_id, "found", True)


async def test_odd_characters_of_a_source_do_not_lose_its_evidence(db: Database) -> None:
    order = await begin_sample_job(db)
    odd = SourcePassage(address="a\x00\ud800", text="\x00\ud800 was found \x00", end=14)

    await task_transactions.finish_task(CallLedger(db), order, "T1#1", sample_attempt(passage=odd))

    (found,) = await evidence_rows.evidence_of(db, "job-1")
    assert (found.address, found.source_text, found.resolves) == (
        "a\ufffd\ufffd",
        "\ufffd\ufffd was found \ufffd",
        True,
    )


async def test_a_failed_task_has_json_null_nowhere(db: Database) -> None:
    order = await begin_sample_job(db)

    await task_transactions.finish_task(CallLedger(db), order, "T1#1", sample_attempt())

    query = text(
        "select failure is null, trace is null, value = '\"found\"' from tasks"
        " join entities on task_id = id where id = 'T1'"
    )
    async with db.reading() as connection:
        assert (await connection.execute(query)).one() == (True, True, True)
        assert (await connection.scalar(text("select answer is null from jobs"))) is True


async def test_an_answer_that_waits_is_written_with_the_next_call(db: Database) -> None:
    await begin_sample_job(db)
    ledger = CallLedger(db, may_wait=True)
    tool = CallKey(job_id="job-1", request_hash="t")
    opened = await ledger.open_tool_call(tool, "lab.search", {})
    await ledger.close_tool_call(opened.row_id, ToolAnswer(text="2 KB \x00"))

    await ledger.open_model_call(CallKey(job_id="job-1", request_hash="m"), MODEL_CALL)

    states = {call.kind: call.status for call in await job_queries.job_calls(db, "job-1")}
    assert states == {"tool": "done", "model": "started"}


async def test_an_answer_that_waits_is_written_when_the_activity_ends(db: Database) -> None:
    await begin_sample_job(db)
    ledger = CallLedger(db, may_wait=True)
    key = CallKey(job_id="job-1", request_hash="t")
    opened = await ledger.open_tool_call(key, "lab.search", {})
    await ledger.close_tool_call(opened.row_id, ToolAnswer(text="text"))

    await ledger.settle()

    (call,) = await job_queries.job_calls(db, "job-1")
    assert call.status == "done"


@pytest.mark.parametrize("may_wait", [True, False])
async def test_answers_that_come_back_side_by_side_are_all_written(
    db: Database, may_wait: bool
) -> None:
    await begin_sample_job(db)
    ledger = CallLedger(db, may_wait=may_wait)

    async def call(n: int) -> None:
        key = CallKey(job_id="job-1", request_hash=str(n))
        opened = await ledger.open_model_call(key, MODEL_CALL)
        await ledger.close_model_call(opened.row_id, Completion(text=f"answer {n}", model="m"))

    await asyncio.gather(*(call(n) for n in range(12)))
    await ledger.settle()

    assert [call.status for call in await job_queries.job_calls(db, "job-1")] == ["done"] * 12


async def test_work_goes_on_after_every_connection_was_cut(db: Database, database_url: str) -> None:
    order = await begin_sample_job(db)
    keys = [CallKey(job_id="job-1", task_id=f"T{n}", request_hash=str(n)) for n in range(8)]
    await asyncio.gather(*(CallLedger(db).open_tool_call(key, "lab.search", {}) for key in keys))

    await cut_off(database_url)

    await asyncio.gather(*(CallLedger(db).open_tool_call(key, "lab.search", {}) for key in keys))
    await task_transactions.finish_task(CallLedger(db), order, "T1#1", sample_attempt())
    assert {call.sends for call in await job_queries.job_calls(db, "job-1")} == {2}


async def test_a_connection_lost_under_a_statement_is_storage_away(
    db: Database, database_url: str
) -> None:
    order = await begin_sample_job(db)
    async with db.job("job-1"):
        waiting = asyncio.create_task(task_transactions.begin_task(db, order, "T1#1"))
        await asyncio.wait({waiting}, timeout=0.2)
        plain = database_url.replace("+psycopg", "")
        async with await psycopg.AsyncConnection.connect(plain, autocommit=True) as connection:
            await connection.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity"
                " where datname = current_database() and wait_event_type = 'Lock'"
            )

        with pytest.raises(StorageAway):
            await waiting


async def test_a_server_that_is_not_there_is_storage_away(tmp_path: Path) -> None:
    nowhere = Database(f"postgresql+psycopg:///none?host={tmp_path}")
    order = TaskOrder(job_id="j", epoch=1, task_id="T1", attempt=1)

    with pytest.raises(StorageAway):
        await task_transactions.begin_task(nowhere, order, "T1#1")

    await nowhere.close()
