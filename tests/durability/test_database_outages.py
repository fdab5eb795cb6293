"""Tests for outages of PostgreSQL during a job: nothing is lost and nothing is paid twice."""

import asyncio
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest

from holdfast.models.jobs.job_record import JobStatus
from holdfast.models.jobs.job_recovery import LossCause
from holdfast.models.plans.research_plan import TaskInput
from holdfast.roles.planning.planner import PLANNER
from holdfast.roles.planning.replanner import REPLANNER
from holdfast.roles.tasks.extractor import EXTRACTOR
from holdfast.storage.corpus.corpus_records import NewDocument
from holdfast.storage.corpus.corpus_store import CorpusStore
from holdfast.storage.ledger import job_recovery_rows
from holdfast.storage.plans import task_queries
from holdfast.storage.views import job_queries
from tests.durability.held_answer import HeldAnswer, eventually
from tests.support.endpoints.scripted_model import ScriptedModel
from tests.support.endpoints.scripted_roles import ScriptedRoles, planner_answer
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.restartable_postgres import RestartablePostgres
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

_LIMIT_S = 10.0
"""Many times what one of these activities takes."""
_LIMITS = dict.fromkeys(("task_timeout", "task_patience"), f"PT{_LIMIT_S:.0f}S")
_RECOVERED = "job.recovered"
"""What an undisturbed job does not have."""


@pytest.fixture
def engine(engine_on_server: RunningEngine) -> RunningEngine:
    return engine_on_server


async def is_away(engine: RunningEngine) -> bool:
    return engine.db.away_since is not None


async def findings(engine: RunningEngine, job_id: str) -> tuple[Any, ...]:
    """What a job came to: its answer, what its tasks found, and what it was asked and paid."""
    view = await engine.holdfast.show(job_id)
    stored = await task_queries.load_tasks(engine.db, job_id)
    results = [(each.task.id, each.task.status, each.task.result) for each in stored]
    return view.status, view.answer, results, view.tokens, view.calls.model, view.replans


async def logged(engine: RunningEngine, job_id: str) -> Counter[tuple[str, str]]:
    """How often each event was written, beginnings aside; their numbers have no gaps."""
    events = await job_queries.events_after(engine.db, job_id, 0)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    return Counter((e.kind, e.task) for e in events if e.kind != _RECOVERED)


async def ended(engine: RunningEngine, job_id: str) -> None:
    async with asyncio.timeout(60):
        job = await engine.holdfast.wait(job_id)
    assert job.status is JobStatus.DONE, job.message


async def run_with_outage(
    engine: RunningEngine,
    server: RestartablePostgres,
    held: HeldAnswer,
    off_s: float = 0,
    **settings: Any,
) -> tuple[str, datetime | None]:
    """Run a job whose held answer comes back while PostgreSQL is away: its id, and away since when."""
    job_id = await engine.submit("When?", **settings)
    await held.asked()

    await asyncio.to_thread(server.kill)
    held.may_answer.set()
    await eventually(lambda: is_away(engine))
    away_since = engine.db.away_since
    await asyncio.sleep(off_s)
    await asyncio.to_thread(server.start)
    await ended(engine, job_id)
    return job_id, away_since


@pytest.fixture
def chain(players: ScriptedRoles, tools: ScriptedTools) -> None:
    """A job of a tool task and the answer that rests on it."""
    players.plan = plan(lookup_task("T1", query="lighthouse"), final_task("T2", "T1"))
    tools.answers = {"lighthouse": "It was lit in 1841."}


@pytest.mark.conformance("BEY-02")
@pytest.mark.usefixtures("chain")
@pytest.mark.long
async def test_an_answer_that_comes_back_during_an_outage_is_kept_and_not_asked_for_again(
    engine: RunningEngine, server: RestartablePostgres, players: ScriptedRoles, model: ScriptedModel
) -> None:
    undisturbed = (await engine.run("When?")).job_id
    asked_before = model.count
    held = HeldAnswer(players._extractor)
    players.parts["extractor"] = held
    job_id, _ = await run_with_outage(engine, server, held)

    assert model.count == 2 * asked_before
    assert players.count(EXTRACTOR) == 2
    assert await findings(engine, job_id) == await findings(engine, undisturbed)
    assert await logged(engine, job_id) == await logged(engine, undisturbed)
    calls = await job_queries.job_calls(engine.db, job_id)
    assert {(call.status, call.sends) for call in calls} == {("done", 1)}


@pytest.mark.usefixtures("chain")
@pytest.mark.long
async def test_an_attempt_that_an_outage_ended_leaves_a_receipt_of_what_was_not_paid_again(
    engine: RunningEngine, server: RestartablePostgres, players: ScriptedRoles
) -> None:
    held = HeldAnswer(players._extractor)
    players.parts["extractor"] = held
    job_id, away_since = await run_with_outage(engine, server, held)

    (recovery,) = await job_recovery_rows.recoveries_of(engine.db, job_id)
    (extraction,) = [
        c for c in await job_queries.job_calls(engine.db, job_id) if c.role == "extractor"
    ]
    assert (recovery.cause, recovery.last_seen_at) == (LossCause.DATABASE, away_since)
    assert (recovery.reused.model, recovery.reused.tool) == (1, 1)
    assert recovery.reused.tokens == sum(extraction.tokens.values())
    assert (recovery.sent_again.model, recovery.sent_again.tool) == (0, 0)


@pytest.mark.conformance("REL-01")
@pytest.mark.usefixtures("chain")
@pytest.mark.long
async def test_an_outage_longer_than_the_limits_costs_no_answer_and_ends_no_task(
    engine: RunningEngine, server: RestartablePostgres, players: ScriptedRoles, model: ScriptedModel
) -> None:
    undisturbed = (await engine.run("When?")).job_id
    asked_before = model.count
    held = HeldAnswer(players._extractor)
    players.parts["extractor"] = held
    job_id, _ = await run_with_outage(engine, server, held, off_s=_LIMIT_S + 2, **_LIMITS)

    assert model.count == 2 * asked_before
    assert await findings(engine, job_id) == await findings(engine, undisturbed)
    assert await logged(engine, job_id) == await logged(engine, undisturbed)


@pytest.mark.usefixtures("chain")
async def test_a_plan_that_comes_back_during_an_outage_is_stored_by_the_attempt_that_holds_it(
    engine: RunningEngine, server: RestartablePostgres, players: ScriptedRoles
) -> None:
    held = HeldAnswer(players._planner)
    players.parts["planner"] = held
    job_id, _ = await run_with_outage(engine, server, held)

    assert players.count(PLANNER) == 1
    (planned,) = [c for c in await job_queries.job_calls(engine.db, job_id) if c.role == "planner"]
    assert (planned.status, planned.sends, planned.reused) == ("done", 1, 0)
    assert await job_recovery_rows.recoveries_of(engine.db, job_id) == []


@pytest.mark.usefixtures("chain")
@pytest.mark.long
async def test_what_cannot_begin_during_an_outage_begins_after_it(
    engine: RunningEngine, server: RestartablePostgres
) -> None:
    # Longer than the kill takes on a busy machine: nothing of the job may begin before.
    job_id = await engine.submit("When?", start_delay=timedelta(seconds=6))

    async def is_tried_again() -> bool:
        described = await engine.temporal.get_workflow_handle(job_id).describe()
        return any(each.attempt > 1 for each in described.raw_description.pending_activities)

    await asyncio.to_thread(server.kill)
    await eventually(is_tried_again)
    away_since = engine.db.away_since
    await asyncio.to_thread(server.start)
    await ended(engine, job_id)

    (recovery,) = await job_recovery_rows.recoveries_of(engine.db, job_id)
    assert (recovery.cause, recovery.last_seen_at) == (LossCause.DATABASE, away_since)
    assert (recovery.reused.model, recovery.sent_again.model) == (0, 0)


@pytest.mark.conformance("BEY-02")
@pytest.mark.long
async def test_a_corpus_search_that_an_outage_broke_is_made_again_and_nothing_is_replanned(
    engine: RunningEngine, server: RestartablePostgres, players: ScriptedRoles
) -> None:
    text = "The light at Carrowmay was lit in 1841."
    document = NewDocument("a.md", "Carrowmay", text, "0" * 64, len(text), [("", 0, len(text))])
    async with CorpusStore(engine.db).writing("lights") as writer:
        await writer.put(document)
    task = lookup_task("T1").model_copy(
        update={"tool": "corpus.search", "inputs": (TaskInput(name="query", value="Carrowmay"),)}
    )
    players.plan = plan(task, final_task("T2", "T1"))
    undisturbed = (await engine.run("When?", collection="lights")).job_id

    is_planning, may_plan = threading.Event(), threading.Event()

    def held_plan(_: object) -> object:
        is_planning.set()
        may_plan.wait(60)
        return planner_answer(players.plan)

    # The planner is told of the collection: its prompt must be there before the table is locked.
    players.parts["planner"] = held_plan
    job_id = await engine.submit("When?", collection="lights")
    await asyncio.to_thread(is_planning.wait, 60)
    async with searches_wait(server) as is_waiting:
        may_plan.set()
        await eventually(is_waiting)
        await asyncio.to_thread(server.kill)
    await eventually(lambda: is_away(engine))
    await asyncio.to_thread(server.start)
    await ended(engine, job_id)

    assert players.count(REPLANNER) == 0
    assert await findings(engine, job_id) == await findings(engine, undisturbed)
    assert await logged(engine, job_id) == await logged(engine, undisturbed)
    (search,) = [
        call for call in await job_queries.job_calls(engine.db, job_id) if call.kind == "tool"
    ]
    assert (search.status, search.sends) == ("done", 2)


class searches_wait:  # noqa: N801 - reads as a clause where it is used
    """Holds every search of the corpus by a lock; gives whether one waits for it now."""

    def __init__(self, server: RestartablePostgres) -> None:
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
