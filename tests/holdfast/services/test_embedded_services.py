"""Tests for the embedded services: real processes in a home folder, none of which is left at the
end."""

import asyncio
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from temporalio import workflow
from temporalio.client import Client

from holdfast.models.errors import BadConfiguration, ServiceDown
from holdfast.services import (
    Endpoints,
    attach_to_services,
    is_worker_running,
    start_services,
    stop_services,
)
from holdfast.services.checks.health_checks import run_health_checks
from holdfast.services.detached_processes import is_alive
from holdfast.services.launch.worker_process import current_worker
from holdfast.services.servers.postgres_files import socket_folder
from holdfast.services.servers.temporal_server import DEFAULT_PORTS
from holdfast.services.service_state import load_state
from holdfast.settings import Settings
from holdfast.temporal.temporal_connection import connect, missing_search_attributes, ui_url
from tests.support.services.service_installation import ServiceInstallation, kill

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


@workflow.defn
class Waiting:
    """Waits for ever: it is there to be found again."""

    @workflow.run
    async def run(self) -> None:
        await workflow.wait_condition(lambda: False)


async def start_workflow(installation: ServiceInstallation) -> str:
    client = await client_of(installation)
    return (await client.start_workflow(Waiting.run, id="kept", task_queue="nobody")).id


async def client_of(installation: ServiceInstallation) -> Client:
    return await connect(installation.settings, await attach_to_services(installation.settings))


def connection(endpoints: Endpoints) -> psycopg.Connection:
    return psycopg.connect(endpoints.database_url.replace("+psycopg", ""), autocommit=True)


@contextmanager
def default_ports_taken() -> Iterator[None]:
    """Take the default ports of Temporal and its UI, or leave them to who has them already."""
    with socket.socket() as frontend, socket.socket() as ui:
        for taken, port in ((frontend, DEFAULT_PORTS.frontend), (ui, DEFAULT_PORTS.ui)):
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if taken.connect_ex(("127.0.0.1", port)) != 0:
                taken.bind(("127.0.0.1", port))
                taken.listen()
        yield


async def test_up_is_ready_to_be_used_and_after_down_nothing_runs_until_up_continues(
    installation: ServiceInstallation,
) -> None:
    # Other tests take the default ports as soon as these are free, so this installation has others.
    with default_ports_taken():
        before = await installation.up()
    assert before.temporal_address != "127.0.0.1:7233"
    assert before.temporal_ui != "http://127.0.0.1:8233"
    assert await attach_to_services(installation.settings) == before
    assert await missing_search_attributes(await client_of(installation)) == []
    with connection(before) as database:
        assert database.execute("select count(*) from jobs").fetchone() == (0,)
        database.execute("create table kept as select 42 as answer")
    started = await start_workflow(installation)

    ended = stop_services(installation.settings)

    assert ended == ["Temporal", "PostgreSQL"]
    assert installation.processes() == []
    with pytest.raises(ServiceDown, match="holdfast up"):
        await attach_to_services(installation.settings)

    after = await installation.up()

    assert after.temporal_address == before.temporal_address
    assert await (await client_of(installation)).get_workflow_handle(started).describe()
    with connection(after) as database:
        assert database.execute("select answer from kept").fetchone() == (42,)


@pytest.mark.long
async def test_second_up_attaches(shared: ServiceInstallation) -> None:
    before = load_state(shared.home)

    began = time.monotonic()
    await shared.up()
    took_s = time.monotonic() - began

    assert shared.said == []
    assert load_state(shared.home) == before
    assert took_s < 1


@pytest.mark.long
async def test_two_ups_at_once_start_one_of_each(installation: ServiceInstallation) -> None:
    first, second = await asyncio.gather(
        start_services(installation.settings, worker=False),
        start_services(installation.settings, worker=False),
    )

    ours = installation.processes()
    # Not children: one that PostgreSQL has just forked has its command line for a moment.
    begun = [p for p in ours if p.info["ppid"] not in {each.pid for each in ours}]
    commands = [" ".join(p.info["cmdline"]) for p in begun]
    assert first == second
    assert sum("start-dev" in command for command in commands) == 1
    assert sum(" -D " in command for command in commands) == 1


@pytest.mark.long
async def test_data_outlive_a_killed_postgres(shared: ServiceInstallation) -> None:
    with connection(await attach_to_services(shared.settings)) as database:
        database.execute("create table kept as select 42 as answer")
    victim = load_state(shared.home).postgres
    assert victim

    kill(victim.pid)
    assert not is_alive(victim)
    endpoints = await shared.up()

    assert shared.said == ["starting PostgreSQL"]
    with connection(endpoints) as database:
        assert database.execute("select answer from kept").fetchone() == (42,)


@pytest.mark.long
async def test_workflows_outlive_a_killed_temporal(shared: ServiceInstallation) -> None:
    started = await start_workflow(shared)
    victim = load_state(shared.home).temporal
    assert victim

    kill(victim.pid)
    await shared.up()

    assert shared.said == ["starting Temporal"]
    description = await (await client_of(shared)).get_workflow_handle(started).describe()
    assert description.status is not None
    assert description.status.name == "RUNNING"


@pytest.mark.long
async def test_a_lost_state_file_leaves_nothing_behind(shared: ServiceInstallation) -> None:
    (shared.home / "services.json").write_text("not json")

    ended = stop_services(shared.settings)

    assert ended == ["Temporal", "PostgreSQL"]
    assert shared.processes() == []


@pytest.mark.long
async def test_services_of_somebody_else_are_not_started(
    shared: ServiceInstallation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = await attach_to_services(shared.settings)
    monkeypatch.setenv("TEMPORAL_ADDRESS", theirs.temporal_address)
    monkeypatch.setenv("HOLDFAST_DATABASE_URL", theirs.database_url)
    settings = Settings(home=tmp_path / "other")

    endpoints = await start_services(settings, worker=False)

    assert (endpoints.embedded_database, endpoints.embedded_temporal) == (False, False)
    assert endpoints.database_url == theirs.database_url
    state = load_state(settings.home)
    assert (state.postgres, state.temporal) == (None, None)
    assert await attach_to_services(settings) == endpoints
    assert stop_services(settings) == []
    assert await client_of(shared)


async def test_an_address_where_nothing_answers_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", "127.0.0.1:9")
    settings = Settings(home=tmp_path, database_url="postgresql://nobody@127.0.0.1:9/x")

    began = time.monotonic()
    with pytest.raises(ServiceDown, match=r"127\.0\.0\.1:9.*TEMPORAL_ADDRESS"):
        await connect(settings, await attach_to_services(settings))

    assert time.monotonic() - began < 6


async def test_a_home_that_cannot_be_made_is_refused_by_name() -> None:
    settings = Settings(home=Path("/dev/null/home"))

    with pytest.raises(BadConfiguration, match="HOLDFAST_HOME"):
        await start_services(settings)


@pytest.mark.long
async def test_a_long_path_to_the_home_is_no_obstacle(installation: ServiceInstallation) -> None:
    deep = ServiceInstallation(installation.home.parent / ("long-" * 20) / "home")

    try:
        with connection(await deep.up()) as database:
            assert database.execute("select 1").fetchone() == (1,)
        sockets = socket_folder(deep.home)
        assert not sockets.is_relative_to(deep.home)
    finally:
        stop_services(deep.settings)
    assert not sockets.exists()


@pytest.mark.long
async def test_the_worker_is_started_once_and_again_when_its_settings_change(
    running: ServiceInstallation, monkeypatch: pytest.MonkeyPatch
) -> None:
    await running.up(worker=True)
    first, worked = load_state(running.home).worker, current_worker(running.home)
    assert is_alive(worked)
    assert worked != first
    await running.up(worker=True)
    assert running.said == []

    monkeypatch.setenv("OPENAI_API_KEY", "sk-hunter2hunter2")
    await running.up(worker=True)

    assert running.said == ["restarting the worker, because of a change of OPENAI_API_KEY"]
    assert not is_alive(first)
    assert not is_alive(worked)
    assert is_worker_running(running.settings)
    assert "hunter2" not in (running.home / "services.json").read_text()
    assert stop_services(running.settings) == ["worker", "Temporal", "PostgreSQL"]
    assert not is_worker_running(running.settings)


async def test_a_killed_worker_is_back_without_a_command_and_down_ends_it_without_its_supervisor(
    running: ServiceInstallation, monkeypatch: pytest.MonkeyPatch
) -> None:
    await running.up(worker=True)
    supervisor, victim = load_state(running.home).worker, current_worker(running.home)
    assert victim

    kill(victim.pid)
    await running.up(worker=True)

    assert running.said == []
    assert load_state(running.home).worker == supervisor
    assert is_alive(current_worker(running.home))
    monkeypatch.setenv("HOLDFAST_HOME", str(running.home))
    found = {finding.part: finding for finding in await run_health_checks()}
    assert "supervised" in found["worker"].detail

    assert supervisor
    again = current_worker(running.home)
    assert again
    kill(supervisor.pid)
    ended = stop_services(running.settings)

    assert "Temporal" in ended
    assert not is_alive(again)
    assert current_worker(running.home) is None


def test_a_workflow_has_its_page_in_the_ui() -> None:
    settings = Settings(temporal_ui_url="https://ui.example/")
    common = {
        "database_url": "",
        "temporal_address": "h:1",
        "temporal_namespace": "default",
        "embedded_database": False,
    }
    local = Endpoints(temporal_ui="http://127.0.0.1:8233", embedded_temporal=True, **common)
    own = Endpoints(temporal_ui=None, embedded_temporal=False, **common)
    cloud = own.model_copy(
        update={"temporal_address": "a.b.tmprl.cloud:7233", "temporal_namespace": "a.b"}
    )

    assert ui_url(settings, local, "j1", "r1") == (
        "http://127.0.0.1:8233/namespaces/default/workflows/j1/r1/timeline"
    )
    assert ui_url(settings, own, "j/1") == ("https://ui.example/namespaces/default/workflows/j%2F1")
    assert ui_url(Settings(), cloud, "j1", "r1") == (
        "https://cloud.temporal.io/namespaces/a.b/workflows/j1/r1/timeline"
    )
    assert ui_url(Settings(), own, "j1") is None
