"""Kill clients at any statement of a submission, then submit the same jobs again by their keys."""

import asyncio
import sys
from collections.abc import Mapping
from random import Random

from tests.durability.chaos.chaos_installation import (
    ChaosInstallation,
    SubmittedJob,
    job_request,
)
from tests.durability.chaos.job_shapes import JobShape

_PLACES = 11
"""More than a submission has: the last ones let it through."""
_WITHIN_S = 240.0


async def submit_with_cuts(
    installation: ChaosInstallation, shapes: Mapping[str, JobShape], dice: Random
) -> tuple[list[SubmittedJob], list[str]]:
    """Each job is submitted by a client that dies, then again with the same key.

    Returns the jobs, and in words where the clients died. A job that was stored before its client
    died is the job that the second submission finds; there is never a second one.
    """
    places = {job: dice.randint(1, _PLACES) for job in shapes}
    ends = await asyncio.gather(
        *(_submit_and_die(installation, job, shapes[job], places[job]) for job in shapes)
    )
    told = [f"client {'died' if end else 'lived'} at {places[job]}" for job, end in ends]
    return await installation.submit(shapes, has_keys=True), told


async def _submit_and_die(
    installation: ChaosInstallation, job: str, shape: JobShape, place: int
) -> tuple[str, int]:
    """The job's name, and how its client ended: 0 if nothing killed it."""
    settings = installation.settings
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.durability.chaos.disturbances.dying_client",
        *(str(settings.home), str(settings.config_file), job, str(place)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
    )
    words = job_request(job, shape, {}).model_dump_json().encode()
    async with asyncio.timeout(_WITHIN_S):
        await process.communicate(words)
    assert process.returncode in (0, -9), f"the client of {job} ended with {process.returncode}"
    return job, process.returncode
