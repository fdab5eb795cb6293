"""Jobs, epochs, receipts and the call ledger against a real PostgreSQL."""

import asyncio

import pytest

from models.calls import CallKey
from models.completions import Completion, Message, ModelRequest
from models.errors import BadInput, NotFound, StaleEpoch
from models.jobs import JobRequest
from models.strategy import Strategy
from models.tools import ReadPassage, ToolAnswer
from storage import jobs, views
from storage.database import Database
from storage.ledger import Ledger

REQUEST = JobRequest(question="?", preset="kpi-chain", model="m", strategy=Strategy())


@pytest.fixture
async def db(database_url: str):
    database = Database(database_url)
    yield database
    await database.close()


async def test_the_same_key_gives_the_same_job_and_another_request_is_refused(db: Database) -> None:
    first = await jobs.submit(db, "job-1", REQUEST, "mine")
    again = await jobs.submit(db, "job-2", REQUEST, "mine")

    assert (first, again) == (("job-1", True), ("job-1", False))
    with pytest.raises(BadInput, match="asked something else"):
        await jobs.submit(db, "job-3", REQUEST.model_copy(update={"question": "!"}), "mine")
    with pytest.raises(NotFound, match="job-3"):
        await jobs.load(db, "job-3")


@pytest.mark.conformance("WAVE-13")
async def test_every_job_carries_the_hash_of_its_configuration(db: Database) -> None:
    other = REQUEST.model_copy(update={"strategy": Strategy(slots=4)})
    asked = REQUEST.model_copy(update={"question": "another?"})
    for name, request in (("a", REQUEST), ("b", other), ("c", asked)):
        await jobs.submit(db, name, request, None)

    a, b, c = [(await jobs.load(db, name)).config_hash for name in "abc"]

    assert a != b
    assert a == c


async def test_an_older_run_cannot_write_once_a_newer_has_begun(db: Database) -> None:
    await jobs.submit(db, "job-1", REQUEST, None)
    old = await jobs.begin(db, "job-1", "run-1")
    assert await jobs.begin(db, "job-1", "run-1") == old

    new = await jobs.begin(db, "job-1", "run-2")

    assert new == old + 1
    with pytest.raises(StaleEpoch, match="epoch 2"):
        async with db.job("job-1", old) as write:
            write.event("too.late")
    async with db.job("job-1", new) as write:
        write.event("in.time")


async def test_events_are_numbered_without_gaps_whatever_runs_at_once(db: Database) -> None:
    await jobs.submit(db, "job-1", REQUEST, None)

    async def write(n: int) -> None:
        async with db.job("job-1") as writing:
            writing.event("tick", n=n)
            writing.event("tock", n=n)

    await asyncio.gather(*(write(n) for n in range(15)))

    found = await views.events_after(db, "job-1", 0)
    assert [event.seq for event in found] == list(range(1, 32))


async def test_a_recorded_completion_is_given_back_and_its_reuse_counted(db: Database) -> None:
    await jobs.submit(db, "job-1", REQUEST, None)
    request = ModelRequest(model="m", role="planner", messages=(Message(role="user", content="x"),))
    key = CallKey(job_id="job-1", request_hash=request.hash)
    opened = await Ledger(db).open_model_call(key, request)
    assert opened.answer is None
    completion = Completion(text='{"a": 1}\x00', model="m", input_tokens=7, output_tokens=3)
    await Ledger(db).close_model_call(opened.row_id, completion)

    again = await Ledger(db).open_model_call(key, request)

    assert isinstance(again.answer, Completion)
    assert (again.answer.text, again.answer.input_tokens) == ('{"a": 1}\ufffd', 7)
    (call,) = await views.calls(db, "job-1")
    assert (call.reused, call.sends, call.tokens) == (1, 1, {"input": 7, "output": 3})


async def test_a_call_that_left_without_an_answer_is_unclear_and_one_that_failed_is_not(
    db: Database,
) -> None:
    await jobs.submit(db, "job-1", REQUEST, None)
    keys = [CallKey(job_id="job-1", request_hash=name) for name in ("lost", "failed")]
    await Ledger(db).open_tool_call(keys[0], "lab.note", {})
    failed = await Ledger(db).open_tool_call(keys[1], "lab.note", {})
    await Ledger(db).fail_tool_call(failed.row_id, "busy", may_repeat=True)

    lost, tried = [await Ledger(db).open_tool_call(key, "lab.note", {}) for key in keys]

    assert (lost.is_unclear, tried.is_unclear) == (True, False)


async def test_a_tool_answer_comes_back_with_its_passages(db: Database) -> None:
    await jobs.submit(db, "job-1", REQUEST, None)
    key = CallKey(job_id="job-1", request_hash="h")
    opened = await Ledger(db).open_tool_call(key, "lab.search", {"q": "x"})
    whole = ReadPassage(address="tool:lab.search", text="some text", end=9)
    answer = ToolAnswer(text="some text", structured={"n": [1]}, passages=(whole,), is_cut=True)
    await Ledger(db).close_tool_call(opened.row_id, answer)

    again = await Ledger(db).open_tool_call(key, "lab.search", {"q": "x"})

    assert isinstance(again.answer, ToolAnswer)
    assert again.answer.structured == {"n": [1]}
    assert [passage.text for passage in again.answer.passages] == ["some text"]

    elsewhere = await Ledger(db).open_tool_call(
        key.model_copy(update={"task_id": "T9"}), "lab.search", {"q": "x"}
    )
    assert elsewhere.answer is None
    assert elsewhere.earlier == (opened.row_id, again.answer)


async def test_the_first_answer_stays_and_no_error_takes_its_place(db: Database) -> None:
    await jobs.submit(db, "job-1", REQUEST, None)
    request = ModelRequest(model="m", role="planner", messages=(Message(role="user", content="x"),))
    key = CallKey(job_id="job-1", request_hash=request.hash)
    opened = await Ledger(db).open_model_call(key, request)
    await Ledger(db).close_model_call(opened.row_id, Completion(text="first", model="m"))
    (before,) = await views.calls(db, "job-1")

    await Ledger(db).close_model_call(opened.row_id, Completion(text="first", model="m"))
    await Ledger(db).close_model_call(opened.row_id, Completion(text="second", model="m"))
    await Ledger(db).fail_model_call(opened.row_id, "too late")

    assert await views.calls(db, "job-1") == [before]
    again = await Ledger(db).open_model_call(key, request)
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
    keeping = asyncio.create_task(Ledger(away).close_tool_call(1, ToolAnswer(text="found")))
    while away.away_since is None:
        await asyncio.sleep(0.01)
    assert not keeping.done()

    keeping.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(keeping, 10)


async def test_who_was_cancelled_does_not_wait_for_postgresql(away: Database) -> None:
    async def work() -> None:
        ledger = Ledger(away, may_wait=True)
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
