"""Start, locate and stop all services of one home folder."""

import asyncio
import hashlib
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

from holdfast import migrations
from holdfast.configuration.configuration_check import check_configuration
from holdfast.models.errors import ServiceDown
from holdfast.services import detached_processes, service_discovery
from holdfast.services.launch import page_server, worker_process
from holdfast.services.launch.worker_replacement import ensure_worker
from holdfast.services.servers import postgres_files, postgres_server, temporal_server
from holdfast.services.servers.server_starts import (
    StartupMessageCallback,
    living_processes,
    start_postgres,
    start_temporal,
)
from holdfast.services.service_state import (
    RunningProcess,
    ServiceState,
    check_home,
    home_lock,
    load_state,
    make_home,
    save_state,
)
from holdfast.services.termination_signal import termination_as_interrupt
from holdfast.settings import Endpoints, Settings


async def start_services(
    settings: Settings,
    say: StartupMessageCallback = lambda _line: None,
    *,
    worker: bool = True,
    may_interrupt: bool = True,
) -> Endpoints:
    """Start the missing services, migrate the schema, and return the endpoints.

    A second call changes nothing, except that the worker restarts if its settings have changed;
    unless `may_interrupt`, only if no job is under way.

    Raises:
        ServiceDown: a service does not start or does not answer; the message shows its log.
        BadConfiguration: a setting, or data of another version, prevents the start; or the worker
            is at work with other settings.
    """
    # Check first: a running worker must not stop for a file that the next worker cannot read.
    check_configuration(settings)
    make_home(settings.home)
    with ExitStack() as held:
        await asyncio.to_thread(held.enter_context, home_lock(settings.home))
        state = load_state(settings.home)
        state.salt = state.salt or secrets.token_hex(16)
        await _run_all(
            _start_database(settings, state, say), _ensure_temporal(settings, state, say)
        )
        endpoints = service_discovery.service_endpoints(settings, state)
        if worker:
            await ensure_worker(settings, state, endpoints, say, may_interrupt=may_interrupt)
    return endpoints


@asynccontextmanager
async def services_of_command(
    settings: Settings, say: StartupMessageCallback
) -> AsyncIterator[Endpoints]:
    """Start the services without a worker, and stop them at the end of the block.

    SIGTERM ends the block as Ctrl-C does.

    Raises:
        ServiceDown: a service does not start, or does not end.
        BadConfiguration: a setting, or data of another version, prevents the start.
    """
    with termination_as_interrupt():
        try:
            yield await start_services(settings, say, worker=False)
        finally:
            await asyncio.to_thread(stop_services, settings)


async def attach_to_services(settings: Settings, *, needs_temporal: bool = True) -> Endpoints:
    """Return the endpoints of the running or configured services.

    Commands that only read need no Temporal: all data to read are in PostgreSQL.

    Raises:
        ServiceDown: an embedded service is not running.
        BadConfiguration: the home folder cannot be used.
    """
    state = load_state(settings.home)
    down = [
        name
        for name, is_there in (
            ("PostgreSQL", service_discovery.is_postgres_running(settings, state)),
            (
                "Temporal",
                not needs_temporal or service_discovery.is_temporal_running(settings, state),
            ),
        )
        if not is_there
    ]
    if down:
        check_home(settings.home)
        raise ServiceDown(
            f"the embedded {' and '.join(down)} of {str(settings.home)!r} "
            f"{'is' if len(down) == 1 else 'are'} not running; start with `holdfast up`"
        )
    return service_discovery.service_endpoints(settings, state)


def stop_services(settings: Settings) -> list[str]:
    """Stop page, worker, Temporal and PostgreSQL in this order; return the names of those that ran.

    Raises:
        ServiceDown: a process does not end; the others are stopped.
    """
    if not settings.home.is_dir():
        return []
    make_home(settings.home)
    ended, stubborn = [], []
    with home_lock(settings.home):
        state = load_state(settings.home)
        for name, stop, recorded, strays in _stop_order(settings.home, state):
            victims = living_processes(recorded, strays)
            for process in victims:
                stop(process)
            left = [p.pid for p in victims if detached_processes.is_alive(p)]
            stubborn += [f"{name} (pid {pid})" for pid in left]
            ended += [name] if victims and not left else []
        postgres_files.discard_sockets(settings.home)
        ended_servers = {"postgres": None, "temporal": None, "worker": None}
        # The next worker begins with the certificates of the command that starts it.
        kept = state.model_copy(update={**ended_servers, "worker_certificates": {}})
        save_state(settings.home, kept)
    if stubborn:
        raise ServiceDown(
            f"still running: {', '.join(stubborn)}; run `holdfast down` again, and end by its pid "
            "what it leaves"
        )
    return ended


async def _run_all(*steps: Coroutine[None, None, None]) -> None:
    # Not a TaskGroup: the threads must end before the lock is released, also when the command is
    # stopped meanwhile. A server that a thread starts later would have nobody to stop it.
    running = asyncio.gather(*steps, return_exceptions=True)
    try:
        outcomes = await asyncio.shield(running)
    except asyncio.CancelledError:
        await running
        raise
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome


async def _start_database(
    settings: Settings, state: ServiceState, say: StartupMessageCallback
) -> None:
    home = settings.home
    if not service_discovery.is_postgres_running(settings, state):
        say("starting PostgreSQL")
        started = asyncio.to_thread(start_postgres, home, state, say)
        # Loading Alembic takes as long as starting the server: do both at once.
        await asyncio.gather(started, asyncio.to_thread(_load_migrations))
        save_state(home, state)
    url = settings.database_url
    await asyncio.to_thread(
        _migrate,
        home,
        state,
        postgres_server.url(home) if url is None else url.get_secret_value(),
        say,
    )


async def _ensure_temporal(
    settings: Settings, state: ServiceState, say: StartupMessageCallback
) -> None:
    if not settings.uses_embedded_temporal:
        from holdfast.temporal.temporal_connection import connect, register_search_attributes

        client = await connect(settings, service_discovery.service_endpoints(settings, state))
        await register_search_attributes(client)
        return
    if service_discovery.is_temporal_running(settings, state):
        await asyncio.to_thread(_ensure_ui_guard, settings.home, state)
        return
    say("starting Temporal")
    await asyncio.to_thread(start_temporal, settings.home, state, say)
    save_state(settings.home, state)


def _ensure_ui_guard(home: Path, state: ServiceState) -> None:
    """Start the guard of the Temporal UI again if it was killed."""
    assert state.temporal is not None, "Temporal runs"
    port = state.ui_port or temporal_server.DEFAULT_PORTS.ui
    state.ui_port = temporal_server.ensure_guard(home, state.temporal, port)


def _load_migrations() -> None:
    import holdfast.storage.core.schema_migration  # noqa: F401


def _migrate(home: Path, state: ServiceState, url: str, say: StartupMessageCallback) -> None:
    versions = sorted(file.name for file in Path(migrations.__path__[0]).glob("versions/*.py"))
    mark = hashlib.sha256(repr((versions, state.salt, url)).encode()).hexdigest()
    if state.schema_fingerprint == mark:
        return
    from holdfast.storage.core.schema_migration import migrate_schema

    say("bringing the database's schema up to date")
    migrate_schema(url)
    state.schema_fingerprint = mark
    save_state(home, state)


def _stop_order(
    home: Path, state: ServiceState
) -> list[
    tuple[str, Callable[[RunningProcess], None], RunningProcess | None, list[RunningProcess]]
]:
    return [
        (
            "page",
            lambda process: page_server.stop_page_server(home, process),
            None,
            page_server.page_servers(home),
        ),
        (
            "worker",
            lambda process: worker_process.stop(home, process),
            state.worker,
            worker_process.strays(home),
        ),
        ("Temporal", temporal_server.stop, state.temporal, temporal_server.strays(home)),
        ("PostgreSQL", postgres_server.stop, state.postgres, postgres_server.strays(home)),
    ]
