"""Tests that hosts that lose PostgreSQL, Temporal or both pay nothing twice, and that no job hangs.

Workers run in network namespaces, whose links lose every packet while they are cut.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field

import pytest

from holdfast.models.jobs.job_record import JobStatus
from holdfast.models.plans.research_plan import ExpectedEntity, Task, TaskKind
from holdfast.roles.tasks.reasoner import REASONER
from holdfast.storage.views.job_queries import job_calls
from tests.durability.worker_launcher import WorkerLauncher, WorkerProcess
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.network_hosts import (
    NetworkHost,
    Services,
    network_host,
    reachable_services,
    why_no_hosts,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.timeout(900),
    pytest.mark.conformance("BEY-02", "OPS-02"),
    pytest.mark.usefixtures("namespaces"),
]

EVERYTHING = ("postgres", "temporal", "model")
_WITHIN_S = 400
"""Of a machine that is busy: nothing here measures time."""
_OUTLASTS_TEST_S = 1_000
_THOUGHT = Task(
    id="T1",
    kind=TaskKind.REASONING,
    description="think",
    expects=(ExpectedEntity(name="value"),),
)


@pytest.fixture(scope="module")
def namespaces() -> None:
    """Skips where no host can be made: on other systems than Linux, and without the right to."""
    if reason := why_no_hosts():
        pytest.skip(reason)


@dataclass
class Thought:
    """The first call of the reasoner, which waits for `end`; later calls end at once.

    The endpoint answers the later ones meanwhile: a reply is delayed, and nothing blocks its loop.
    """

    players: ScriptedRoles
    model: ScriptedModel
    is_begun: threading.Event = field(default_factory=threading.Event)

    def __call__(self, asked: ReceivedRequest) -> object:
        answer = self.players._reasoner(asked)
        if self.is_begun.is_set():
            return answer
        self.is_begun.set()
        return ScriptedReply.of(answer, delay=_OUTLASTS_TEST_S)

    def end(self) -> None:
        """Let the first call be answered."""
        self.model.release()

    async def begun(self) -> None:
        assert await asyncio.to_thread(self.is_begun.wait, _WITHIN_S)


@pytest.fixture
def thought(players: ScriptedRoles, model: ScriptedModel) -> Iterator[Thought]:
    """The call that is under way when a link is cut; each job has it and the answer on it."""
    players.plan = plan(_THOUGHT, final_task("END", "T1"))
    thought = Thought(players, model)
    players.parts["reasoner"] = thought
    yield thought
    thought.end()


@dataclass
class Hosts:
    """Starts workers on hosts of their own."""

    engine: RunningEngine
    workers: WorkerLauncher
    stack: AsyncExitStack

    async def start(self) -> tuple[NetworkHost, WorkerProcess]:
        """A new host with a worker that polls."""
        host = self.stack.enter_context(network_host())
        holdfast = self.engine.holdfast
        services = Services(
            holdfast.endpoints.database_url,
            holdfast.endpoints.temporal_address,
            holdfast.settings.openai_base_url,
        )
        reached = await self.stack.enter_async_context(reachable_services(host, services))
        # The job calls no tool; the scripted tools cannot be reached from there.
        config = self.workers.folder / "without-tools.toml"
        config.touch()
        program = host.program("-m", "holdfast.worker")
        variables = reached | {"HOLDFAST_CONFIG": str(config)}
        return host, await self.workers.start(program=program, **variables)


@pytest.fixture
async def hosts(client_side: RunningEngine, workers: WorkerLauncher) -> AsyncIterator[Hosts]:
    async with AsyncExitStack() as stack:
        yield Hosts(client_side, workers, stack)
        workers.end()


@contextmanager
def cut(host: NetworkHost, *services: str) -> Iterator[None]:
    """Cut the host off from the services within the block."""
    host.cut(*services)
    try:
        yield
    finally:
        host.heal(*services)


async def begun_job(engine: RunningEngine, thought: Thought) -> str:
    job_id = await engine.submit("What is so?")
    await thought.begun()
    return job_id


async def is_done(engine: RunningEngine, job_id: str) -> None:
    async with asyncio.timeout(_WITHIN_S):
        job = await engine.holdfast.wait(job_id)
    assert job.status is JobStatus.DONE, job.message


async def sends(engine: RunningEngine, job_id: str) -> list[int]:
    """How often each call of the job was sent, in order of their first sending."""
    return [call.sends for call in await job_calls(engine.db, job_id)]


async def was_given_up(engine: RunningEngine, job_id: str) -> bool:
    """True if heartbeats of an attempt did not arrive, as they may on a busy machine."""
    handle = engine.temporal.get_workflow_handle(job_id)
    return any(
        [
            event.activity_task_started_event_attributes.last_failure.HasField(
                "timeout_failure_info"
            )
            async for event in handle.fetch_history_events()
        ]
    )


async def until_taken_over(engine: RunningEngine, job_id: str) -> None:
    """Wait until another worker has begun the attempt at the first task."""

    async def is_second_attempt() -> bool:
        described = await engine.temporal.get_workflow_handle(job_id).describe()
        return any(each.attempt > 1 for each in described.raw_description.pending_activities)

    async with asyncio.timeout(_WITHIN_S):
        while not await is_second_attempt():
            await asyncio.sleep(0.1)


async def test_a_lone_host_that_is_cut_off_for_a_minute_pays_nothing_twice(
    hosts: Hosts, thought: Thought, players: ScriptedRoles
) -> None:
    host, _ = await hosts.start()
    job_id = await begun_job(hosts.engine, thought)

    with cut(host, *EVERYTHING):
        await asyncio.sleep(60)  # the outage itself
    thought.end()
    await is_done(hosts.engine, job_id)

    assert set(await sends(hosts.engine, job_id)) == {1}
    assert players.count(REASONER) == 2


async def test_a_host_without_postgresql_keeps_its_reply_and_no_other_host_pays_again(
    hosts: Hosts, thought: Thought, players: ScriptedRoles
) -> None:
    host, worker = await hosts.start()
    job_id = await begun_job(hosts.engine, thought)
    await hosts.start()

    with cut(host, "postgres"):
        thought.end()
        # The worker notices by itself that nothing answers.
        await worker.until(lambda: bool(worker.logged("services.away")), _WITHIN_S)
        await asyncio.sleep(15)  # the outage itself
    await is_done(hosts.engine, job_id)
    if await was_given_up(hosts.engine, job_id):
        pytest.skip("too busy: another host has the attempt, and nobody can know of the reply")

    assert set(await sends(hosts.engine, job_id)) == {1}
    assert players.count(REASONER) == 2


async def test_a_host_without_temporal_writes_its_reply_and_the_next_host_waits_for_it(
    hosts: Hosts, thought: Thought, players: ScriptedRoles
) -> None:
    host, _ = await hosts.start()
    job_id = await begun_job(hosts.engine, thought)
    _, other = await hosts.start()

    with cut(host, "temporal"):
        await until_taken_over(hosts.engine, job_id)
        # It looks every second, and sends nothing as long as the first host has no reply.
        await other.until(
            lambda: (
                len(other.logged("activity.waits_for_reply")) > 2 or players.count(REASONER) > 1
            ),
            _WITHIN_S,
        )
        thought.end()
        await is_done(hosts.engine, job_id)

    assert set(await sends(hosts.engine, job_id)) == {1}
    assert players.count(REASONER) == 2


async def test_another_host_ends_the_job_of_one_that_is_gone_and_repeats_only_the_open_call(
    hosts: Hosts, thought: Thought, players: ScriptedRoles, model: ScriptedModel
) -> None:
    host, _ = await hosts.start()
    job_id = await begun_job(hosts.engine, thought)
    await hosts.start()

    with cut(host, *EVERYTHING):
        await is_done(hosts.engine, job_id)
        done = await sends(hosts.engine, job_id)
    thought.end()

    # The planner's call, the open one, and the answer and the report that followed it.
    assert max(done) == 2
    assert done.count(2) == 1
    assert players.count(REASONER) == 3
