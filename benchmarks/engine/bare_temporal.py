"""Run a task graph on bare Temporal with one PostgreSQL transaction per task, as the baseline of
the overhead benchmarks."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta

from psycopg_pool import AsyncConnectionPool
from pydantic import BaseModel
from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.worker import Worker

_BODY = "x" * 2048
_TABLE = """
create table if not exists bare_results (
    job_id text not null, task_id text not null, body text not null, primary key (job_id, task_id))
"""
_INSERT = "insert into bare_results (job_id, task_id, body) values (%s, %s, %s)"


class BareJob(BaseModel):
    """A graph by its tasks' needs, the number of slots and the time that each task sleeps."""

    needs: dict[str, tuple[str, ...]]
    slots: int
    sleep_s: float


class BareTask(BaseModel):
    """One task to be worked."""

    job_id: str
    task_id: str
    sleep_s: float


@dataclass(frozen=True)
class BareWork:
    """The activity with its connections."""

    pool: AsyncConnectionPool

    @activity.defn(name="bare_task")
    async def work(self, task: BareTask) -> str:
        await asyncio.sleep(task.sleep_s)
        async with self.pool.connection() as connection:
            await connection.execute(_INSERT, (task.job_id, task.task_id, _BODY))
        return task.task_id


@workflow.defn(name="bare_graph")
class BareGraph:
    """Starts what is ready while slots are free; the least that can be called a scheduler."""

    @workflow.run
    async def run(self, job: BareJob) -> int:
        waiting = dict(job.needs)
        running: list[asyncio.Task[str]] = []
        done: set[str] = set()
        while waiting or running:
            ready = [name for name, needs in waiting.items() if done.issuperset(needs)]
            for name in ready[: job.slots - len(running)]:
                del waiting[name]
                running.append(asyncio.create_task(self._work(name, job.sleep_s)))
            finished, running = await workflow.wait(running, return_when=asyncio.FIRST_COMPLETED)
            done |= {task.result() for task in finished}
        return len(done)

    async def _work(self, name: str, sleep_s: float) -> str:
        task = BareTask(job_id=workflow.info().workflow_id, task_id=name, sleep_s=sleep_s)
        found: str = await workflow.execute_activity(
            "bare_task", task, result_type=str, start_to_close_timeout=timedelta(minutes=5)
        )
        return found


async def make_table(pool: AsyncConnectionPool) -> None:
    async with pool.connection() as connection:
        await connection.execute(_TABLE)


def bare_worker(client: Client, pool: AsyncConnectionPool, queue: str, tasks: int) -> Worker:
    """A worker with the settings of the product's."""
    from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

    return Worker(
        client,
        task_queue=queue,
        workflows=[BareGraph],
        activities=[BareWork(pool).work],
        workflow_runner=SandboxedWorkflowRunner(
            restrictions=SandboxRestrictions.default.with_passthrough_modules(
                "benchmarks", "activities", "models", "planning", "workflows"
            )
        ),
        max_concurrent_activities=tasks,
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=1),
        max_heartbeat_throttle_interval=timedelta(seconds=1),
        graceful_shutdown_timeout=timedelta(seconds=20),
    )
