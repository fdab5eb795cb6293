"""Watch whether PostgreSQL and Temporal answer this worker, and note the outages."""

import asyncio
import time
from collections.abc import Callable

import structlog
from temporalio.api.workflowservice.v1 import GetSystemInfoRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from holdfast.storage.core.database import Database
from holdfast.storage.jobs.outage_rows import (
    MAX_SILENCE,
    PRESENCE_INTERVAL,
    note_services_present,
)
from holdfast.storage.ledger.open_calls import give_sign_of_life

_AWAY = frozenset({RPCStatusCode.UNAVAILABLE, RPCStatusCode.DEADLINE_EXCEEDED})

log = structlog.get_logger(__name__)


class ServicePresence:
    """Whether the services answered a moment ago; without them no time counts as work."""

    def __init__(
        self, client: Client, db: Database, *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._client, self._db, self._now = client, db, now
        self._seen_at_s = now()

    def are_services_there(self) -> bool:
        """True if PostgreSQL and Temporal answered the last time they were asked."""
        silence_s = self._now() - self._seen_at_s
        return self._db.away_since is None and silence_s <= MAX_SILENCE.total_seconds()

    async def watch(self) -> None:
        """Ask both every five seconds, until cancelled; the first time after five seconds."""
        while True:
            await asyncio.sleep(PRESENCE_INTERVAL.total_seconds())
            await self.look()

    async def look(self) -> None:
        """Ask both once, and note in PostgreSQL that they are there."""
        try:
            async with asyncio.timeout(PRESENCE_INTERVAL.total_seconds()):
                # First, and without Temporal too: by this other workers see that this one lives.
                await give_sign_of_life(self._db)
                await self._ask_temporal()
                outage = await note_services_present(self._db)
        except Exception as error:
            log.warning("services.away", kind=type(error).__name__, error=str(error)[:500])
            return
        self._seen_at_s = self._now()
        if outage is not None:
            log.warning("outage.over", seconds=round(outage.total_seconds(), 1))

    async def _ask_temporal(self) -> None:
        """Return if Temporal answers, with whatever it says.

        Raises:
            RPCError: it does not answer.
        """
        try:
            await self._client.workflow_service.get_system_info(
                GetSystemInfoRequest(), timeout=PRESENCE_INTERVAL
            )
        except RPCError as error:
            if error.status in _AWAY:
                raise
