"""Tests that a model call in flight when a worker ends is picked up, and not paid again."""

import asyncio
import signal
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from holdfast.jobs.job_controller import JobController
from holdfast.models.jobs.job_record import JobStatus
from holdfast.models.jobs.job_recovery import Recovery
from holdfast.storage.ledger import job_recovery_rows
from holdfast.storage.views import job_queries
from tests.durability.worker_launcher import WorkerLauncher, WorkerProcess
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.long_parameters import only_long
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.timeout(170)]

MODEL = "slow"
TABLE = f"""
[models.{MODEL}]
api = "responses"
background = true
"""


@dataclass
class HeldReply:
    """The first reply of a role, which is made in the background until it is released."""

    players: ScriptedRoles
    model: ScriptedModel
    role: str
    asked: list[ReceivedRequest] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._answer = getattr(self.players, f"_{self.role}")
        self.players.parts[self.role] = self

    def __call__(self, asked: ReceivedRequest) -> ScriptedReply:
        self.asked.append(asked)
        never_s = 1000.0 if len(self.asked) == 1 else 0.0
        return ScriptedReply.of(self._answer(asked), delay=never_s)

    async def polled(self, more_than: int = 0) -> str:
        """The id of the response, once it was asked for more often than this."""

        def is_polled() -> bool:
            return bool(self.asked) and self.times_polled > more_than

        await asyncio.to_thread(self.model.wait_until, is_polled, within=90)
        return self._id

    @property
    def times_polled(self) -> int:
        return self.model.responses.polled.count(self._id)

    @property
    def _id(self) -> str:
        made = self.model.responses.made.values()
        return next((r["id"] for r in made if r["status"] == "queued"), "")


@pytest.fixture
def config_toml() -> str:
    return TABLE


@pytest.fixture(autouse=True)
def scripted(players: ScriptedRoles, tools: ScriptedTools) -> None:
    """Jobs look one thing up."""
    players.plan = plan(lookup_task("T1"), final_task("T2", "T1"))
    tools.answers = {"q": "The bridge was opened in 1932."}


async def end_worker(worker: WorkerProcess, how: signal.Signals) -> None:
    """End the worker by this signal; return once it is gone."""
    worker.process.send_signal(how)
    await worker.ended()


async def finished(
    engine: RunningEngine, job_id: str
) -> tuple[dict[tuple[str, str], int], list[Recovery]]:
    """How often each model call of the job was sent, and its recoveries, once the job is done."""
    job = await engine.holdfast.wait(job_id, timedelta(seconds=90))
    assert job.status is JobStatus.DONE, job.message
    calls = await job_queries.job_calls(engine.db, job_id)
    sends = {(call.role, call.task): call.sends for call in calls if call.kind == "model"}
    return sends, await job_recovery_rows.recoveries_of(engine.db, job_id)


@pytest.mark.conformance("BEY-11")
@pytest.mark.parametrize("role", ["extractor", only_long("planner"), only_long("synthesiser")])
async def test_a_call_in_flight_when_its_worker_is_killed_is_picked_up(
    client_side: RunningEngine,
    workers: WorkerLauncher,
    players: ScriptedRoles,
    model: ScriptedModel,
    role: str,
) -> None:
    held = HeldReply(players, model, role)
    first = await workers.start()
    job_id = await client_side.submit("When?", model=MODEL)
    await held.polled()

    await end_worker(first, signal.SIGKILL)
    polled = held.times_polled
    await workers.start()
    await held.polled(more_than=polled)
    model.release()
    sends, recoveries = await finished(client_side, job_id)

    assert set(sends.values()) == {1}
    assert model.count == len(sends), "nothing was asked twice"
    assert len(held.asked) == 1
    assert model.responses.cancelled == []
    assert [each.sent_again.model for each in recoveries] == [0]
    assert recoveries[0].reused.model >= 1


@pytest.mark.conformance("BEY-11")
@pytest.mark.long
async def test_a_call_in_flight_when_its_worker_is_stopped_is_picked_up_too(
    client_side: RunningEngine,
    workers: WorkerLauncher,
    players: ScriptedRoles,
    model: ScriptedModel,
) -> None:
    """A worker that stops cancels its activities; the response goes on all the same."""
    held = HeldReply(players, model, "extractor")
    first = await workers.start()
    job_id = await client_side.submit("When?", model=MODEL)
    await held.polled()

    await end_worker(first, signal.SIGTERM)
    polled = held.times_polled
    await workers.start()
    await held.polled(more_than=polled)
    model.release()
    sends, _ = await finished(client_side, job_id)

    assert set(sends.values()) == {1}
    assert (model.count, model.responses.cancelled) == (len(sends), [])


@pytest.mark.conformance("BEY-11")
@pytest.mark.long
async def test_a_response_that_expired_meanwhile_is_asked_for_again_and_counted(
    client_side: RunningEngine,
    workers: WorkerLauncher,
    players: ScriptedRoles,
    model: ScriptedModel,
) -> None:
    held = HeldReply(players, model, "extractor")
    first = await workers.start()
    job_id = await client_side.submit("When?", model=MODEL)
    await held.polled()

    await end_worker(first, signal.SIGKILL)
    model.responses.made.clear()
    await workers.start()
    sends, recoveries = await finished(client_side, job_id)

    assert sends.pop(("extractor", "T1")) == 2
    assert set(sends.values()) == {1}
    assert [each.sent_again.model for each in recoveries] == [1]


@pytest.mark.conformance("BEY-11")
@pytest.mark.long
async def test_the_end_of_a_job_cancels_the_responses_that_it_leaves(
    client_side: RunningEngine,
    workers: WorkerLauncher,
    players: ScriptedRoles,
    model: ScriptedModel,
) -> None:
    held = HeldReply(players, model, "extractor")
    await workers.start()
    job_id = await client_side.submit("When?", model=MODEL)
    response_id = await held.polled()

    await JobController(client_side.holdfast, "dana").cancel(job_id)
    job = await client_side.holdfast.wait(job_id, timedelta(seconds=60))
    await asyncio.to_thread(model.wait_until, lambda: bool(model.responses.cancelled))

    assert job.status is JobStatus.CANCELLED
    assert model.responses.cancelled == [response_id]
