"""Tests that the supervisor starts a PostgreSQL or Temporal again that has died."""

import asyncio
import signal
import socket
from collections.abc import Callable

import psutil
import pytest

from holdfast.client import open_client
from holdfast.models.jobs.job_record import JobRequest, JobStatus
from holdfast.planning.strategies.strategy_presets import preset
from holdfast.services import attach_to_services, stop_services
from holdfast.services.detached_processes import is_alive
from holdfast.services.launch.worker_process import current_worker
from holdfast.services.servers import temporal_server
from holdfast.services.servers.ui_guard_process import is_guarding
from holdfast.services.service_state import ServiceState, load_state
from tests.support.services.service_installation import ServiceInstallation, kill

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.conformance("REL-03")]

_WITHIN_S = 90.0


async def until(condition: Callable[[], bool], installation: ServiceInstallation) -> None:
    end = asyncio.get_running_loop().time() + _WITHIN_S
    while not condition():
        log = installation.home / "logs" / "worker.log"
        assert asyncio.get_running_loop().time() < end, log.read_text()
        await asyncio.sleep(0.05)


def is_complete(state: ServiceState) -> bool:
    return is_alive(state.postgres) and is_alive(state.temporal)


async def work_on_a_job(installation: ServiceInstallation) -> None:
    settings = installation.settings
    async with open_client(settings, await attach_to_services(settings)) as client:
        request = JobRequest(
            question="Why?",
            preset="kpi-chain",
            model="extractive",
            strategy=preset("kpi-chain").strategy,
        )
        job = await client.wait(await client.submit(request))
    assert job.status in (JobStatus.DONE, JobStatus.FAILED)


async def test_killed_servers_are_started_again_and_outlive_their_worker(
    running: ServiceInstallation,
) -> None:
    await running.up(worker=True)
    before = load_state(running.home)
    assert before.postgres
    assert before.temporal

    kill(before.postgres.pid)
    kill(before.temporal.pid)
    await until(lambda: is_complete(load_state(running.home)), running)

    after = load_state(running.home)
    assert after.worker == before.worker
    # The worker is another one if another process took Temporal's port meanwhile.
    await until(lambda: current_worker(running.home) is not None, running)
    worker = current_worker(running.home)
    assert worker
    # The servers are the supervisor's children now; a worker's death must not take them along.
    kill(worker.pid)
    await until(lambda: current_worker(running.home) not in (None, worker), running)
    assert is_complete(load_state(running.home))
    assert load_state(running.home) == after
    assert after.temporal
    assert after.ui_port
    assert is_guarding(after.temporal, after.ui_port)
    await work_on_a_job(running)
    assert stop_services(running.settings) == ["worker", "Temporal", "PostgreSQL"]
    assert running.processes() == []


@pytest.mark.long
async def test_a_stopped_worker_leaves_restarted_servers_alone(
    running: ServiceInstallation,
) -> None:
    await running.up(worker=True)
    before = load_state(running.home)
    assert before.postgres
    assert before.worker
    kill(before.postgres.pid)
    await until(lambda: is_complete(load_state(running.home)), running)

    psutil.Process(before.worker.pid).send_signal(signal.SIGTERM)
    await until(lambda: not is_alive(before.worker), running)

    assert is_complete(load_state(running.home))


@pytest.mark.long
async def test_the_worker_follows_temporal_to_another_port(running: ServiceInstallation) -> None:
    await running.up(worker=True)
    before = load_state(running.home)
    worker = current_worker(running.home)
    assert worker
    assert before.temporal
    assert before.worker
    assert before.temporal_port
    supervisor = psutil.Process(before.worker.pid)
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        supervisor.suspend()
        try:
            kill(before.temporal.pid)
            temporal_server.wait_until_free(before.temporal_port)
            other.bind((temporal_server.HOST, before.temporal_port))
            other.listen()
        finally:
            supervisor.resume()
        await until(lambda: current_worker(running.home) not in (None, worker), running)

        assert load_state(running.home).temporal_port != before.temporal_port
        await work_on_a_job(running)
