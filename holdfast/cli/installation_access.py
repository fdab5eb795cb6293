"""Connect a command to the running installation without starting a service."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from holdfast.cli.options.command_settings import load_command_settings
from holdfast.client import Holdfast, open_client
from holdfast.jobs.job_lookup import find_job_id
from holdfast.services.service_lifecycle import attach_to_services

ResultT = TypeVar("ResultT")


@asynccontextmanager
async def open_installation(*, needs_temporal: bool = True) -> AsyncIterator[Holdfast]:
    """A connection to the running installation; no service is started.

    Raises:
        ServiceDown: PostgreSQL is not running, or Temporal if it is needed.
    """
    settings = load_command_settings()
    endpoints = await attach_to_services(settings, needs_temporal=needs_temporal)
    async with open_client(settings, endpoints) as holdfast:
        yield holdfast


def run_with_client(
    action: Callable[[Holdfast], Awaitable[ResultT]], *, needs_temporal: bool = False
) -> ResultT:
    """The result of an action that needs PostgreSQL, and Temporal only with `needs_temporal`."""

    async def run() -> ResultT:
        async with open_installation(needs_temporal=needs_temporal) as holdfast:
            return await action(holdfast)

    return asyncio.run(run())


def run_with_job(
    job: str,
    action: Callable[[Holdfast, str], Awaitable[ResultT]],
    *,
    needs_temporal: bool = False,
) -> ResultT:
    """The result of an action on one job, which gets the whole id of the job.

    Raises:
        NotFound: no job's id begins with `job`.
        BadInput: several do.
    """

    async def run() -> ResultT:
        async with open_installation(needs_temporal=needs_temporal) as holdfast:
            return await action(holdfast, await find_job_id(holdfast.db, job))

    return asyncio.run(run())
