"""Tests for jobs, epochs, receipts and the call ledger on a real PostgreSQL."""

import asyncio

import pytest
from sqlalchemy import text

from holdfast.models.calls.call_records import CallKey
from holdfast.models.calls.model_requests import Completion, Message, ModelRequest
from holdfast.models.calls.tool_signatures import SourcePassage, ToolAnswer
from holdfast.models.errors import BadInput, NotFound, StaleEpoch
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.models.wire.event_kinds import EventKind
from holdfast.storage.core.database import Database
from holdfast.storage.jobs import job_rows
from holdfast.storage.ledger.call_ledger import CallLedger
from holdfast.storage.views import job_queries

pytestmark = pytest.mark.slow

REQUEST = JobRequest(question="?", preset="kpi-chain", model="m", strategy=Strategy())


@pytest.fixture
async def db(database_url: str):
    database = Database(database_url)
    yield database
    await database.close()


async def test_the_same_key_gives_the_same_job_and_another_request_is_refused(db: Database) -> None:
    first = await job_rows.submit_job(db, "job-1", REQUEST, "mine")
    again = await job_rows.submit_job(db, "job-2", REQUEST, "mine")

    assert (first, again) == (("job-1", True), ("job-1", False))
    with pytest.raises(BadInput, match="asked something else"):
        await job_rows.submit_job(db, "job-3", REQUEST.model_copy(update={"question": "!"}), "mine")
    with pytest.raises(NotFound, match="job-3"):
        await job_rows.load_job(db, "job-3")


@pytest.mark.conformance("WAVE-13")
async def test_every_job_carries_the_hash_of_its_configuration(db: Database) -> None:
    other = REQUEST.model_copy(update={"strategy": Strategy(slots=4)})
    asked = REQUEST.model_copy(update={"question": "another?"})
    for name, request in (("a", REQUEST), ("b", other), ("c", asked)):
        await job_rows.submit_job(db, name, request, None)

    a, b, c = [(await job_rows.load_job(db, name)).config_hash for name in "abc"]

    assert a != b
    assert a == c


async def test_an_older_run_cannot_write_once_a_newer_has_begun(db: Database) -> None:
    await job_rows.submit_job(db, "job-1", REQUEST, None)
    old = await job_rows.begin_job_run(db, "job-1", "run-1")
    assert await job_rows.begin_job_run(db, "job-1", "run-1") == old

    new = await job_rows.begin_job_run(db, "job-1", "run-2")

    assert new == old + 1
    with pytest.raises(StaleEpoch, match="epoch 2"):
        async with db.job("job-1", old) as write:
            write.event(EventKind.JOB_STEERED)
    async with db.job("job-1", new) as write:
        write.event(EventKind.JOB_STEERED)


async def test_events_are_numbered_without_gaps_whatever_runs_at_once(db: Database) -> None:
    await job_rows.submit_job(db, "job-1", REQUEST, None)

    async def write(n: int) -> None:
        async with db.job("job-1") as writing:
            writing.event(EventKind.TASK_STARTED, n=n)
            writing.event(EventKind.TASK_DONE, n=n)

    await asyncio.gather(*(write(n) for n in range(15)))

    found = await job_queries.events_after(db, "job-1", 0)
    assert [event.seq for event in found] == list(range(1, 32))


async def test_a_recorded_completion_is_given_back_and_its_reuse_counted(db: Database) -> None:
    await job_rows.submit_job(db, "job-1", REQUEST, None)
    request = ModelRequest(model="m", role="planner", messages=(Message(role="user", content="x"),))
    key = CallKey(job_id="job-1", request_hash=request.hash)
    opened = await CallLedger(db).open_model_call(key, request)
    assert opened.answer is None
    completion = Completion(text='{"a": 1}\x00', model="m", input_tokens=7, output_tokens=3)
    await CallLedger(db).close_model_call(opened.row_id, completion)

    again = await CallLedger(db).open_model_call(key, request)

    assert isinstance(again.answer, Completion)
    assert (again.answer.text, again.answer.input_tokens) == ('{"a": 1}\ufffd', 7)
    (call,) = await job_queries.job_calls(db, "job-1")
    assert (call.reused, call.sends, call.tokens) == (1, 1, {"input": 7, "output": 3})


async def test_a_frozen_fork_repeats_a_call_from_its_own_ledger_once_its_origin_is_gone(
    db: Database,
) -> None:
    for name in ("origin", "fork"):
        await job_rows.submit_job(db, name, REQUEST, None)
    request = ModelRequest(model="m", role="planner", messages=(Message(role="user", content="x"),))
    key = CallKey(job_id="origin", request_hash=request.hash)
    opened = await CallLedger(db).open_model_call(key, request)
    await CallLedger(db).close_model_call(opened.row_id, Completion(text="first", model="m"))
    frozen = CallLedger(db, origins=("origin",), is_frozen=True)
    of_fork = key.model_copy(update={"job_id": "fork"})
    first = await frozen.open_model_call(of_fork, request)
    async with db.writing() as connection:
        await connection.execute(text("delete from jobs where id = 'origin'"))

    again = await frozen.open_model_call(of_fork, request)

    assert isinstance(first.answer, Completion)
    assert again == first


async def test_a_call_that_left_without_an_answer_is_unclear_and_one_that_failed_is_not(
    db: Database,
) -> None:
    await job_rows.submit_job(db, "job-1", REQUEST, None)
    keys = [CallKey(job_id="job-1", task_id=name, request_hash=name) for name in ("T1", "T2")]
    await CallLedger(db).open_tool_call(keys[0], "lab.note", {})
    failed = await CallLedger(db).open_tool_call(keys[1], "lab.note", {})
    await CallLedger(db).fail_tool_call(failed.row_id, "busy", may_repeat=True)

    lost, tried = [await CallLedger(db).open_tool_call(key, "lab.note", {}) for key in keys]

    assert (lost.is_outcome_unknown, tried.is_outcome_unknown) == (True, False)


async def test_a_tool_answer_comes_back_with_its_passages(db: Database) -> None:
    await job_rows.submit_job(db, "job-1", REQUEST, None)
    key = CallKey(job_id="job-1", request_hash="h")
    opened = await CallLedger(db).open_tool_call(key, "lab.search", {"q": "x"})
    whole = SourcePassage(address="tool:lab.search", text="some text", end=9)
    answer = ToolAnswer(text="some text", structured={"n": [1]}, passages=(whole,), is_cut=True)
    await CallLedger(db).close_tool_call(opened.row_id, answer)

    again = await CallLedger(db).open_tool_call(key, "lab.search", {"q": "x"})

    assert isinstance(again.answer, ToolAnswer)
    assert again.answer.structured == {"n": [1]}
    assert [passage.text for passage in again.answer.passages] == ["some text"]

    elsewhere = await CallLedger(db).open_tool_call(
        key.model_copy(update={"task_id": "T9"}), "lab.search", {"q": "x"}
    )
    assert elsewhere.answer is None
    assert elsewhere.earlier == (opened.row_id, again.answer)


async def test_the_first_answer_stays_and_no_error_takes_its_place(db: Database) -> None:
    await job_rows.submit_job(db, "job-1", REQUEST, None)
    request = ModelRequest(model="m", role="planner", messages=(Message(role="user", content="x"),))
    key = CallKey(job_id="job-1", request_hash=request.hash)
    opened = await CallLedger(db).open_model_call(key, request)
    await CallLedger(db).close_model_call(opened.row_id, Completion(text="first", model="m"))
    (before,) = await job_queries.job_calls(db, "job-1")

    await CallLedger(db).close_model_call(opened.row_id, Completion(text="first", model="m"))
    await CallLedger(db).close_model_call(opened.row_id, Completion(text="second", model="m"))
    await CallLedger(db).fail_model_call(opened.row_id, "too late")

    assert await job_queries.job_calls(db, "job-1") == [before]
    again = await CallLedger(db).open_model_call(key, request)
    assert isinstance(again.answer, Completion)
    assert again.answer.text == "first"


@pytest.fixture
async def away():
    """A database that does not answer."""
    database = Database("postgresql+psycopg://nobody@/none?host=/nowhere")
    yield database
    await database.close()


async def test_an_answer_waits_for_postgresql_until_its_activity_is_cancelled(
    away: Database,
) -> None:
    keeping = asyncio.create_task(CallLedger(away).close_tool_call(1, ToolAnswer(text="found")))
    while away.away_since is None:
        await asyncio.sleep(0.01)
    assert not keeping.done()

    keeping.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(keeping, 10)


async def test_who_was_cancelled_does_not_wait_for_postgresql(away: Database) -> None:
    async def work() -> None:
        ledger = CallLedger(away, may_wait=True)
        await ledger.close_tool_call(1, ToolAnswer(text="found"))
        try:
            await asyncio.Event().wait()
        finally:
            await ledger.settle()

    working = asyncio.create_task(work())
    await asyncio.sleep(0)

    working.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(working, 10)
