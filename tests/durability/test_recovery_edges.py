"""Tests for edge cases of recovery: cancelled while writing, busy in the middle, stopped, not yet
forked."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime

import psutil
import psycopg
import pytest
from temporalio.api.enums.v1 import PendingActivityState
from temporalio.client import (
    Client,
    DescribeWorkflowInput,
    Interceptor,
    OutboundInterceptor,
    WorkflowExecutionDescription,
)

from holdfast.cli.commands.demo_commands import kill_worker_mid_run
from holdfast.models.calls.call_records import CallKey
from holdfast.models.calls.model_requests import Completion, Message, ModelRequest
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.roles.tasks.extractor import EXTRACTOR
from holdfast.roles.tasks.reasoner import REASONER
from holdfast.services.detached_processes import find_process
from holdfast.services.supervisor.worker_identity import WorkerDeath
from holdfast.services.supervisor.worker_supervisor import EXIT_REFUSED
from holdfast.services.worker.worker_takeover import take_over_work
from holdfast.storage.core import database_outage
from holdfast.storage.core.database import Database
from holdfast.storage.core.database_outage import MAX_OUTAGE_S
from holdfast.storage.jobs import job_rows
from holdfast.storage.ledger import job_recovery_rows
from holdfast.storage.ledger.call_ledger import CallLedger
from holdfast.storage.views import job_queries
from tests.durability.worker_launcher import WorkerLauncher
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.restartable_postgres import restartable_postgres
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

_WITHIN_S = 30
_REQUEST = JobRequest(question="?", preset="kpi-chain", model="m", strategy=Strategy())
_ASKED = ModelRequest(model="m", role="planner", messages=(Message(role="user", content="hello"),))
_KEY = CallKey(job_id="job-1", task_id="", attempt=1, part="1", request_hash=_ASKED.hash)
_ANSWER = Completion(text="paid for", model="m", input_tokens=7, output_tokens=3)


async def eventually(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(_WITHIN_S):
        while not await holds():
            await asyncio.sleep(0.02)


@asynccontextmanager
async def database(url: str) -> AsyncIterator[Database]:
    db = Database(url)
    try:
        yield db
    finally:
        await db.close()


class locked:  # noqa: N801 - reads as an adjective where it is used
    """Holds a table until the block ends; `is_waited_for` says whether a statement waits for it."""

    def __init__(self, url: str, table: str) -> None:
        self._url, self._table = url.replace("+psycopg", "", 1), table

    async def __aenter__(self) -> Callable[[], Awaitable[bool]]:
        self._holder = await psycopg.AsyncConnection.connect(self._url)
        await self._holder.execute(f"lock table {self._table} in access exclusive mode")
        self._watcher = await psycopg.AsyncConnection.connect(self._url, autocommit=True)
        return self._is_waited_for

    async def _is_waited_for(self) -> bool:
        query = (
            "select 1 from pg_stat_activity "
            "where wait_event_type = 'Lock' and datname = current_database()"
        )
        return await (await self._watcher.execute(query)).fetchone() is not None

    async def __aexit__(self, *_: object) -> None:
        await self._holder.close()
        await self._watcher.close()


async def announced(db: Database) -> tuple[CallLedger, int]:
    await job_rows.submit_job(db, "job-1", _REQUEST, None)
    ledger = CallLedger(db)
    return ledger, (await ledger.open_model_call(_KEY, _ASKED)).row_id


async def recorded(db: Database) -> object:
    return (await CallLedger(db).open_model_call(_KEY, _ASKED)).answer


async def test_an_answer_is_kept_though_its_activity_is_cancelled_while_it_is_written(
    database_url: str,
) -> None:
    async with database(database_url) as db:
        ledger, row_id = await announced(db)

        async with locked(database_url, "model_calls") as is_waited_for:
            writing = asyncio.create_task(ledger.close_model_call(row_id, _ANSWER))
            await eventually(is_waited_for)
            writing.cancel()
            # Long enough to give up in; whoever holds on is still waiting then.
            await asyncio.wait([writing], timeout=0.5)
        with pytest.raises(asyncio.CancelledError):
            await writing

        assert await recorded(db) == _ANSWER


@pytest.mark.slow
@pytest.mark.long
async def test_an_answer_gets_a_last_try_when_its_activity_is_cancelled_in_an_outage(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The activity is cancelled in this pause, however long the server takes to start.
    monkeypatch.setattr(database_outage, "_FIRST_PAUSE_S", 3600.0)
    with restartable_postgres() as server:
        async with database(server.url) as db:
            ledger, row_id = await announced(db)
            await asyncio.to_thread(server.kill)
            writing = asyncio.create_task(ledger.close_model_call(row_id, _ANSWER))

            async def is_away() -> bool:
                return db.away_since is not None

            await eventually(is_away)
            await asyncio.to_thread(server.start)
            writing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await writing

            assert await recorded(db) == _ANSWER


async def test_whoever_is_cancelled_in_an_outage_ends_cancelled_and_not_with_the_outage() -> None:
    async with database("postgresql+psycopg://nobody@/none?host=/nowhere") as db:
        ledger, begun = CallLedger(db), asyncio.Event()

        async def work() -> None:
            try:
                begun.set()
                await asyncio.Event().wait()
            finally:
                await ledger.close_model_call(1, _ANSWER)

        working = asyncio.create_task(work())
        await begun.wait()
        working.cancel()

        with pytest.raises(asyncio.CancelledError):
            await working
    assert db.away_since is not None


def test_an_answer_is_held_at_least_as_long_as_any_usual_attempt() -> None:
    assert Strategy().task_timeout.total_seconds() < MAX_OUTAGE_S
    assert Strategy().task_patience.total_seconds() < MAX_OUTAGE_S


@pytest.mark.slow
async def test_chunks_in_flight_are_not_sent_again_when_another_one_is_told_to_wait(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    tools.answers = {"a": "\n\n".join(f"Page {n}. " + "Some words. " * 60 for n in range(6))}

    def part(asked: ReceivedRequest) -> object:
        text = " ".join(fragment["text"] for fragment in asked.task["response"])
        if "Page 0" in text and len(seen) == 0:
            seen.append(text)
            busy = {"message": "slow down"}
            return ScriptedReply(status=429, error=busy, headers={"retry-after-ms": "10"})
        return ScriptedReply.of(players._extractor(asked), delay=1.0)

    seen: list[str] = []
    players.parts["extractor"] = part

    view = await engine.run("Who?", chunk_tokens="200")

    texts = [json.dumps(task["response"]) for task in players.tasks(EXTRACTOR)]
    again = [text for text in texts if texts.count(text) > 1 and "Page 0" not in text]
    calls = await job_queries.job_calls(engine.db, view.job_id)
    assert view.status == "done", view.message
    assert again == []
    assert len(texts) == len(set(texts)) + 1
    assert sum(call.sends - 1 for call in calls) == 1


async def test_a_count_of_tokens_that_cannot_be_costs_no_paid_reply(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    huge = {"prompt_tokens": 10**30, "completion_tokens": 10**30}
    players.plan = plan(final_task("T1"))
    players.parts["reasoner"] = lambda asked: ScriptedReply(
        content=json.dumps(players._reasoner(asked)), usage=huge
    )

    view = await engine.run("Why?")

    assert (view.status, players.count(REASONER)) == ("done", 1)


class Late(Interceptor):
    """A client whose look at a workflow takes until something has happened to it."""

    def __init__(self, until: Callable[[], Awaitable[None]]) -> None:
        self.until = until

    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:  # noqa: A002
        return _Late(next, self.until)


class _Late(OutboundInterceptor):
    def __init__(self, next: OutboundInterceptor, until: Callable[[], Awaitable[None]]) -> None:  # noqa: A002
        super().__init__(next)
        self._until = until

    async def describe_workflow(
        self,
        input: DescribeWorkflowInput,  # noqa: A002
    ) -> WorkflowExecutionDescription:
        found = await super().describe_workflow(input)
        await self._until()
        return found


@pytest.mark.slow
@pytest.mark.long
async def test_an_attempt_that_a_living_worker_began_during_the_sweep_is_left_alone(
    workers: WorkerLauncher, client_side: RunningEngine, players: ScriptedRoles
) -> None:
    def part(asked: ReceivedRequest) -> object:
        if players.count(REASONER) == 1:
            busy = {"message": "slow down"}
            return ScriptedReply(status=429, error=busy, headers={"retry-after": "4"})
        return ScriptedReply.of(players._reasoner(asked), delay=2)

    players.plan = plan(final_task("T1"))
    players.parts["reasoner"] = part
    first = await workers.start()
    job_id = await client_side.submit("Why?")
    handle = client_side.temporal.get_workflow_handle(job_id)

    async def has_backed_off() -> bool:
        pending = (await handle.describe()).raw_description.pending_activities
        return any(
            each.state == PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED
            and each.attempt == 2
            for each in pending
        )

    await eventually(has_backed_off)
    (waiting,) = (await handle.describe()).raw_description.pending_activities
    first.process.kill()
    await first.ended()

    async def begun_elsewhere() -> None:
        await workers.start()
        await eventually(is_asked_again)

    async def is_asked_again() -> bool:
        return players.count(REASONER) == 2

    config = client_side.temporal.config()
    config["interceptors"] = [Late(begun_elsewhere)]
    death = WorkerDeath(identity=waiting.last_worker_identity, died_at=datetime.now(UTC))
    queue = client_side.holdfast.settings.task_queue
    await take_over_work(Client(**config), client_side.db, queue, [death])
    await client_side.holdfast.wait(job_id)

    assert players.count(REASONER) == 2
    assert await job_recovery_rows.recoveries_of(client_side.db, job_id) == []


@contextmanager
def sleeper() -> Iterator[psutil.Process]:
    process = subprocess.Popen(["sleep", "600"])
    try:
        yield psutil.Process(process.pid)
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
async def test_a_worker_that_the_demonstration_stopped_goes_on_when_the_look_is_broken_off(
    client_side: RunningEngine, database_url: str
) -> None:
    job_id = await client_side.submit("Why?")
    with sleeper() as process:
        worker = find_process(process.pid)
        assert worker
        async with locked(database_url, "tool_calls") as is_waited_for:
            killing = asyncio.create_task(
                kill_worker_mid_run(client_side.holdfast, job_id, lambda: worker)
            )
            await eventually(is_waited_for)
            assert process.status() == psutil.STATUS_STOPPED
            killing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await killing

        assert process.status() != psutil.STATUS_STOPPED


NO_ROOM = """
import os, resource, signal, sys
from holdfast.configuration.json_logs import configure_logs
from holdfast.services.supervisor.worker_supervisor import EXIT_REFUSED, Supervisor
configure_logs()
_, most = resource.getrlimit(resource.RLIMIT_NPROC)
resource.setrlimit(resource.RLIMIT_NPROC, (0, most))
room = lambda *_: resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
signal.signal(signal.SIGUSR1, room)
os.setuid(65534)
sys.exit(Supervisor(lambda life: EXIT_REFUSED, [sys.executable]).run())
"""


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0 or sys.platform != "linux", reason="limits a user to nothing")
@pytest.mark.long
def test_a_supervisor_that_cannot_start_a_process_tries_again() -> None:
    with subprocess.Popen([sys.executable, "-c", NO_ROOM], stderr=subprocess.PIPE) as supervisor:
        assert supervisor.stderr
        failures = 0
        for line in supervisor.stderr:
            failures += b"supervisor.cannot_start" in line
            if failures == 2:
                supervisor.send_signal(signal.SIGUSR1)
                break
        supervisor.stderr.read()

    assert (failures, supervisor.returncode) == (2, EXIT_REFUSED)
