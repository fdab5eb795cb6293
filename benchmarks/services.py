"""PostgreSQL and Temporal for a benchmark: the product's own, with its flags, in a new folder."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from holdfast.services import postgres, temporal_server
from holdfast.services.state import make_home
from storage.migrate import migrate


@dataclass(frozen=True)
class Services:
    """Where they answer, and the folder that is removed with them."""

    home: Path
    database_url: str
    temporal_address: str
    temporal_pid: int


@contextmanager
def running_services() -> Iterator[Services]:
    """Both, migrated and empty; ended with the block."""
    with ExitStack() as stack:
        home = Path(stack.enter_context(TemporaryDirectory(prefix="holdfast-bench-")))
        make_home(home)
        database = postgres.start(home)
        stack.callback(postgres.stop, database)
        temporal, ports = temporal_server.start(
            home, temporal_server.Ports(_free_port(), _free_port())
        )
        stack.callback(temporal_server.stop, temporal)
        migrate(postgres.url(home))
        address = f"{temporal_server.HOST}:{ports.frontend}"
        yield Services(home, postgres.url(home), address, temporal.pid)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((temporal_server.HOST, 0))
        port: int = probe.getsockname()[1]
        return port
