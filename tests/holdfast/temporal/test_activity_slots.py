"""Tests that a worker takes no more activities from Temporal than it begins."""

import asyncio
import time
from dataclasses import dataclass
from datetime import timedelta
from types import SimpleNamespace
from typing import cast
from uuid import uuid4

import pytest
from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.worker import (
    SlotMarkUsedContext,
    SlotReleaseContext,
    SlotReserveContext,
    UnsandboxedWorkflowRunner,
    Worker,
)

from holdfast.activities.runtime.interceptors.begin_interceptor import BeginInterceptor
from holdfast.temporal.activity_slots import MOST_NOT_BEGUN, ActivitySlots, worker_tuner

pytestmark = pytest.mark.conformance("OPS-02")

ACTIVITIES = 60
BLOCKED_S = 0.02
CONTEXT = cast("SlotReserveContext", None)
"""The slots do not read it."""


@dataclass(frozen=True)
class Info:
    activity_type: str


def received(slots: ActivitySlots, kind: str = "work") -> SlotReleaseContext:
    """Let the slots give a slot and mark it as used, as Temporal's SDK does."""
    permit = slots.try_reserve_slot(CONTEXT)
    assert permit is not None
    slots.mark_slot_used(
        cast("SlotMarkUsedContext", SimpleNamespace(slot_info=Info(kind), permit=permit))
    )
    return SlotReleaseContext(None, permit)


def test_no_slot_is_given_while_too_many_received_activities_have_not_begun() -> None:
    slots = ActivitySlots(100)
    for _ in range(MOST_NOT_BEGUN):
        received(slots)

    before = slots.try_reserve_slot(CONTEXT)
    slots.begin("work")
    after, more = slots.try_reserve_slot(CONTEXT), slots.try_reserve_slot(CONTEXT)

    assert before is None
    assert after is not None
    assert more is None


def test_activities_that_have_begun_hold_their_slots_until_they_end() -> None:
    slots = ActivitySlots(2)
    held = [received(slots) for _ in range(2)]
    slots.begin("work")
    slots.begin("work")

    before = slots.try_reserve_slot(CONTEXT)
    slots.release_slot(held[0])

    assert slots.not_begun == 0
    assert before is None
    assert slots.try_reserve_slot(CONTEXT) is not None


def test_an_activity_that_ends_before_it_begins_holds_nothing() -> None:
    slots = ActivitySlots(100)
    for _ in range(3 * MOST_NOT_BEGUN):
        slots.release_slot(received(slots))

    assert slots.not_begun == 0


def test_an_activity_of_an_unknown_type_holds_no_place_of_others() -> None:
    slots = ActivitySlots(100)
    unknown, _ = received(slots, "unknown"), received(slots)

    slots.begin("work")
    slots.release_slot(unknown)

    assert slots.not_begun == 0


async def test_whoever_waits_for_a_slot_has_the_next_one_and_a_cancelled_turn_is_passed_on() -> (
    None
):
    slots = ActivitySlots(1)
    held = received(slots)
    slots.begin("work")
    first, second = (asyncio.create_task(slots.reserve_slot(CONTEXT)) for _ in range(2))
    await asyncio.sleep(0)

    # The first one's turn comes and the first one is cancelled in the same pass of the loop.
    slots.release_slot(held)
    asyncio.get_running_loop().call_soon(first.cancel)
    async with asyncio.timeout(10):
        await second

    assert first.cancelled()


async def test_a_slot_that_gets_free_goes_to_the_poll_that_waits_and_not_to_an_eager_start() -> (
    None
):
    slots = ActivitySlots(1)
    held = received(slots)
    slots.begin("work")
    poll = asyncio.create_task(slots.reserve_slot(CONTEXT))
    await asyncio.sleep(0)

    slots.release_slot(held)
    eager = slots.try_reserve_slot(CONTEXT)
    async with asyncio.timeout(10):
        permit = await poll
    slots.release_slot(SlotReleaseContext(None, permit))

    assert eager is None
    assert slots.try_reserve_slot(CONTEXT) is not None, "no poll waits any more"


@activity.defn
async def block_the_loop() -> None:
    """Hold the event loop, as the work of other activities does."""
    time.sleep(BLOCKED_S)  # noqa: ASYNC251 - what this test is about


@workflow.defn
class ManyActivities:
    """Runs many activities at once."""

    @workflow.run
    async def run(self) -> None:
        """Run them all."""
        limit = timedelta(minutes=5)
        work = [
            workflow.execute_activity(block_the_loop, start_to_close_timeout=limit)
            for _ in range(ACTIVITIES)
        ]
        await asyncio.gather(*work)


class _WatchedSlots(ActivitySlots):
    most_seen = 0

    def mark_slot_used(self, ctx: SlotMarkUsedContext) -> None:
        super().mark_slot_used(ctx)
        self.most_seen = max(self.most_seen, self.not_begun)


async def test_a_busy_worker_leaves_in_temporal_what_it_cannot_begin_yet(temporal: Client) -> None:
    slots = _WatchedSlots(200)
    queue = f"queue-{uuid4().hex[:8]}"
    async with Worker(
        temporal,
        task_queue=queue,
        workflows=[ManyActivities],
        activities=[block_the_loop],
        interceptors=[BeginInterceptor(slots.begin)],
        workflow_runner=UnsandboxedWorkflowRunner(),
        tuner=worker_tuner(slots),
    ):
        async with asyncio.timeout(120):
            await temporal.execute_workflow(ManyActivities.run, id=queue, task_queue=queue)

    assert 0 < slots.most_seen <= MOST_NOT_BEGUN
