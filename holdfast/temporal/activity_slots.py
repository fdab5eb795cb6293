"""Give a worker as many activities as it begins, and at most as many as it may run at once.

Temporal counts the time of an activity from the moment at which it hands the activity to a poll.
The SDK keeps what its polls received until the event loop asks for it, which takes some passes of
the loop for each activity. In a busy process each pass takes tens of milliseconds, so that 200 free
slots filled with activities that waited for more than 4 s. They could not send a heartbeat yet, so
Temporal gave them up after 5 s and handed them out again, which made the process busier: measured
with 20 jobs of 20 tasks, next to two busy loops, a quarter of all attempts. So no slot is given
while too many activities have not begun. What is not taken waits in Temporal, where no time counts.

What waits there takes turns by owner. A workflow may also start an activity on its own worker past
that queue (an eager start), so a slot for which a poll waits goes to the poll.
"""

import asyncio
import threading
from collections import deque
from contextlib import suppress

from temporalio.worker import (
    ActivitySlotInfo,
    CustomSlotSupplier,
    FixedSizeSlotSupplier,
    SlotMarkUsedContext,
    SlotPermit,
    SlotReleaseContext,
    SlotReserveContext,
    WorkerTuner,
)

MOST_NOT_BEGUN = 10
"""Slots of polls under way, five in the SDK, and of activities that were received."""

_OTHER_SLOTS = FixedSizeSlotSupplier(100)
"""The SDK's own number, for the kinds of tasks other than activities."""


class ActivitySlots(CustomSlotSupplier):
    """`most` slots, of which at most `MOST_NOT_BEGUN` have no activity that has begun.

    Temporal's SDK marks and releases slots in threads of its own.
    """

    def __init__(self, most: int) -> None:
        self._free = most
        self._polling: set[SlotPermit] = set()
        self._received: dict[SlotPermit, str] = {}
        """The types of the activities that have not begun, in the order of their arrival."""
        self._polls_without_slot = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def not_begun(self) -> int:
        """How many slots are given whose activity has not begun."""
        return len(self._polling) + len(self._received)

    async def reserve_slot(self, ctx: SlotReserveContext) -> SlotPermit:  # noqa: ARG002 - the SDK's signature
        """Return a slot for a poll, as soon as one may be given."""
        self._loop = asyncio.get_running_loop()
        self._polls_without_slot += 1
        try:
            while (permit := self._reserve()) is None:
                await self._next_turn()
        finally:
            self._polls_without_slot -= 1
        return permit

    def try_reserve_slot(self, ctx: SlotReserveContext) -> SlotPermit | None:  # noqa: ARG002 - the SDK's signature
        """Return a slot for an eager start.

        None if a poll waits for a slot, no slot is free, or too many activities have not begun.
        """
        return None if self._polls_without_slot else self._reserve()

    async def _next_turn(self) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._let_next_try()
            raise

    def _reserve(self) -> SlotPermit | None:
        with self._lock:
            if self._free == 0 or self.not_begun >= MOST_NOT_BEGUN:
                return None
            self._free -= 1
            permit = SlotPermit()
            self._polling.add(permit)
            return permit

    def mark_slot_used(self, ctx: SlotMarkUsedContext) -> None:
        """The event loop is given the activity of this slot."""
        assert isinstance(ctx.slot_info, ActivitySlotInfo), "these are slots of activities"
        with self._lock:
            self._polling.discard(ctx.permit)
            self._received[ctx.permit] = ctx.slot_info.activity_type

    def begin(self, activity_type: str) -> None:
        """The first activity of this type begins; called in the event loop.

        One of another type may be older: it ends before it begins if this worker lacks its type.
        """
        with self._lock:
            of_type = (each for each, name in self._received.items() if name == activity_type)
            if (permit := next(of_type, None)) is not None:
                del self._received[permit]
        self._let_next_try()

    def release_slot(self, ctx: SlotReleaseContext) -> None:
        """Take the slot back, also that of an activity that could not begin."""
        with self._lock:
            self._free += 1
            self._polling.discard(ctx.permit)
            self._received.pop(ctx.permit, None)
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._let_next_try)

    def _let_next_try(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            # At a shutdown the SDK cancels a turn in a thread of its own.
            with suppress(asyncio.InvalidStateError):
                turn.set_result(None)
                return


def worker_tuner(slots: ActivitySlots) -> WorkerTuner:
    """The slots of a worker: these for activities, the SDK's number for all else."""
    return WorkerTuner.create_composite(
        workflow_supplier=_OTHER_SLOTS,
        activity_supplier=slots,
        local_activity_supplier=_OTHER_SLOTS,
        nexus_supplier=_OTHER_SLOTS,
    )
