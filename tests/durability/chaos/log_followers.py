"""Follow the log of a job while services die, as `holdfast events --follow` does."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from holdfast.client import open_client
from holdfast.models.errors import HoldfastError
from holdfast.services.service_lifecycle import attach_to_services
from holdfast.storage.views.job_queries import events_after
from tests.durability.chaos.chaos_installation import ChaosInstallation
from tests.durability.chaos.job_records import RecordedEvent

_EVERY_S = 0.05
_WITHIN_S = 20.0


@dataclass
class LogFollower:
    """Asks for the entries after the last one that it saw, and keeps all that it was ever given."""

    installation: ChaosInstallation
    job_id: str
    seen: list[tuple[int, str, str]] = field(default_factory=list)

    async def follow(self) -> None:
        """Follows until it is cancelled; connects again when PostgreSQL is back."""
        while True:
            with suppress(HoldfastError):
                await self._follow()
            await asyncio.sleep(_EVERY_S)

    async def _follow(self) -> None:
        settings = self.installation.settings
        endpoints = await attach_to_services(settings, needs_temporal=False)
        async with open_client(settings, endpoints) as holdfast:
            while True:
                last = self.seen[-1][0] if self.seen else 0
                found = await events_after(holdfast.db, self.job_id, last)
                self.seen += [(each.seq, each.kind, each.task) for each in found]
                await asyncio.sleep(_EVERY_S)

    async def fault(self, log: Sequence[RecordedEvent]) -> str:
        """What it saw that is not in the log, or missed; empty: it saw each entry once."""
        due = [(each.seq, each.kind, each.task_id) for each in log]
        with suppress(TimeoutError):
            async with asyncio.timeout(_WITHIN_S):
                while len(self.seen) < len(due):
                    await asyncio.sleep(_EVERY_S)
        if self.seen == due:
            return ""
        wrong = sorted(set(self.seen) ^ set(due))
        return f"a follower saw {len(self.seen)} entries of {len(due)}; they differ in {wrong[:5]}"


@asynccontextmanager
async def followers(
    installation: ChaosInstallation, job_ids: Sequence[str]
) -> AsyncIterator[dict[str, LogFollower]]:
    """A follower of each job."""
    found = {job_id: LogFollower(installation, job_id) for job_id in job_ids}
    tasks = [asyncio.create_task(each.follow()) for each in found.values()]
    try:
        yield found
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
