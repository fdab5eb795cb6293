"""Tests for many readers of one event log: one database read serves all readers, and no reader
delays another."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import create_engine, event, make_url, text

from holdfast.api.entry_batch import EntryBatch
from holdfast.api.event_feed import EventFeed
from holdfast.models.jobs.job_record import JobRequest, JobStatus, StopReason
from holdfast.models.views.job_views import EventView
from holdfast.models.wire.event_kinds import EventKind
from holdfast.planning.strategies.strategy_presets import preset
from holdfast.python_client.answers import Event
from holdfast.python_client.event_parser import EventParser
from holdfast.storage.core.database import Database
from holdfast.storage.jobs import job_rows
from holdfast.storage.views.status_and_last_event import JobProgress, load_job_progress

pytestmark = pytest.mark.slow

JOB = "job-followed"
EVERY = timedelta(milliseconds=20)


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    """With one job, whose log has one entry."""
    db = Database(database_url, pool_size=4)
    strategy = preset("kpi-chain").strategy
    request = JobRequest(question="Who?", preset="kpi-chain", model="none", strategy=strategy)
    await job_rows.submit_job(db, JOB, request, None)
    yield db
    await db.close()


async def add(db: Database, count: int) -> None:
    async with db.job(JOB) as write:
        for number in range(count):
            write.event(EventKind.SOURCES_RECHECKED, number=number)


async def end(db: Database) -> None:
    async with db.job(JOB) as write:
        await job_rows.store_job_end(write, JobStatus.DONE, StopReason.ANSWERED, "")


async def read(
    following: EventFeed, seen: JobProgress, told: list[int]
) -> tuple[list[int], JobProgress | None]:
    """The numbers of all entries up to the end, as they come, and how it ended."""
    async for each in following.entries(JOB, 0, seen):
        if isinstance(each, JobProgress):
            return told, each
        told.append(each.seq)
    return told, None


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(120):
        while not condition():
            await asyncio.sleep(0.005)


async def test_readers_who_have_all_wait_with_one_look_for_all(db: Database) -> None:
    following = EventFeed(db, look_every=EVERY)
    readers = [
        asyncio.create_task(read(following, await load_job_progress(db, JOB), []))
        for _ in range(50)
    ]
    await until(lambda: following.readers == {JOB: 50})
    looks: list[str] = []
    listening = (db.engine.sync_engine, "before_cursor_execute", lambda *a: looks.append(a[2]))
    event.listen(*listening)
    # Once all have read what there was, a look is the only thing that is asked.
    await until(lambda: len(looks) > 10 and all("jobs.last_event" in each for each in looks[-10:]))
    looks.clear()

    await add(db, 3)
    await end(db)
    told = await asyncio.gather(*readers)
    event.remove(*listening)

    assert [seqs for seqs, _ in told] == [[1, 2, 3, 4, 5]] * 50
    # One look may fall between the two writes; 50 readers would have read 50 times.
    assert sum("FROM events" in look for look in looks) <= 2
    assert following.readers == {}


async def test_readers_who_begin_together_read_the_log_once(db: Database) -> None:
    await add(db, 30)
    await end(db)
    following = EventFeed(db, look_every=EVERY)
    seen = await load_job_progress(db, JOB)
    looks: list[str] = []
    listening = (db.engine.sync_engine, "before_cursor_execute", lambda *a: looks.append(a[2]))
    event.listen(*listening)

    told = await asyncio.gather(*(read(following, seen, []) for _ in range(50)))
    event.remove(*listening)

    assert [seqs for seqs, _ in told] == [[*range(1, 33)]] * 50
    assert sum("FROM events" in look for look in looks) == 1


def test_entries_go_out_in_few_chunks_of_which_a_slow_reader_can_take_each() -> None:
    def entry(seq: int, words: str) -> EventView:
        at = datetime(2026, 11, 21, tzinfo=UTC)
        return EventView(seq=seq, at=at, kind="job.steered", task="", facts={"words": words})

    entries = (
        *(entry(n, "") for n in range(1, 101)),
        *(entry(n, "x" * 4000) for n in range(101, 121)),
    )
    chunks = EntryBatch(entries).chunks

    parser = EventParser()
    items = list(parser.feed(b"".join(chunks)))
    assert [each.seq for each in items if isinstance(each, Event)] == [*range(1, 121)]
    assert max(len(each) for each in chunks) < 21_000
    assert len(chunks) < 10


def test_an_entry_stays_on_one_line_for_readers_that_split_lines_as_python_does() -> None:
    words = "typed\u2028in\u2029four\u0085lines \x0b\x0c\x1c\x1d\x1e"
    at = datetime(2026, 11, 21, tzinfo=UTC)
    entry = EventView(seq=1, at=at, kind="job.steered", task="", facts={"words": words})

    lines = b"".join(EntryBatch((entry,)).chunks).decode().splitlines()

    assert [line.partition(":")[0] for line in lines] == ["id", "event", "data", ""]
    assert EventView.model_validate_json(lines[2].removeprefix("data: ")) == entry


async def test_one_query_looks_at_all_followed_jobs(db: Database) -> None:
    other = "job-other"
    strategy = preset("kpi-chain").strategy
    request = JobRequest(question="Who?", preset="kpi-chain", model="none", strategy=strategy)
    await job_rows.submit_job(db, other, request, None)
    following = EventFeed(db, look_every=EVERY)
    looks: list[str] = []
    listening = (db.engine.sync_engine, "before_cursor_execute", lambda *a: looks.append(str(a[3])))
    seen = {name: await load_job_progress(db, name) for name in (JOB, other)}

    async def ended(name: str) -> bool:
        return [each async for each in following.entries(name, 1, seen[name])][-1:] != []

    readers = [asyncio.create_task(ended(name)) for name in (JOB, other)]
    await until(lambda: following.readers == {JOB: 1, other: 1})
    event.listen(*listening)
    await until(lambda: len(looks) > 3)
    event.remove(*listening)
    # The first look may have begun before the second reader came.
    assert all(JOB in each and other in each for each in looks[1:])
    await end(db)

    assert await readers[0]
    assert following.readers == {other: 1}
    readers[1].cancel()


async def test_a_slow_reader_is_told_all_though_much_more_came_than_is_kept(db: Database) -> None:
    following = EventFeed(db, look_every=EVERY)
    slow = following.entries(JOB, 0, await load_job_progress(db, JOB))
    fast = asyncio.create_task(read(following, await load_job_progress(db, JOB), []))
    told = [await anext(slow)]
    for _ in range(5):
        await add(db, 150)
    await add(db, 450)
    await end(db)
    everything = list(range(1, 1 + 5 * 150 + 450 + 1 + 1))

    assert (await fast)[0] == everything
    told += [each async for each in slow]

    assert [each.seq for each in told if isinstance(each, EventView)] == everything
    assert isinstance(told[-1], JobProgress)


@contextmanager
def cut_off(postgres: str, database_url: str) -> Iterator[None]:
    """The database ends all its connections and takes no new ones."""
    name = str(make_url(database_url).database)
    engine = create_engine(postgres, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"alter database {name} allow_connections false"))
        connection.execute(
            text("select pg_terminate_backend(pid) from pg_stat_activity where datname = :name"),
            {"name": name},
        )
        yield
        connection.execute(text(f"alter database {name} allow_connections true"))
    engine.dispose()


@pytest.mark.parametrize("waits", [True, False], ids=["who waits", "who reads"])
async def test_a_reader_outlives_an_outage_of_the_database(
    waits: bool, db: Database, postgres: str, database_url: str
) -> None:
    following = EventFeed(db, look_every=EVERY)
    told: list[int] = []
    reading = read(following, await load_job_progress(db, JOB), told)

    if waits:
        reader = asyncio.create_task(reading)
        await until(lambda: told == [1])
    with cut_off(postgres, database_url):
        if not waits:
            reader = asyncio.create_task(reading)
        await until(lambda: db.away_since is not None)
    await add(db, 3)
    await end(db)

    assert (await reader)[0] == [1, 2, 3, 4, 5]
    assert reader.result()[1] == await load_job_progress(db, JOB)


async def test_a_job_that_is_gone_sends_its_readers_away(db: Database) -> None:
    following = EventFeed(db, look_every=EVERY)
    told: list[int] = []
    reader = asyncio.create_task(read(following, await load_job_progress(db, JOB), told))
    await until(lambda: told == [1])

    async with db.writing() as connection:
        await connection.execute(text("set local session_replication_role = replica"))
        await connection.execute(text("delete from jobs"))

    assert await reader == ([1], None)


async def test_who_comes_after_the_closing_is_sent_away_at_once(db: Database) -> None:
    following = EventFeed(db, look_every=EVERY)
    following.close()

    assert await read(following, await load_job_progress(db, JOB), []) == ([], None)
    assert following.readers == {}


async def test_a_reader_behind_a_reopening_is_not_told_of_the_old_end(db: Database) -> None:
    following = EventFeed(db, look_every=timedelta(hours=1))
    await end(db)
    over = await load_job_progress(db, JOB)
    lingering = following.entries(JOB, 0, over)
    await anext(lingering)
    async with db.job(JOB) as write:
        await write.set(status=JobStatus.RUNNING.value)
        write.event(EventKind.JOB_RESUMED)

    fresh = following.entries(JOB, over.last_event, await load_job_progress(db, JOB))
    told = await anext(fresh)
    await fresh.aclose()  # type: ignore[attr-defined]
    await lingering.aclose()  # type: ignore[attr-defined]

    assert isinstance(told, EventView)
    assert told.kind == "job.resumed"
    assert following.readers == {}


async def test_a_job_that_this_release_cannot_read_disconnects_its_own_readers_alone(
    db: Database,
) -> None:
    strange = "job-of-a-newer-release"
    strategy = preset("kpi-chain").strategy
    request = JobRequest(question="Who?", preset="kpi-chain", model="none", strategy=strategy)
    await job_rows.submit_job(db, strange, request, None)
    following = EventFeed(db, look_every=EVERY)

    async def read_strange() -> list[object]:
        seen = await load_job_progress(db, strange)
        return [each async for each in following.entries(strange, seen.last_event, seen)]

    other = asyncio.create_task(read_strange())
    reader = asyncio.create_task(read(following, await load_job_progress(db, JOB), []))
    await until(lambda: following.readers == {JOB: 1, strange: 1})
    async with db.engine.begin() as connection:
        await connection.execute(
            text("update jobs set stop_reason = 'a_newer_reason' where id = :id"), {"id": strange}
        )

    async with asyncio.timeout(60):
        assert await other == []
        await end(db)
        told, ended = await reader

    assert told == [1, 2]
    assert ended is not None
