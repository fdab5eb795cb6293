"""Submit a job as a client process that kills itself at one place of the submission.

`python -m tests.durability.chaos.disturbances.dying_client HOME CONFIG KEY PLACE < request.json`:
places are before and after each statement, before each commit, and around the workflow's start.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Engine, event

from holdfast import client
from holdfast.client import open_client
from holdfast.models.jobs.job_record import JobRequest
from holdfast.services.service_lifecycle import attach_to_services
from holdfast.settings import Settings

_EVENTS = ("before_cursor_execute", "after_cursor_execute", "commit")


class DeadlyCount:
    """Counts the places that the process passes, and ends it with SIGKILL at one of them."""

    def __init__(self, place: int) -> None:
        self._left = place

    def pass_by(self, *_: object) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


async def main(home: str, config: str, key: str, place: int) -> None:
    """Submit the request that stands on standard input; return if still alive."""
    request = JobRequest.model_validate_json(sys.stdin.read())
    settings = Settings(home=Path(home), config_file=Path(config))
    deadly = DeadlyCount(place)
    for name in _EVENTS:
        event.listen(Engine, name, deadly.pass_by)
    client.start_workflow = _around(deadly.pass_by, client.start_workflow)  # type: ignore[attr-defined]
    async with open_client(settings, await attach_to_services(settings)) as holdfast:
        await holdfast.submit(request, key=key)


def _around(pass_by: Callable[[], None], start: Callable[..., object]) -> Callable[..., object]:
    async def wrapped(*words: object, **more: object) -> object:
        pass_by()
        found = await start(*words, **more)  # type: ignore[misc]
        pass_by()
        return found

    return wrapped


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4], int(sys.argv[4])))  # type: ignore[call-arg]
    # As the command line ends: a thread of Temporal's client may abort an interpreter that ends.
    os._exit(0)
