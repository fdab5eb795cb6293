"""Send the heartbeats of an activity, count its worked time, and end it when its time is over.

Temporal's own time limits run on the wall clock, also while no worker lives: they would end the
work of a job because a laptop was closed. So the order of an activity carries its limit, the
heartbeats carry the time that was worked, and the attempt ends itself (`work_clock`).
"""

import asyncio
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from temporalio import activity
from temporalio.exceptions import FailureError
from temporalio.worker import ExecuteActivityInput

from holdfast.activities.runtime.interceptors.around_interceptor import (
    AroundInterceptor,
    RunActivity,
)
from holdfast.activities.runtime.retry_pauses import pause_after_error
from holdfast.activities.runtime.work_clock import WorkClock, WorkProgress
from holdfast.models.errors import (
    BudgetHeld,
    CallAwaited,
    HoldfastError,
    ModelTurnAwaited,
    Passing,
    StorageAway,
)
from holdfast.models.jobs.activity_orders import AttemptOrder

_FIRST_BEAT_S = 0.5
"""The first pause: a short activity ends before its first heartbeat."""

_clock: ContextVar[WorkClock | None] = ContextVar("work_clock", default=None)


def worked_seconds() -> float:
    """The time that workers have spent on the running activity, over all its attempts."""
    clock = _clock.get()
    return 0.0 if clock is None else round(clock.progress().worked_s, 3)


def faults_so_far() -> int:
    """How many attempts at the running activity ended with an error of Holdfast itself."""
    clock = _clock.get()
    return 0 if clock is None else clock.progress().faults


class WorkTimeInterceptor(AroundInterceptor):
    """Let an activity send heartbeats and end itself when its worked time is over.

    A heartbeat proves that the process lives, so that a dead worker is noticed within seconds. It
    names worker, time, attempt and worked time for the worker that takes over.
    """

    def __init__(self, are_services_there: Callable[[], bool]) -> None:
        self._are_services_there = are_services_there

    async def around(self, input: ExecuteActivityInput, run: RunActivity) -> Any:  # noqa: A002, ANN401 - the SDK's names
        if activity.info().heartbeat_timeout is None:
            return await run(input)
        order = input.args[0]
        limit = order.limit if isinstance(order, AttemptOrder) else None
        clock = WorkClock(limit, _progress_before(), are_services_there=self._are_services_there)
        _clock.set(clock)
        try:
            return await _run_within_limit(run, input, clock)
        except Passing as error:
            _count_failure(clock, error)
            raise
        except (HoldfastError, FailureError):
            raise
        except Exception:
            clock.add_fault()
            _send_heartbeat(clock)
            raise


async def _run_within_limit(run: RunActivity, input: ExecuteActivityInput, clock: WorkClock) -> Any:  # noqa: A002, ANN401 - as above
    """Run the activity; when its time is over, cancel it.

    Raises:
        WorkTimeOver: workers have worked on it for as long as they may.
        AttemptTimeOver: this attempt took too long; the next attempt goes on.
    """
    try:
        async with asyncio.timeout(None) as end:
            beating = asyncio.create_task(_send_heartbeats(clock, end))
            try:
                return await run(input)
            finally:
                beating.cancel()
                await asyncio.gather(beating, return_exceptions=True)
    except TimeoutError:
        if not end.expired():
            raise
        raise clock.error_of_time() from None


async def _send_heartbeats(clock: WorkClock, end: asyncio.Timeout) -> None:
    """Send a heartbeat after each tick; move the `end` of the activity to now when it is over."""
    timeout = activity.info().heartbeat_timeout
    assert timeout is not None, "only activities with heartbeats come here"
    every_s, is_ended = timeout.total_seconds() / 3, False
    pause_s = min(_FIRST_BEAT_S, every_s)
    while True:
        await asyncio.sleep(clock.begin_tick(pause_s))
        _send_heartbeat(clock)
        if clock.is_over and not is_ended:
            # It goes on beating: a cancelled activity may still write what it has received.
            end.reschedule(asyncio.get_running_loop().time())
            is_ended = True
        pause_s = every_s


def _send_heartbeat(clock: WorkClock) -> None:
    worker, attempt = activity.client().identity, activity.info().attempt
    sign = {"worker": worker, "attempt": attempt, "at": datetime.now(UTC).isoformat()}
    activity.heartbeat(sign | clock.progress().model_dump())


def _progress_before() -> WorkProgress:
    """Return what the last heartbeat of the attempts before says; nothing is known without one."""
    details = activity.info().heartbeat_details
    last = details[0] if details and isinstance(details[0], Mapping) else {}
    known = {name: last[name] for name in WorkProgress.model_fields if name in last}
    return WorkProgress.model_validate(known)


def _count_failure(clock: WorkClock, error: Passing) -> None:
    """Count a failure and the pause after it, unless the time is nobody's.

    That is so while PostgreSQL is away, and while the task waits: for its turn at a model, for room
    in the budget that other calls hold, or for the answer to the same call of another task.

    Raises:
        WorkTimeOver: no other attempt fits into the limit.
    """
    if isinstance(error, StorageAway | ModelTurnAwaited | BudgetHeld | CallAwaited):
        return
    error.after = pause_after_error(error, clock.progress().failures + 1)
    over = clock.error_after_failure(error, error.after)
    _send_heartbeat(clock)
    if over is not None:
        raise over from error
