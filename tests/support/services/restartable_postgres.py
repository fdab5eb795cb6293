"""A PostgreSQL server of a test's own that can be killed and started again."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from holdfast.services import detached_processes
from holdfast.services.servers import postgres_files, postgres_server
from holdfast.services.service_state import RunningProcess, make_home
from holdfast.storage.core.schema_migration import migrate_schema
from tests.support.services.database_folder import database_folder

_GONE_WITHIN_S = 10.0


class RestartablePostgres:
    """One server on one folder; its address stays the same across its lives."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._process: RunningProcess | None = None
        self.url = postgres_server.url(home)

    def start(self) -> None:
        """Returns once it takes connections."""
        self._process = postgres_server.start(self._home)

    def kill(self) -> None:
        """SIGKILL to the server and whatever serves its connections; returns once they are gone."""
        assert self._process is not None
        victims = [self._process, *detached_processes.descendants(self._process)]
        for victim in victims:
            os.kill(victim.pid, signal.SIGKILL)
        assert all(detached_processes.wait_until_gone(victim, _GONE_WITHIN_S) for victim in victims)
        self._process = None

    def stop(self) -> None:
        if self._process is not None:
            postgres_server.stop(self._process)
        postgres_files.discard_sockets(self._home)


@contextmanager
def restartable_postgres() -> Iterator[RestartablePostgres]:
    """A running server with an empty database of today's schema, gone afterwards."""
    with database_folder() as folder:
        home = Path(folder, "home")
        make_home(home)
        server = RestartablePostgres(home)
        try:
            server.start()
            migrate_schema(server.url)
            yield server
        finally:
            server.stop()
