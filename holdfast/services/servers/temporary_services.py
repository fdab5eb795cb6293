"""Start PostgreSQL and Temporal in a temporary folder, for evaluations and benchmarks."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from holdfast.services.servers import postgres_server, temporal_server
from holdfast.services.service_state import make_home
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
    """Start both services with an empty, migrated database; stop them at the end of the block."""
    with ExitStack() as stack:
        home = Path(stack.enter_context(TemporaryDirectory(prefix="holdfast-bench-")))
        make_home(home)
        database = postgres_server.start(home)
        stack.callback(postgres_server.stop, database)
        temporal, ports = temporal_server.start(
            home, temporal_server.Ports(_free_port(), _free_port())
        )
        stack.callback(temporal_server.stop, temporal)
        migrate_schema(postgres_server.url(home))
        address = f"{temporal_server.HOST}:{ports.frontend}"
        url = postgres_server.url(home)
        yield TemporaryServices(home, url, address, temporal.pid, database.pid)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((temporal_server.HOST, 0))
        port: int = probe.getsockname()[1]
        return port
