"""Start an installation whose scripted model and tool play the jobs of the drawn shapes."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields

from pydantic import JsonValue

from holdfast.client import open_client
from holdfast.models.jobs.job_record import JobRequest
from holdfast.planning.strategies.strategy_presets import preset, with_settings
from holdfast.services.service_lifecycle import attach_to_services
from tests.durability.chaos.chaos_disk import OwnDisk, disk_of_its_own
from tests.durability.chaos.job_shapes import JobShape
from tests.durability.chaos.request_arrivals import RequestArrivals
from tests.durability.chaos.running_home import RunningHome, running_home
from tests.durability.chaos.scripted_replies import ChaosScript, shape_question


@dataclass(frozen=True)
class SubmittedJob:
    """A job under way: its name in its requests, its id, and its shape."""

    job: str
    job_id: str
    shape: JobShape


@dataclass(frozen=True)
class ChaosInstallation(RunningHome):
    """A home that is up, and what has come in at the endpoint and the tool."""

    script: ChaosScript

    @property
    def arrivals(self) -> RequestArrivals:
        return self.script.arrivals

    async def submit(
        self,
        shapes: Mapping[str, JobShape],
        settings: Mapping[str, JsonValue] | None = None,
        *,
        has_keys: bool = False,
    ) -> list[SubmittedJob]:
        """A job of each shape, stored and started at once; each has its name in its requests.

        With `has_keys`, a job that was submitted before under its name is that job.
        """
        async with open_client(self.settings, await attach_to_services(self.settings)) as holdfast:
            ids = await asyncio.gather(
                *(
                    holdfast.submit(
                        job_request(job, shape, settings or {}), key=job if has_keys else None
                    )
                    for job, shape in shapes.items()
                )
            )
        return [
            SubmittedJob(job, job_id, shapes[job]) for job, job_id in zip(shapes, ids, strict=True)
        ]


@asynccontextmanager
async def chaos_installation(
    seed: int, *, has_clock: bool = False, disk: OwnDisk = disk_of_its_own
) -> AsyncIterator[ChaosInstallation]:
    """An installation that is up; ended and removed afterwards."""
    script = ChaosScript(seed)
    with running_home(script.reply, script.page, has_clock=has_clock, disk=disk) as home:
        parts = {each.name: getattr(home, each.name) for each in fields(RunningHome)}
        installation = ChaosInstallation(**parts, script=script)
        await installation.up()
        yield installation


def job_request(job: str, shape: JobShape, settings: Mapping[str, JsonValue]) -> JobRequest:
    """The request of a job of this shape."""
    return JobRequest(
        question=shape_question(shape, job),
        preset=shape.pattern.preset,
        model="scripted",
        servers=("lab",) if shape.pattern.begins_with_loop else (),
        strategy=with_settings(preset(shape.pattern.preset).strategy, shape.settings | settings),
    )
