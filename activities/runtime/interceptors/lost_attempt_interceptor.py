"""Keep the work of an attempt that Temporal gave up although its worker lives.

Temporal gives an attempt up when its heartbeats do not arrive, for example while PostgreSQL is away
for Temporal and for us. The worker may then hold a paid reply that cannot be written yet, or wait
for one. So the attempt is not stopped: it keeps what arrives in memory until PostgreSQL is back,
and begins no further call. The next attempt in the same worker waits for the end of the attempt
before, and finds each reply in the call ledger.

An attempt ends at once if somebody cancels it, its time is over, or its worker stops. A lost one
goes on for the time of one attempt at most; time without PostgreSQL or Temporal does not count. An
activity without a limit only records: it holds no reply, so it is cancelled as ever.
"""

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from datetime import timedelta
from typing import Any

import structlog
from temporalio import activity
from temporalio.worker import ExecuteActivityInput

from holdfast.activities.runtime.interceptors.around_interceptor import (
    AroundInterceptor,
    RunActivity,
)
from holdfast.models.jobs.activity_orders import AttemptOrder

_TICK_S = 1.0

log = structlog.get_logger(__name__)

_is_given_up: ContextVar[asyncio.Event | None] = ContextVar("is_given_up", default=None)
"""Set once Temporal has given up the attempt that this asyncio task works for."""


def end_if_given_up() -> None:
    """End an attempt that Temporal has given up, before it begins a call.

    The next attempt may begin the same call at another worker.

    Raises:
        CancelledError: Temporal has given the attempt up.
    """
    given_up = _is_given_up.get()
    if given_up is not None and given_up.is_set():
        raise asyncio.CancelledError("Temporal has given this attempt up")


class LostAttemptInterceptor(AroundInterceptor):
    """Run the attempts at an activity one after another, and let lost ones end by themselves."""

    def __init__(self, are_services_there: Callable[[], bool]) -> None:
        self._are_services_there = are_services_there
        self._running: dict[tuple[str, str], asyncio.Task[Any]] = {}

    async def around(self, input: ExecuteActivityInput, run: RunActivity) -> Any:  # noqa: A002, ANN401 - the SDK's names
        order = input.args[0]
        limit = order.limit if isinstance(order, AttemptOrder) else None
        if limit is None:
            return await run(input)
        info = activity.info()
        # Not the run: a workflow that starts again repeats the activities of its last run.
        key = (info.workflow_id or "", info.activity_id)
        given_up = asyncio.Event()
        _is_given_up.set(given_up)
        while (before := self._running.get(key)) is not None:
            log.info("activity.waits_for_lost_attempt", attempt=info.attempt)
            await _end_of(before)
        work = asyncio.ensure_future(run(input))
        self._running[key] = work
        work.add_done_callback(lambda _: self._running.pop(key))
        try:
            return await _ending(work)
        except asyncio.CancelledError:
            if not work.done():
                given_up.set()
                log.warning("activity.lost_attempt_goes_on")
                self._bound(work, limit.attempt)
            raise

    def _bound(self, work: asyncio.Task[Any], longest: timedelta) -> None:
        """Cancel the work of a lost attempt when its time is over, or its worker stops."""

        async def end() -> None:
            left_s, stop = longest.total_seconds(), activity.wait_for_worker_shutdown()
            stopping = asyncio.ensure_future(stop)
            while left_s > 0 and not stopping.done():
                await asyncio.wait([stopping], timeout=min(_TICK_S, left_s))
                left_s -= _TICK_S if self._are_services_there() else 0.0
            stopping.cancel()
            work.cancel()

        ending = asyncio.create_task(end())
        work.add_done_callback(lambda _: ending.cancel())


async def _end_of(before: asyncio.Task[Any]) -> None:
    """Wait until the attempt before has ended, however it ends.

    Raises:
        CancelledError: this attempt was cancelled meanwhile, and both with it unless it is lost.
    """
    own = asyncio.current_task()
    assert own is not None
    try:
        await _ending(before)
    except asyncio.CancelledError:
        if own.cancelling():
            raise
    except Exception:
        # Its error belongs to an attempt that Temporal has forgotten; this one tries again.
        log.info("activity.lost_attempt_failed", exc_info=True)


async def _ending(work: asyncio.Task[Any]) -> Any:  # noqa: ANN401 - the activity's result
    """Return the result of the work; cancel the work with this attempt, unless that is lost."""
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        if work.done() or _is_lost():
            raise
        work.cancel()
        return await work


def _is_lost() -> bool:
    """True if Temporal no longer knows the attempt, and nobody has cancelled it."""
    details = activity.cancellation_details()
    return details is not None and (details.not_found or details.timed_out)
