"""Tests for crash receipts: a worker is killed with a call in flight, another continues, and the
receipt states the cost."""

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from temporalio.api.workflow.v1 import PendingActivityInfo

from holdfast.models.calls.call_records import CallView
from holdfast.models.jobs.job_recovery import LossCause, Recovery, ResentCalls, ReusedCalls
from holdfast.roles.tasks.extractor import EXTRACTOR
from holdfast.services.supervisor.worker_identity import WorkerDeath
from holdfast.services.worker.worker_takeover import take_over_work
from holdfast.storage.core.database import Database
from holdfast.storage.ledger import job_recovery_rows
from holdfast.storage.views import job_queries
from holdfast.worker import build_worker
from tests.durability.worker_launcher import WorkerLauncher
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan, result_reference
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

_WITHIN_S = 40


@asynccontextmanager
async def second_worker(engine: RunningEngine) -> AsyncIterator[None]:
    async with build_worker(engine.temporal, engine.parts, engine.holdfast.settings):
        yield


class Extractor:
    """Answers T1; answers T2 with nonsense; then holds the correction until the worker is dead."""

    def __init__(self, players: ScriptedRoles) -> None:
        self._players = players
        self.is_in_flight, self.may_answer = threading.Event(), threading.Event()

    def __call__(self, asked: ReceivedRequest) -> object:
        if "T2" not in asked.task["description"]:
            return self._players._extractor(asked)
        if not asked.is_correction:
            return ScriptedReply(content="not json", is_lax=True)
        self.is_in_flight.set()
        assert self.may_answer.wait(_WITHIN_S)
        return self._players._extractor(asked)

    async def in_flight(self) -> None:
        assert await asyncio.to_thread(self.is_in_flight.wait, _WITHIN_S)


@pytest.fixture
def extractor(players: ScriptedRoles, tools: ScriptedTools) -> Iterator[Extractor]:
    """How a job is stopped in the middle: T1 is done, T2 has called its tool and a model once."""
    players.plan = plan(
        lookup_task("T1", query="one"),
        lookup_task("T2", "T1", query=result_reference("T1")),
        final_task("T3", "T2"),
    )
    tools.answers = lambda query: "what one says" if query == "one" else f"more about {query}"
    players.parts["extractor"] = extractor = Extractor(players)
    yield extractor
    extractor.may_answer.set()


async def pending(engine: RunningEngine, job_id: str) -> PendingActivityInfo:
    """The one activity that the job has under way."""
    described = await engine.temporal.get_workflow_handle(job_id).describe()
    (activity,) = described.raw_description.pending_activities
    return activity


async def eventually(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(_WITHIN_S):
        while not await holds():
            await asyncio.sleep(0.05)


async def ended(engine: RunningEngine, job_id: str) -> None:
    async with asyncio.timeout(_WITHIN_S):
        await engine.holdfast.wait(job_id)


async def stored(database_url: str, job_id: str) -> list[Recovery]:
    """The receipts, as somebody finds them who was not there."""
    fresh = Database(database_url)
    try:
        return await job_recovery_rows.recoveries_of(fresh, job_id)
    finally:
        await fresh.close()


async def nonsense(engine: RunningEngine, job_id: str) -> CallView:
    """T2's first extraction, whose answer had been recorded when its worker died."""
    found = await job_queries.job_calls(engine.db, job_id)
    return next(call for call in found if (call.role, call.task) == ("extractor", "T2"))


@pytest.mark.conformance("BEY-01")
@pytest.mark.parametrize("is_seen", [True, False], ids=["supervised", "unseen"])
async def test_the_receipt_says_what_was_reused_and_what_was_sent_again(
    client_side: RunningEngine,
    workers: WorkerLauncher,
    database_url: str,
    players: ScriptedRoles,
    extractor: Extractor,
    *,
    is_seen: bool,
) -> None:
    first = await workers.start()
    job_id = await client_side.submit("What is there?")
    await extractor.in_flight()

    async def has_beaten() -> bool:
        return bool((await pending(client_side, job_id)).heartbeat_details.payloads)

    await eventually(has_beaten)
    lost = (await pending(client_side, job_id)).last_worker_identity
    alive_at = datetime.now(UTC)
    first.process.send_signal(signal.SIGKILL)
    await first.ended()
    extractor.may_answer.set()
    death = WorkerDeath(identity=lost, died_at=datetime.now(UTC))
    async with second_worker(client_side):
        if is_seen:
            await take_over_work(
                client_side.temporal,
                client_side.db,
                client_side.holdfast.settings.task_queue,
                [death],
            )
        await ended(client_side, job_id)

    view, first_try = await client_side.holdfast.show(job_id), await nonsense(client_side, job_id)
    (recovery,) = await stored(database_url, job_id)
    assert view.status == "done", view.message
    assert (recovery.number, recovery.cause, recovery.lost_worker) == (1, LossCause.WORKER, lost)
    assert recovery.reused == ReusedCalls(model=1, tool=1, tokens=sum(first_try.tokens.values()))
    assert recovery.reused.tokens > 0
    assert recovery.sent_again == ResentCalls(model=1, tool=0)
    # T1, T2's nonsense, and its correction twice: the one in flight is all that was lost.
    assert players.count(EXTRACTOR) == 4
    if is_seen:
        assert recovery.last_seen_at == death.died_at
    else:
        assert view.created_at < recovery.last_seen_at <= alive_at
    assert recovery.last_seen_at < recovery.resumed_at
    assert recovery.seconds_to_end is not None
    assert 0 < recovery.seconds_until_resumed < recovery.seconds_to_end
    events = await job_queries.events_after(client_side.db, job_id, 0)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert [event.facts for event in events if event.kind == "job.recovered"] == [
        {"cause": "worker", "number": 1}
    ]


async def test_a_busy_model_is_no_recovery(engine: RunningEngine, players: ScriptedRoles) -> None:
    told: list[ReceivedRequest] = []

    def busy_once(asked: ReceivedRequest) -> object:
        told.append(asked)
        if len(told) == 1:
            busy = {"message": "slow down"}
            return ScriptedReply(status=429, error=busy, headers={"retry-after-ms": "10"})
        return players._reasoner(asked)

    players.plan = plan(final_task("T1"))
    players.parts["reasoner"] = busy_once

    view = await engine.run("Why?")

    assert (view.status, len(told)) == ("done", 2)
    assert await job_recovery_rows.recoveries_of(engine.db, view.job_id) == []
