"""The client of one installation."""

import asyncio
from pathlib import Path
from typing import Self

from holdfast.python_client.asynchronous.collections import AsyncCollections
from holdfast.python_client.asynchronous.evidence import AsyncEvidence
from holdfast.python_client.asynchronous.installation import AsyncInstallation
from holdfast.python_client.asynchronous.jobs import AsyncJobs
from holdfast.python_client.asynchronous.records import AsyncRecords
from holdfast.python_client.asynchronous.schedules import AsyncSchedules
from holdfast.python_client.local_installation import start_local_installation


class AsyncClient(
    AsyncJobs, AsyncRecords, AsyncSchedules, AsyncEvidence, AsyncCollections, AsyncInstallation
):
    """Everything that an installation can be asked for over HTTP.

    Errors are those of `holdfast.python_client`: `ApiError` and its kinds, whose `detail` says what
    to do. Jobs run on when the client is closed.
    """

    @classmethod
    async def local(
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
        server = await asyncio.to_thread(start_local_installation, home)
        return cls(server.url, server.key, timeout_s=timeout_s, patience_s=patience_s)
