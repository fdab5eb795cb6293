"""The client of one installation."""

from pathlib import Path
from typing import Self

from holdfast.python_client.local_installation import start_local_installation
from holdfast.python_client.synchronous.collections import SyncCollections
from holdfast.python_client.synchronous.evidence import SyncEvidence
from holdfast.python_client.synchronous.installation import SyncInstallation
from holdfast.python_client.synchronous.jobs import SyncJobs
from holdfast.python_client.synchronous.records import SyncRecords
from holdfast.python_client.synchronous.schedules import SyncSchedules


class Client(SyncJobs, SyncRecords, SyncSchedules, SyncEvidence, SyncCollections, SyncInstallation):
    """Everything that an installation can be asked for over HTTP.

    Errors are those of `holdfast.python_client`: `ApiError` and its kinds, whose `detail` says what
    to do. Jobs run on when the client is closed.
    """

    @classmethod
    def local(
        cls,
        home: Path | str | None = None,
        *,
        timeout_s: float = 60.0,
        patience_s: float = 30.0,
    ) -> Self:
        """A client of this computer's installation, whose services are started if necessary.

        The services are processes of their own and run on after the client; `holdfast down` stops
        them.

        Args:
            home: the home folder; by default that of the command line.
            timeout_s: how long one request may wait for the server.
            patience_s: how long requests are repeated while the server is away.

        Raises:
            ServerUnreachable: a service does not start.
        """
        server = start_local_installation(home)
        return cls(server.url, server.key, timeout_s=timeout_s, patience_s=patience_s)
