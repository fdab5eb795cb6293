"""Tests that a worker whose event loop stands still is replaced, and that an activity which blocks
every worker fails, while the other jobs go on."""

from pathlib import Path

import psutil
import pytest
from sqlalchemy import select

from holdfast.models.jobs.job_record import JobStatus
from holdfast.roles.tasks.reasoner import REASONER
from holdfast.services.supervisor.stall_watch import Observation, StallWatch
from holdfast.storage.core.tables.recovery_tables import worker_stalls
from tests.durability import stalling_worker
from tests.durability.worker_launcher import WorkerLauncher
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles, planner_answer
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine

POISONED = plan(lookup_task("T1", query=stalling_worker.POISON), final_task("T2", "T1"))
HEALTHY = plan(final_task("T1"))
HELD_S = 600.0


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.conformance("REL-09")
async def test_an_activity_that_blocks_three_workers_fails_and_its_neighbour_does_not(
    workers: WorkerLauncher,
    client_side: RunningEngine,
    players: ScriptedRoles,
) -> None:
    def planner(asked: ReceivedRequest) -> object:
        return planner_answer(POISONED if asked.task["question"] == "Poison?" else HEALTHY)

    def stall_count() -> int:
        return len(supervised.logged("supervisor.worker_stalled"))

    def reasoner(asked: ReceivedRequest) -> object:
        is_held = stall_count() < 3
        return ScriptedReply.of(players._reasoner(asked), delay=HELD_S if is_held else 0)

    players.parts |= {"planner": planner, "reasoner": reasoner}
    players.continuations = [plan(final_task("T3"))]
    supervised = await workers.start(program=[str(Path(stalling_worker.__file__))])
    neighbour = await client_side.submit("Honest?")
    await supervised.until(lambda: players.count(REASONER) == 1)
    poisoned = await client_side.submit("Poison?")

    await supervised.until(lambda: stall_count() == 3, 90)
    jobs = [await client_side.holdfast.wait(each) for each in (neighbour, poisoned)]

    assert [job.status for job in jobs] == [JobStatus.DONE, JobStatus.DONE]
    views = {each: await client_side.holdfast.show(each) for each in (neighbour, poisoned)}
    failures = {
        (each, task.id): task.failure["message"]
        for each, view in views.items()
        for task in view.tasks
        if task.failure
    }
    assert list(failures) == [(poisoned, "T1")]
    assert failures[poisoned, "T1"].startswith("worker_stalled: ")
    assert {row.activity_id for row in await stalls(client_side, poisoned)} == {"T1"}  # type: ignore[attr-defined]
    assert await stalls(client_side, neighbour) == []
    assert stall_count() == 3


async def stalls(engine: RunningEngine, job_id: str) -> list[object]:
    query = select(worker_stalls).where(worker_stalls.c.job_id == job_id)
    async with engine.db.reading() as connection:
        return list((await connection.execute(query)).all())


def seen(at_s: float, *, beats: int = 7, cpu_s: float = 0.0, state: str = "running") -> Observation:
    return Observation(at_s, beats, cpu_s, state)


def is_still_after(*observations: Observation) -> bool:
    watch = StallWatch(limit_s=5.0)
    return [watch.stands_still(each) for each in observations][-1]


@pytest.mark.conformance("REL-09")
def test_a_loop_that_computes_or_waits_for_five_seconds_stands_still() -> None:
    assert is_still_after(*(seen(second, cpu_s=second) for second in range(6)))
    assert is_still_after(*(seen(second, state=psutil.STATUS_SLEEPING) for second in range(6)))
    assert not is_still_after(*(seen(second, cpu_s=second) for second in range(5)))


@pytest.mark.parametrize(
    "observations",
    [
        pytest.param([seen(n, beats=n, cpu_s=n) for n in range(9)], id="a busy loop that beats"),
        pytest.param([seen(n, beats=0, cpu_s=n) for n in range(9)], id="no loop yet"),
        pytest.param([seen(n, state=psutil.STATUS_STOPPED) for n in range(9)], id="stopped"),
        pytest.param([seen(n, state=psutil.STATUS_DISK_SLEEP) for n in range(9)], id="disk"),
        pytest.param([seen(n, cpu_s=n * 0.1) for n in range(9)], id="no CPU time"),
        pytest.param(
            [seen(n * 600.0, state=psutil.STATUS_SLEEPING) for n in range(3)], id="machine slept"
        ),
    ],
)
def test_time_that_is_not_the_workers_own_is_no_stall(observations: list[Observation]) -> None:
    assert not is_still_after(*observations)


def test_a_beat_ends_the_stall() -> None:
    still = [seen(second, cpu_s=second) for second in range(5)]

    assert not is_still_after(*still, seen(5, beats=8, cpu_s=5), seen(6, beats=8, cpu_s=6))
