"""Up, attach, down: brings one home folder's services to life, finds them, and ends them."""

import asyncio
import hashlib
import secrets
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from pathlib import Path

from holdfast.embeddings import checked_embeddings
from holdfast.prices import read_prices
from holdfast.services import cluster, postgres, processes, running, temporal_server, worker_process
from holdfast.services.state import (
    RunningProcess,
    State,
    load_state,
    make_home,
    only_one,
    save_state,
)
from holdfast.settings import Endpoints, Settings
from models.errors import ServiceDown
from tools.config import read_servers

Say = Callable[[str], None]


async def up(
    settings: Settings, say: Say = lambda _line: None, *, worker: bool = True
) -> Endpoints:
    """Starts what is missing, brings the schema up to date, and says where everything is.

    Run again it changes nothing, but starts the worker anew when its settings have changed.

    Raises:
        ServiceDown: a service does not start or does not answer; the message shows its log.
        BadConfiguration: a setting, or data of another version, stand in the way.
    """
    if settings.config_file is not None:
        # A worker that runs must not be stopped for a file that the new one could not read.
        read_servers(settings.config_file)
        read_prices(settings.config_file)
        checked_embeddings(settings)
    make_home(settings.home)
    with ExitStack() as held:
        await asyncio.to_thread(held.enter_context, only_one(settings.home))
        state = load_state(settings.home)
        state.salt = state.salt or secrets.token_hex(16)
        await _both(_database(settings, state, say), _temporal(settings, state, say))
        endpoints = running.endpoints(settings, state)
        if worker:
            await _worker(settings, state, endpoints, say)
    return endpoints


async def attach(settings: Settings, *, needs_temporal: bool = True) -> Endpoints:
    """Where the services are that `up` has started, or that the settings name.

    Whoever only looks needs no Temporal: all that there is to see is in PostgreSQL.

    Raises:
        ServiceDown: an embedded service is not running.
    """
    state = load_state(settings.home)
    down = [
        name
        for name, is_there in (
            ("PostgreSQL", running.has_postgres(settings, state)),
            ("Temporal", not needs_temporal or running.has_temporal(settings, state)),
        )
        if not is_there
    ]
    if down:
        raise ServiceDown(
            f"the embedded {' and '.join(down)} of {str(settings.home)!r} "
            f"{'is' if len(down) == 1 else 'are'} not running; start with `holdfast up`"
        )
    return running.endpoints(settings, state)


def down(settings: Settings) -> list[str]:
    """Ends the worker, then Temporal, then PostgreSQL, and gives the names of what had run.

    Raises:
        ServiceDown: a process does not end.
    """
    if not settings.home.is_dir():
        return []
    make_home(settings.home)
    ended = []
    with only_one(settings.home):
        state = load_state(settings.home)
        for name, stop, known, found in _in_order_of_ending(settings.home, state):
            victims = _without_repeats(known, found)
            for process in victims:
                stop(process)
            if stubborn := [p.pid for p in victims if processes.is_alive(p)]:
                raise ServiceDown(f"{name} (pid {stubborn[0]}) does not end; end it yourself")
            ended += [name] if victims else []
        cluster.discard_sockets(settings.home)
        kept = state.model_copy(update={"postgres": None, "temporal": None, "worker": None})
        save_state(settings.home, kept)
    return ended


async def _both(*steps: Coroutine[None, None, None]) -> None:
    # Not a TaskGroup: what a thread has begun must be over before the lock is let go.
    outcomes = await asyncio.gather(*steps, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome


async def _database(settings: Settings, state: State, say: Say) -> None:
    home = settings.home
    if not running.has_postgres(settings, state):
        say("starting PostgreSQL")
        started = asyncio.to_thread(_start_postgres, home, state.postgres)
        # Loading Alembic takes as long as the server: do both at once.
        state.postgres, _ = await asyncio.gather(started, asyncio.to_thread(_load_migrations))
        save_state(home, state)
    url = settings.database_url
    await asyncio.to_thread(
        _migrate, home, state, postgres.url(home) if url is None else url.get_secret_value(), say
    )


async def _temporal(settings: Settings, state: State, say: Say) -> None:
    if not settings.uses_embedded_temporal:
        from holdfast.temporal import connect, register_search_attributes

        client = await connect(settings, running.endpoints(settings, state))
        await register_search_attributes(client)
        return
    if running.has_temporal(settings, state):
        return
    say("starting Temporal")
    ports = temporal_server.Ports(
        state.temporal_port or temporal_server.DEFAULT_PORTS.frontend,
        state.ui_port or temporal_server.DEFAULT_PORTS.ui,
    )
    state.temporal, ports = await asyncio.to_thread(
        _start_temporal, settings.home, state.temporal, ports
    )
    state.temporal_port, state.ui_port = ports
    save_state(settings.home, state)


async def _worker(settings: Settings, state: State, endpoints: Endpoints, say: Say) -> None:
    home = settings.home
    mark = worker_process.fingerprint(settings, endpoints, state.salt)
    if (
        state.worker is not None
        and state.worker_mark == mark
        and await asyncio.to_thread(worker_process.is_ready, home, state.worker)
    ):
        return
    say("starting the worker")
    for old in _without_repeats(state.worker, worker_process.strays(home)):
        await asyncio.to_thread(worker_process.stop, home, old)
    state.worker, state.worker_mark = worker_process.launch(settings, endpoints), mark
    save_state(home, state)
    await asyncio.to_thread(worker_process.wait_until_ready, home, state.worker)


def _start_postgres(home: Path, known: RunningProcess | None) -> RunningProcess:
    for stray in _without_repeats(known, postgres.strays(home)):
        postgres.stop(stray)
    return postgres.start(home)


def _start_temporal(
    home: Path, known: RunningProcess | None, ports: temporal_server.Ports
) -> tuple[RunningProcess, temporal_server.Ports]:
    # Two servers on one SQLite file would spoil it.
    for stray in _without_repeats(known, temporal_server.strays(home)):
        temporal_server.stop(stray)
    return temporal_server.start(home, ports)


def _load_migrations() -> None:
    import storage.migrate  # noqa: F401


def _migrate(home: Path, state: State, url: str, say: Say) -> None:
    import migrations

    versions = sorted(file.name for file in Path(migrations.__path__[0]).glob("versions/*.py"))
    mark = hashlib.sha256(repr((versions, state.salt, url)).encode()).hexdigest()
    if state.schema_mark == mark:
        return
    from storage.migrate import migrate

    say("bringing the database's schema up to date")
    migrate(url)
    state.schema_mark = mark
    save_state(home, state)


def _in_order_of_ending(
    home: Path, state: State
) -> list[
    tuple[str, Callable[[RunningProcess], None], RunningProcess | None, list[RunningProcess]]
]:
    return [
        (
            "worker",
            lambda process: worker_process.stop(home, process),
            state.worker,
            worker_process.strays(home),
        ),
        ("Temporal", temporal_server.stop, state.temporal, temporal_server.strays(home)),
        ("PostgreSQL", postgres.stop, state.postgres, postgres.strays(home)),
    ]


def _without_repeats(
    known: RunningProcess | None, found: list[RunningProcess]
) -> list[RunningProcess]:
    processes_by_pid = {process.pid: process for process in found}
    if known and processes.is_alive(known):
        processes_by_pid[known.pid] = known
    return list(processes_by_pid.values())
