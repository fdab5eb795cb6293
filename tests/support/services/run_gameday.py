"""Play faults one after another on a real Temporal cluster: `make gameday`.

A job runs through each fault while somebody looks at it five times a second. For each fault the
command prints what that person would have noticed, and which calls were sent twice. Its exit code is
1 if a job did not end well, or if a call was sent twice that a live worker held.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from holdfast.configuration.json_logs import configure_logs
from holdfast.models.errors import StorageAway
from holdfast.models.jobs.job_record import JobStatus
from holdfast.storage.core.schema_migration import migrate_schema
from holdfast.storage.views.job_queries import job_calls
from tests.durability.worker_launcher import WorkerLauncher, WorkerProcess, kill_worker
from tests.support.endpoints.scripted_model import ScriptedModel
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.running_engine import RunningEngine, running_engine
from tests.support.jobs.slow_chain import script_slow_chain
from tests.support.services.temporal_cluster import (
    SERVICES,
    TemporalCluster,
    is_built,
    temporal_cluster,
)
from tests.support.tools.scripted_tools import ScriptedTools

_STEPS = 6
_CALLS = 2 * _STEPS + 1
"""A plan, and a tool call and an extraction for each step."""
_LOOK_EVERY_S = 0.2
_OUTAGE_S = 20.0
_WITHIN_S = 300.0


@dataclass
class Stage:
    """The cluster, the worker, and an engine that only submits and looks."""

    cluster: TemporalCluster
    engine: RunningEngine
    worker: WorkerProcess

    async def kill_service(self, service: str) -> None:
        await asyncio.to_thread(self.cluster.kill_service, service)
        self.cluster.start_service(service)

    async def kill_all_services(self) -> None:
        await asyncio.to_thread(self.cluster.stop)
        for service in SERVICES:
            self.cluster.start_service(service)

    async def kill_worker(self) -> None:
        await kill_worker(self.worker)

    async def stop_databases(self) -> None:
        await asyncio.to_thread(self.cluster.postgres.stop)
        await asyncio.sleep(_OUTAGE_S)  # the outage itself
        await asyncio.to_thread(self.cluster.postgres.start)

    async def change_nothing(self) -> None: ...


@dataclass
class Watch:
    """What somebody sees who looks at a job again and again."""

    engine: RunningEngine
    job_id: str
    calls: int = 0
    """Answered calls."""
    silent_s: float = 0.0
    """The longest time in which no further call was answered."""
    unanswered_s: float = 0.0
    """The time in which Holdfast could not say how the job stands."""
    _seen_at: float = field(default_factory=time.monotonic)

    async def until(self, calls: int) -> None:
        """Look until so many calls are answered.

        Raises:
            TimeoutError: that took too long.
        """
        async with asyncio.timeout(_WITHIN_S):
            while self.calls < calls:
                await self._look()

    async def _look(self) -> None:
        began = time.monotonic()
        try:
            found = await job_calls(self.engine.db, self.job_id)
            await asyncio.sleep(_LOOK_EVERY_S)
        except StorageAway:
            await asyncio.sleep(_LOOK_EVERY_S)
            self.unanswered_s += time.monotonic() - began
            return
        answered = sum(call.status == "done" for call in found)
        if answered > self.calls:
            now = time.monotonic()
            self.silent_s = max(self.silent_s, now - self._seen_at)
            self.calls, self._seen_at = answered, now


@dataclass(frozen=True)
class Fault:
    """Something that happens in the middle of a job."""

    name: str
    happen: Callable[[], Awaitable[None]]
    lost_calls: int = 0
    """The calls under way that go with it, and have to be sent again."""


async def play(stage: Stage, fault: Fault) -> bool:
    """Run a job through the fault and print what was noticed; True if the job came out well."""
    began = time.monotonic()
    job_id = await stage.engine.submit("Who keeps the light?")
    watch = Watch(stage.engine, job_id)
    await watch.until(_CALLS // 2)
    async with asyncio.TaskGroup() as group:
        group.create_task(fault.happen())
        group.create_task(watch.until(_CALLS))
    async with asyncio.timeout(_WITHIN_S):
        job = await stage.engine.holdfast.wait(job_id)
    twice = sum(call.sends - 1 for call in await job_calls(stage.engine.db, job_id))
    sys.stdout.write(
        f"| {fault.name} | {job.status.value} | {time.monotonic() - began:.1f} | {watch.silent_s:.1f} "
        f"| {watch.unanswered_s:.1f} | {twice} |\n"
    )
    sys.stdout.flush()
    return job.status is JobStatus.DONE and twice <= fault.lost_calls


async def run() -> int:
    """Return the exit code."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hf-")))
        cluster, client = await stack.enter_async_context(temporal_cluster(folder))
        cluster.postgres.execute("create database holdfast")
        url = cluster.postgres.url("holdfast", "postgresql+psycopg")
        await asyncio.to_thread(migrate_schema, url)
        players = ScriptedRoles()
        model = stack.enter_context(ScriptedModel(players))
        tools = stack.enter_context(ScriptedTools())
        script_slow_chain(players, tools, steps=_STEPS, delay_s=1.0)
        engine = await stack.enter_async_context(
            running_engine(
                client, url, folder, model_url=model.url, tools_url=tools.url, polls=False
            )
        )
        workers = WorkerLauncher(engine, folder)
        stack.callback(workers.end)
        stage = Stage(cluster, engine, await workers.start("--supervise"))
        return await _play_all(stage)


def _faults(stage: Stage) -> list[Fault]:
    services = [
        Fault(f"Temporal's {service} killed", partial(stage.kill_service, service))
        for service in SERVICES
    ]
    return [
        Fault("nothing", stage.change_nothing),
        *services,
        Fault("all four services killed", stage.kill_all_services),
        Fault("Holdfast's worker killed", stage.kill_worker, lost_calls=1),
        Fault(f"PostgreSQL of both stopped for {_OUTAGE_S:g} s", stage.stop_databases),
        Fault("all of Temporal lost, an empty one there", stage.cluster.replace_by_empty),
    ]


async def _play_all(stage: Stage) -> int:
    sys.stdout.write(
        "| fault | job | seconds | longest silence, s | without an answer, s | sent twice |\n"
        "| --- | --- | --- | --- | --- | --- |\n"
    )
    came_out_well = [await play(stage, fault) for fault in _faults(stage)]
    return 0 if all(came_out_well) else 1


if __name__ == "__main__":
    if not is_built():
        sys.exit("run `make cluster-build` first; PostgreSQL with btree_gin must be installed")
    # Before any MCP server is made: the library would print its own lines between the table's.
    configure_logs("ERROR")
    sys.exit(asyncio.run(run()))
