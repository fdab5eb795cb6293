"""Pause, resume, steer, cancel and resume jobs while services are killed."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from holdfast.client import open_client
from holdfast.jobs.job_controller import JobController
from holdfast.models.errors import BadInput, HoldfastError
from holdfast.services.service_lifecycle import attach_to_services
from tests.durability.chaos.chaos_installation import SubmittedJob
from tests.durability.chaos.round_stage import (
    LOOK_AGAIN_S,
    WITHIN_S,
    RoundStage,
    draw_targets,
    job_ends,
)

_BY = "chaos"
_MOST_KILLS = 2


@dataclass(frozen=True)
class ControlClient:
    """A person who controls one job of the round, and tries again until somebody answers."""

    stage: RoundStage
    job: SubmittedJob

    async def pause_and_resume(self) -> None:
        if await self._until_heard("pause", lambda c: c.pause(self.job.job_id)):
            await self.stage.pause()
        await self._until_heard("resume", lambda c: c.resume(self.job.job_id))

    async def steer(self) -> None:
        self.stage.this.steered.add(self.job.job)
        await self._until_heard("steer", lambda c: c.steer(self.job.job_id, "Mind the remarks."))

    async def cancel_and_resume(self) -> None:
        if await self._until_heard("cancel", lambda c: c.cancel(self.job.job_id)):
            self.stage.this.reopened.add(self.job.job)
            await self.stage.pause()
            await self._until_final()
            await self._until_heard("resume", lambda c: c.resume(self.job.job_id))

    async def _until_heard(
        self, name: str, operation: Callable[[JobController], Awaitable[None]]
    ) -> bool:
        """True once the operation was accepted; False if it came too late."""
        settings = self.stage.installation.settings
        async with asyncio.timeout(WITHIN_S):
            while True:
                try:
                    endpoints = await attach_to_services(settings)
                    async with open_client(settings, endpoints) as holdfast:
                        await operation(JobController(holdfast, _BY))
                except BadInput:
                    return False
                except HoldfastError:
                    await asyncio.sleep(LOOK_AGAIN_S)
                    continue
                self.stage.this.actions.append(f"{name} {self.job.shape.pattern}")
                return True

    async def _until_final(self) -> None:
        await job_ends(self.stage.installation, self.job.job_id)


async def control_jobs(stage: RoundStage) -> None:
    """Each job is controlled in one way, while services are killed."""
    clients = [ControlClient(stage, job) for job in stage.this.jobs]
    operations = [
        stage.dice.choice((each.pause_and_resume, each.steer, each.cancel_and_resume))
        for each in clients
    ]
    async with asyncio.TaskGroup() as together:
        for operation in operations:
            together.create_task(operation())
        for target in draw_targets(stage, _MOST_KILLS):
            await stage.kill(target)
