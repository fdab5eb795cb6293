"""Tests that a dead worker is replaced and its work taken over at once, with real processes and
real signals."""

import json
import signal
import subprocess
import sys
from datetime import UTC, datetime

import psycopg
import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import ActivityTaskStartedEventAttributes

from holdfast.models.jobs.job_record import JobStatus
from holdfast.models.plans.research_plan import Plan, Task
from holdfast.roles.tasks.reasoner import REASONER
from holdfast.services.detached_processes import find_process, is_alive
from holdfast.services.supervisor.restart_pauses import restart_delay_s
from holdfast.services.supervisor.worker_identity import WorkerDeath
from holdfast.services.supervisor.worker_supervisor import EXIT_REFUSED
from holdfast.services.worker.worker_takeover import take_over_work
from holdfast.storage.core.client_sessions import session_name
from holdfast.storage.jobs import job_rows
from holdfast.storage.views import job_queries
from tests.durability.worker_launcher import WorkerLauncher
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, plan
from tests.support.jobs.running_engine import RunningEngine

pytestmark = pytest.mark.slow

LONG_S = 600.0


def wide(width: int) -> Plan:
    """So many reasoning tasks side by side, and one that waits for them all."""
    names = [f"T{number}" for number in range(1, width + 1)]
    return plan(*(_step(name) for name in names), final_task("T99", *names))


def _step(name: str) -> Task:
    last = final_task(name)
    expected = last.expects[0].model_copy(update={"name": "value"})
    return last.model_copy(update={"expects": (expected,)})


def slow_at_first(players: ScriptedRoles, count: int, seconds: float = LONG_S) -> None:
    """The first `count` answers of the reasoner take so long."""

    def part(asked: ReceivedRequest) -> object:
        answer = players._reasoner(asked)
        is_early = players.count(REASONER) <= count
        return ScriptedReply.of(answer, delay=seconds) if is_early else answer

    players.parts["reasoner"] = part


async def started(
    engine: RunningEngine, job_id: str
) -> dict[str, ActivityTaskStartedEventAttributes]:
    """How each activity's last attempt began, by activity id."""
    history = await engine.temporal.get_workflow_handle(job_id).fetch_history()
    names = {
        event.event_id: event.activity_task_scheduled_event_attributes.activity_id
        for event in history.events
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
    }
    begun = [
        event.activity_task_started_event_attributes
        for event in history.events
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED
    ]
    return {names[each.scheduled_event_id]: each for each in begun}


async def is_done(engine: RunningEngine, job_id: str) -> bool:
    return (await job_rows.load_job(engine.db, job_id)).status is JobStatus.DONE


@pytest.mark.conformance("REL-04")
async def test_a_job_goes_on_by_itself_when_its_worker_is_killed(
    workers: WorkerLauncher, client_side: RunningEngine, players: ScriptedRoles
) -> None:
    players.plan = wide(2)
    slow_at_first(players, 2)
    supervised = await workers.start("--supervise")
    job_id = await client_side.submit("Why?")
    await supervised.until(lambda: players.count(REASONER) == 2)
    dead = supervised.worker

    dead.kill()
    await client_side.holdfast.wait(job_id)

    assert await is_done(client_side, job_id)
    attempts = await started(client_side, job_id)
    for task in ("T1", "T2"):
        failure = attempts[task].last_failure
        assert failure.application_failure_info.type == "WorkerDied", failure
        facts = json.loads(failure.application_failure_info.details.payloads[0].data)
        assert facts["worker"].startswith(f"{dead.pid}@")
        assert datetime.fromisoformat(facts["died_at"]) <= datetime.now(UTC)
        assert attempts[task].attempt == 2
        assert attempts[task].identity.startswith(f"{supervised.worker.pid}@")
    # Both workers began the same attempts, so the log has each once.
    events = await job_queries.events_after(client_side.db, job_id, 0)
    begun = [(event.task, event.facts) for event in events if event.kind == "task.started"]
    assert sorted(begun, key=str) == [(task, {"attempt": 1}) for task in ("T1", "T2", "T99")]


@pytest.mark.long
async def test_a_workflow_is_replayed_while_its_lost_activities_run_again(
    workers: WorkerLauncher, client_side: RunningEngine, players: ScriptedRoles
) -> None:
    players.plan = wide(2)
    slow_at_first(players, 4)
    supervised = await workers.start("--supervise")
    job_id = await client_side.submit("Why?")
    await supervised.until(lambda: players.count(REASONER) == 2)
    handle = client_side.temporal.get_workflow_handle(job_id)
    before = len((await handle.fetch_history()).events)

    supervised.worker.kill()
    await supervised.until(lambda: players.count(REASONER) == 4)

    # No answer comes, so nothing but the takeover can have asked for the replay.
    await supervised.until(lambda: bool(supervised.logged("takeover.replayed")))
    assert [line["job_id"] for line in supervised.logged("takeover.replayed")] == [job_id]
    assert len((await handle.fetch_history()).events) == before


@pytest.mark.long
async def test_a_living_workers_attempts_are_left_alone(
    workers: WorkerLauncher, client_side: RunningEngine, players: ScriptedRoles
) -> None:
    players.plan = wide(1)
    slow_at_first(players, 1, seconds=1.0)
    worker = await workers.start()
    job_id = await client_side.submit("Why?")
    await worker.until(lambda: players.count(REASONER) == 1)
    request = (await job_rows.load_job(client_side.db, job_id)).request
    # One that Temporal knows nothing of is passed over.
    await job_rows.submit_job(client_side.db, "job-without-workflow", request, None)

    queue = client_side.holdfast.settings.task_queue
    deaths = [WorkerDeath(identity="1@elsewhere#00000000", died_at=datetime.now(UTC))]
    await take_over_work(client_side.temporal, client_side.db, queue, deaths)
    await client_side.holdfast.wait(job_id)

    assert (await started(client_side, job_id))["T1"].attempt == 1


@pytest.mark.long
async def test_sigterm_lets_a_running_task_come_to_its_end(
    workers: WorkerLauncher, client_side: RunningEngine, players: ScriptedRoles
) -> None:
    players.plan = wide(1)
    slow_at_first(players, 1, seconds=1.5)
    supervised = await workers.start("--supervise")
    job_id = await client_side.submit("Why?")
    await supervised.until(lambda: players.count(REASONER) == 1)

    supervised.process.send_signal(signal.SIGTERM)

    assert await supervised.ended() == 0
    assert supervised.logged("worker.stopped")
    assert not supervised.logged("supervisor.worker_ended")
    assert not supervised.is_ready
    assert (await started(client_side, job_id))["T1"].attempt == 1
    assert players.count(REASONER) == 1
    await workers.start()
    await client_side.holdfast.wait(job_id)
    assert players.tasks(REASONER)[0] != players.tasks(REASONER)[1]


@pytest.mark.long
async def test_a_killed_supervisors_worker_ends_as_well(workers: WorkerLauncher) -> None:
    supervised = await workers.start("--supervise")
    worker = find_process(supervised.worker.pid)
    assert worker

    supervised.process.kill()
    await supervised.ended()

    await supervised.until(lambda: not is_alive(worker))
    assert supervised.logged("worker.stopped")


@pytest.mark.long
async def test_a_refused_configuration_is_not_tried_again(workers: WorkerLauncher) -> None:
    # A name that comes with Holdfast: only the worker itself can find that out.
    config = workers.folder / "refused.toml"
    config.write_text('[servers.corpus]\ncommand = ["true"]\n')

    supervised = workers.launch("--supervise", HOLDFAST_CONFIG=str(config))

    assert await supervised.ended() == EXIT_REFUSED
    assert len(supervised.logged("supervisor.worker_started")) == 1
    [refusal] = supervised.logged("worker.refused")
    assert "'corpus' comes with Holdfast" in refusal["error"]


@pytest.mark.long
async def test_a_worker_that_finds_no_service_is_tried_again(workers: WorkerLauncher) -> None:
    supervised = workers.launch("--supervise", TEMPORAL_ADDRESS="127.0.0.1:9")

    await supervised.until(lambda: len(supervised.logged("worker.found_no_service")) >= 2)

    assert supervised.process.poll() is None
    supervised.process.send_signal(signal.SIGTERM)
    assert await supervised.ended() == 0


def test_pauses_grow_with_the_workers_that_died_young() -> None:
    assert [restart_delay_s(count) for count in range(9)] == [0, 0, 1, 2, 4, 8, 16, 30, 30]
    assert restart_delay_s(10_000) == 30


CRASHING = """
from holdfast.configuration.json_logs import configure_logs
from holdfast.services.supervisor.worker_supervisor import Supervisor
configure_logs()
def work(life):
    raise RuntimeError("again")
Supervisor(work, []).run()
"""

WITH_A_THREAD = """
import sys, threading
from holdfast.configuration.json_logs import configure_logs
from holdfast.services.supervisor.worker_supervisor import Supervisor
configure_logs()
threading.Thread(target=threading.Event().wait, daemon=True).start()
show = "import os, sys; print(os.getppid(), sys.argv[1], flush=True); sys.exit(2)"
sys.exit(Supervisor(lambda life: 0, [sys.executable, "-c", show]).run())
"""


def test_a_worker_that_crashes_at_once_is_not_restarted_in_a_busy_loop() -> None:
    with subprocess.Popen([sys.executable, "-c", CRASHING], stderr=subprocess.PIPE) as supervisor:
        assert supervisor.stderr
        pauses: list[float] = []
        while len(pauses) < 3:
            line = supervisor.stderr.readline()
            if b"supervisor.worker_ended" in line:
                pauses.append(json.loads(line)["restart_in_s"])
        supervisor.terminate()

    assert pauses == [restart_delay_s(1), restart_delay_s(2), restart_delay_s(3)]
    assert supervisor.returncode == 0


def test_a_supervisor_with_threads_starts_a_new_process_instead_of_forking() -> None:
    done = subprocess.Popen(
        [sys.executable, "-c", WITH_A_THREAD], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    out, err = done.communicate(timeout=30)

    assert done.returncode == EXIT_REFUSED, err
    parent, _, life = out.decode().partition(" ")
    assert int(parent) == done.pid
    assert json.loads(life)["supervisor"] == done.pid


LEAVES_A_TOOL_SERVER = """
import os, signal, subprocess, sys
from holdfast.configuration.json_logs import configure_logs
from holdfast.services.supervisor.worker_supervisor import EXIT_REFUSED, Supervisor
configure_logs()
def work(life):
    if life.deaths:
        return EXIT_REFUSED
    # In a session of its own, as tool servers are: no signal to a group reaches it.
    tool = subprocess.Popen(["sleep", "600"], start_new_session=True)
    print(tool.pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
Supervisor(work, []).run()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="orphans are adopted on Linux only")
def test_what_a_killed_worker_had_started_ends_with_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LEAVES_A_TOOL_SERVER], capture_output=True, check=True, timeout=30
    )

    assert find_process(int(done.stdout)) is None


@pytest.mark.long
async def test_several_workers_share_the_work_of_one_job(
    workers: WorkerLauncher,
    client_side: RunningEngine,
    players: ScriptedRoles,
    model: ScriptedModel,
) -> None:
    players.plan = wide(4)
    slow_at_first(players, 4, seconds=1.0)
    for _ in range(2):
        await workers.start(HOLDFAST_MAX_CONCURRENT_TASKS="2")

    job_id = await client_side.submit("Why?", slots=4)
    await client_side.holdfast.wait(job_id)

    assert model.most_at_once == 4
    begun = await started(client_side, job_id)
    who = [begun[f"T{number}"].identity for number in range(1, 5)]
    assert {who.count(identity) for identity in who} == {2}
    logged = [each.logged("worker.started")[0]["worker"] for each in workers.started]
    assert set(who) == set(logged)


@pytest.mark.long
async def test_the_settings_reach_the_worker(
    workers: WorkerLauncher,
    client_side: RunningEngine,
    players: ScriptedRoles,
    model: ScriptedModel,
) -> None:
    players.plan = wide(6)
    slow_at_first(players, 6, seconds=0.3)
    queue = client_side.holdfast.settings.task_queue
    assert queue != "holdfast"
    worker = await workers.start(
        "--supervise", HOLDFAST_MAX_CONCURRENT_TASKS="4", HOLDFAST_POOL_SIZE="1"
    )

    job_id = await client_side.submit("Why?", slots=6)
    await client_side.holdfast.wait(job_id)

    (started,) = worker.logged("worker.started")
    assert started["task_queue"] == queue
    assert model.most_at_once == 4
    # One for SQLAlchemy and one for constant statements.
    assert 1 <= connections(client_side, session_name(started["worker"])) <= 2


def connections(engine: RunningEngine, application: str) -> int:
    url = engine.holdfast.endpoints.database_url.replace("+psycopg", "")
    query = "select count(*) from pg_stat_activity where application_name = %s"
    with psycopg.connect(url) as database:
        row = database.execute(query, (application,)).fetchone()
    assert row
    return int(row[0])
