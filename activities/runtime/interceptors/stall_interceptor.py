"""Note which activity runs in each asyncio task, and refuse an activity that stalled three workers.

A blocked event loop cannot report anything. So the supervisor reads in shared memory which activity
ran last (`services/supervisor/loop_pulse.py`) and kills the worker, and the next worker stores the
stall before it polls. An answer that blocks the loop is in the call ledger, so every worker would
block.
"""

from contextvars import ContextVar
from typing import Any

from temporalio import activity
from temporalio.worker import ExecuteActivityInput

from holdfast.activities.runtime.interceptors.around_interceptor import (
    AroundInterceptor,
    RunActivity,
)
from holdfast.models.errors import WorkerStalled
from holdfast.models.jobs.activity_key import ActivityKey
from holdfast.storage.core.database import Database
from holdfast.storage.jobs import worker_stall_rows

_MAX_STALLS = 3

_current_activity: ContextVar[ActivityKey | None] = ContextVar("activity", default=None)


def current_activity() -> ActivityKey | None:
    """Return the activity that this asyncio task works for; None outside of activities."""
    return _current_activity.get()


class StallInterceptor(AroundInterceptor):
    """Mark the tasks of an activity as its own, and refuse the attempt after three stalls."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def around(self, input: ExecuteActivityInput, run: RunActivity) -> Any:  # noqa: A002, ANN401 - the SDK's names
        info = activity.info()
        key = ActivityKey(
            job_id=info.workflow_id or "",
            run_id=info.workflow_run_id or "",
            activity_id=info.activity_id,
        )
        _current_activity.set(key)
        if info.attempt > 1:
            await _refuse_after_stalls(self._db, key)
        return await run(input)


async def _refuse_after_stalls(db: Database, key: ActivityKey) -> None:
    stalls = await worker_stall_rows.count_stalls(db, key)
    if stalls >= _MAX_STALLS:
        raise WorkerStalled(
            f"worker_stalled: the worker stood still {stalls} times while it ran "
            f"{key.activity_id!r} and was replaced each time; the worker's log shows where"
        )
