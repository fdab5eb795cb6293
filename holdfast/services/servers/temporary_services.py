"""Start PostgreSQL and Temporal in a temporary folder, for evaluations and benchmarks."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from holdfast.services.servers import postgres_server, temporal_server
from holdfast.services.service_state import make_home
from holdfast.services.termination_signal import termination_as_interrupt
from holdfast.storage.core.schema_migration import migrate_schema


@dataclass(frozen=True)
class TemporaryServices:
    """The addresses of the two services, and their folder, which is removed when they end."""

    home: Path
    database_url: str
    temporal_address: str
    temporal_pid: int
    database_pid: int


@contextmanager
def temporary_services() -> Iterator[TemporaryServices]:
    """Start both services with an empty, migrated database; stop them at the end of the block.

    SIGTERM ends the block as Ctrl-C does.
    """
    with ExitStack() as stack:
        stack.enter_context(termination_as_interrupt())
        home = Path(stack.enter_context(TemporaryDirectory(prefix="holdfast-bench-")))
        make_home(home)
        stack.callback(_stop_servers, home)
        database = postgres_server.start(home)
        temporal, ports = temporal_server.start(
            home, temporal_server.Ports(_free_port(), _free_port())
        )
        migrate_schema(postgres_server.url(home))
        address = f"{temporal_server.HOST}:{ports.frontend}"
        url = postgres_server.url(home)
        yield TemporaryServices(home, url, address, temporal.pid, database.pid)


def _stop_servers(home: Path) -> None:
    """Stop the servers of this home, also one whose start was interrupted."""
    for process in temporal_server.strays(home):
        temporal_server.stop(process)
    for process in postgres_server.strays(home):
        postgres_server.stop(process)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((temporal_server.HOST, 0))
        port: int = probe.getsockname()[1]
        return port
