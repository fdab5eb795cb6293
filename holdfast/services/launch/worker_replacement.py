"""Keep the running worker, or replace a worker whose settings have changed.

All folders share the worker of a home. A command in one folder must not stop the work of another,
so only `holdfast up` replaces a worker that is at work with other settings.
"""

import asyncio
from collections.abc import Sequence

from holdfast.models.errors import BadConfiguration, ServiceDown
from holdfast.services import detached_processes
from holdfast.services.launch import worker_process
from holdfast.services.launch.worker_settings import (
    OWN_CODE,
    certificate_variables,
    changed_settings,
    worker_marks,
)
from holdfast.services.launch.worker_start import (
    StartingSupervisor,
    launch_supervisor,
    wait_until_ready,
)
from holdfast.services.servers.server_starts import StartupMessageCallback, living_processes
from holdfast.services.service_state import ServiceState, save_state
from holdfast.settings import Endpoints, Settings


async def ensure_worker(
    settings: Settings,
    state: ServiceState,
    endpoints: Endpoints,
    say: StartupMessageCallback,
    *,
    may_interrupt: bool,
) -> None:
    """Start the worker, or replace it if its settings have changed; say why.

    Raises:
        BadConfiguration: the worker is at work with other settings, and `may_interrupt` is false.
        ServiceDown: the worker does not get ready; the message has its log.
    """
    certificates = certificate_variables(state.worker_certificates)
    marks = worker_marks(settings, endpoints, certificates, state.salt)
    if detached_processes.is_alive(state.worker):
        changed = changed_settings(state.worker_marks, marks)
        if not changed and await _gets_ready(settings, state):
            return
        if not changed:
            say("starting the worker again: it does not get ready")
        else:
            count = await _jobs_under_way(endpoints)
            if count and not may_interrupt and changed != [OWN_CODE]:
                raise _refusal(changed, count)
            say(_announcement(changed, count))
    else:
        say("starting the worker")
    state.worker_certificates = certificates
    await _replace(settings, state, endpoints, marks)


async def _gets_ready(settings: Settings, state: ServiceState) -> bool:
    """True if the worker polls, or does so after the start that another command has begun."""
    assert state.worker is not None
    if await asyncio.to_thread(worker_process.is_ready, settings.home, state.worker):
        return True
    try:
        starting = StartingSupervisor(settings.home, state.worker, log_offset=0)
        await asyncio.to_thread(wait_until_ready, starting)
    except ServiceDown:
        return False
    return True


async def _replace(
    settings: Settings, state: ServiceState, endpoints: Endpoints, marks: dict[str, str]
) -> None:
    home = settings.home
    for old in living_processes(state.worker, worker_process.strays(home)):
        await asyncio.to_thread(worker_process.stop, home, old)
    start = launch_supervisor(settings, endpoints, state.worker_certificates)
    state.worker, state.worker_marks = start.process, marks
    save_state(home, state)
    await asyncio.to_thread(wait_until_ready, start)


async def _jobs_under_way(endpoints: Endpoints) -> int:
    from holdfast.storage.core.database import Database
    from holdfast.storage.jobs.job_rows import count_jobs_under_way

    db = Database(endpoints.database_url, pool_size=1)
    try:
        return await count_jobs_under_way(db)
    finally:
        await db.close()


def _refusal(changed: Sequence[str], count: int) -> BadConfiguration:
    return BadConfiguration(
        f"the worker of this home is at work on {_jobs(count)} with other settings than here: "
        f"{_names(changed)}; wait for the jobs, set HOLDFAST_HOME to another folder, or let "
        "`holdfast up` restart the worker, whose jobs then go on with the settings here"
    )


def _announcement(changed: Sequence[str], count: int) -> str:
    jobs = f"; {_jobs(count)} under way with the new settings from now on" if count else ""
    return f"restarting the worker, because of a change of {_names(changed)}{jobs}"


def _jobs(count: int) -> str:
    return "1 job" if count == 1 else f"{count} jobs"


def _names(changed: Sequence[str]) -> str:
    return ", ".join(changed)
