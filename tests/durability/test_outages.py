"""PostgreSQL goes away while a job runs, and comes back: nothing is lost, nothing is paid twice."""

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from temporalio.client import Client

from models.jobs import JobStatus
from models.plan import Input
from models.recoveries import Cause
from roles.extractor import EXTRACTOR
from roles.planner import PLANNER
from roles.replanner import REPLANNER
from storage import plans, recoveries, views
from storage.corpus import Corpus, NewDocument
from tests.support.engine import Engine, running_engine
from tests.support.plans import final, plan, tool
from tests.support.players import Players
from tests.support.postgres import OwnPostgres, own_postgres
from tests.support.scripted_model import Asked, ScriptedModel
from tests.support.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

_WITHIN_S = 30
_BEGINNINGS = {"task.started", "job.recovered"}
"""What is written again when an attempt begins again."""


@pytest.fixture(scope="module")
def server() -> Iterator[OwnPostgres]:
    with own_postgres() as server:
        yield server


@pytest.fixture
async def engine(
    server: OwnPostgres,
    temporal: Client,
    tmp_path: Path,
    model: ScriptedModel,
    tools: ScriptedTools,
) -> AsyncIterator[Engine]:
    async with running_engine(
        temporal, server.url, tmp_path, model_url=model.url, tools_url=tools.url
    ) as engine:
        yield engine


class Gate:
    """Holds the model's answer back until the test lets it go; any number of times open."""

    def __init__(self, part: Callable[[Asked], object]) -> None:
        self._part = part
        self.is_asked, self.may_answer = threading.Event(), threading.Event()

    def __call__(self, asked: Asked) -> object:
        self.is_asked.set()
        assert self.may_answer.wait(_WITHIN_S)
        return self._part(asked)

    async def asked(self) -> None:
        assert await asyncio.to_thread(self.is_asked.wait, _WITHIN_S)


async def eventually(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(_WITHIN_S):
        while not await holds():
            await asyncio.sleep(0.02)


async def is_away(engine: Engine) -> bool:
    return engine.db.away_since is not None


async def findings(engine: Engine, job_id: str) -> tuple[Any, ...]:
    """What a job came to: its answer, what its tasks found, and what it was asked and paid."""
    view = await engine.holdfast.show(job_id)
    stored = await plans.load_tasks(engine.db, job_id)
    results = [(each.task.id, each.task.status, each.task.result) for each in stored]
    return view.status, view.answer, results, view.tokens, view.calls.model, view.replans


async def logged(engine: Engine, job_id: str) -> Counter[tuple[str, str]]:
    """How often each event was written, beginnings aside; their numbers have no gaps."""
    events = await views.events_after(engine.db, job_id, 0)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    return Counter((e.kind, e.task) for e in events if e.kind not in _BEGINNINGS)


async def ended(engine: Engine, job_id: str) -> None:
    async with asyncio.timeout(60):
        job = await engine.holdfast.wait(job_id)
    assert job.status is JobStatus.DONE, job.message


@pytest.fixture
def chain(players: Players, tools: ScriptedTools) -> None:
    """A job of a tool task and the answer that rests on it."""
    players.plan = plan(tool("T1", query="lighthouse"), final("T2", "T1"))
    tools.answers = {"lighthouse": "It was lit in 1841."}


@pytest.mark.conformance("BEY-02")
@pytest.mark.usefixtures("chain")
async def test_an_answer_that_comes_back_during_an_outage_is_kept_and_not_asked_for_again(
    engine: Engine, server: OwnPostgres, players: Players, model: ScriptedModel
) -> None:
    undisturbed = (await engine.run("When?")).job_id
    asked_before = model.count
    gate = Gate(players._extractor)
    players.parts["extractor"] = gate
    job_id = await engine.submit("When?")
    await gate.asked()

    await asyncio.to_thread(server.kill)
    gate.may_answer.set()
    await eventually(lambda: is_away(engine))
    await asyncio.to_thread(server.start)
    await ended(engine, job_id)

    assert model.count == 2 * asked_before
    assert players.count(EXTRACTOR) == 2
    assert await findings(engine, job_id) == await findings(engine, undisturbed)
    assert await logged(engine, job_id) == await logged(engine, undisturbed)
    calls = await views.calls(engine.db, job_id)
    assert {(call.status, call.sends) for call in calls} == {("done", 1)}


@pytest.mark.usefixtures("chain")
async def test_an_attempt_that_an_outage_ended_leaves_a_receipt_of_what_was_not_paid_again(
    engine: Engine, server: OwnPostgres, players: Players
) -> None:
    gate = Gate(players._extractor)
    players.parts["extractor"] = gate
    job_id = await engine.submit("When?")
    await gate.asked()

    await asyncio.to_thread(server.kill)
    gate.may_answer.set()
    await eventually(lambda: is_away(engine))
    away_since = engine.db.away_since
    await asyncio.to_thread(server.start)
    await ended(engine, job_id)

    (recovery,) = await recoveries.of_job(engine.db, job_id)
    (extraction,) = [c for c in await views.calls(engine.db, job_id) if c.role == "extractor"]
    assert (recovery.cause, recovery.lost_at) == (Cause.DATABASE, away_since)
    assert (recovery.reused.model, recovery.reused.tool) == (1, 1)
    assert recovery.reused.tokens == sum(extraction.tokens.values())
    assert (recovery.sent_again.model, recovery.sent_again.tool) == (0, 0)


@pytest.mark.usefixtures("chain")
async def test_a_plan_that_comes_back_during_an_outage_is_stored_by_the_attempt_that_holds_it(
    engine: Engine, server: OwnPostgres, players: Players
) -> None:
    gate = Gate(players._planner)
    players.parts["planner"] = gate
    job_id = await engine.submit("When?")
    await gate.asked()

    await asyncio.to_thread(server.kill)
    gate.may_answer.set()
    await eventually(lambda: is_away(engine))
    await asyncio.to_thread(server.start)
    await ended(engine, job_id)

    assert players.count(PLANNER) == 1
    (planned,) = [c for c in await views.calls(engine.db, job_id) if c.role == "planner"]
    assert (planned.status, planned.sends, planned.reused) == ("done", 1, 0)
    assert await recoveries.of_job(engine.db, job_id) == []


@pytest.mark.usefixtures("chain")
async def test_what_cannot_begin_during_an_outage_begins_after_it(
    engine: Engine, server: OwnPostgres
) -> None:
    job_id = await engine.submit("When?", start_delay=timedelta(seconds=2))

    async def is_tried_again() -> bool:
        described = await engine.temporal.get_workflow_handle(job_id).describe()
        return any(each.attempt > 1 for each in described.raw_description.pending_activities)

    await asyncio.to_thread(server.kill)
    await eventually(is_tried_again)
    away_since = engine.db.away_since
    await asyncio.to_thread(server.start)
    await ended(engine, job_id)

    (recovery,) = await recoveries.of_job(engine.db, job_id)
    assert (recovery.cause, recovery.lost_at) == (Cause.DATABASE, away_since)
    assert (recovery.reused.model, recovery.sent_again.model) == (0, 0)


@pytest.mark.conformance("BEY-02")
async def test_a_corpus_search_that_an_outage_broke_is_made_again_and_nothing_is_replanned(
    engine: Engine, server: OwnPostgres, players: Players
) -> None:
    text = "The light at Carrowmay was lit in 1841."
    document = NewDocument("a.md", "Carrowmay", text, "0" * 64, len(text), [("", 0, len(text))])
    async with Corpus(engine.db).writing("lights") as writer:
        await writer.put(document)
    task = tool("T1").model_copy(
        update={"tool": "corpus.search", "inputs": (Input(name="query", value="Carrowmay"),)}
    )
    players.plan = plan(task, final("T2", "T1"))
    undisturbed = (await engine.run("When?", collection="lights")).job_id

    async with searches_wait(server) as is_waiting:
        job_id = await engine.submit("When?", collection="lights")
        await eventually(is_waiting)
        await asyncio.to_thread(server.kill)
    await eventually(lambda: is_away(engine))
    await asyncio.to_thread(server.start)
    await ended(engine, job_id)

    assert players.count(REPLANNER) == 0
    assert await findings(engine, job_id) == await findings(engine, undisturbed)
    assert await logged(engine, job_id) == await logged(engine, undisturbed)
    (search,) = [call for call in await views.calls(engine.db, job_id) if call.kind == "tool"]
    assert (search.status, search.sends) == ("done", 2)


class searches_wait:  # noqa: N801 - reads as a clause where it is used
    """Holds every search of the corpus by a lock; gives whether one waits for it now."""

    def __init__(self, server: OwnPostgres) -> None:
        self._url = server.url.replace("+psycopg", "")

    async def __aenter__(self) -> Callable[[], Awaitable[bool]]:
        self._holder = await psycopg.AsyncConnection.connect(self._url)
        await self._holder.execute("lock table passages in access exclusive mode")
        self._watcher = await psycopg.AsyncConnection.connect(self._url, autocommit=True)
        return self._is_waiting

    async def _is_waiting(self) -> bool:
        query = "select 1 from pg_stat_activity where wait_event_type = 'Lock'"
        return await (await self._watcher.execute(query)).fetchone() is not None

    async def __aexit__(self, *_: object) -> None:
        await self._holder.close()
        await self._watcher.close()
