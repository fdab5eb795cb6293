"""Tests of what happens to the work of an attempt that is cancelled, or that Temporal gave up."""

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from temporalio import activity
from temporalio.activity import ActivityCancellationDetails
from temporalio.testing import ActivityEnvironment
from temporalio.worker import ExecuteActivityInput

from holdfast.activities.runtime.interceptors.lost_attempt_interceptor import (
    LostAttemptInterceptor,
    end_if_given_up,
)
from holdfast.activities.runtime.interceptors.recovery_interceptor import let_replies_be_written
from holdfast.models.jobs.activity_orders import TaskOrder
from holdfast.models.jobs.work_limit import WorkLimit

pytestmark = pytest.mark.timeout(60)

LOST = ActivityCancellationDetails(not_found=True)
REQUESTED = ActivityCancellationDetails(cancel_requested=True)


HOUR = timedelta(hours=1)


def ordered(longest_attempt: timedelta | None) -> Any:
    """The input of an activity; None: it only records."""
    limit = longest_attempt and WorkLimit(
        setting="task_patience", value=HOUR, total=HOUR, attempt=longest_attempt
    )
    order = TaskOrder(job_id="job-1", epoch=1, task_id="T1", limit=limit)
    return SimpleNamespace(args=[order])


def worker_of_test(*, are_services_there: bool = True) -> LostAttemptInterceptor:
    return LostAttemptInterceptor(lambda: are_services_there)


class Work:
    """An activity that goes on until the test lets it, and then begins a call."""

    def __init__(self) -> None:
        self.has_begun, self.may_go_on = asyncio.Event(), asyncio.Event()
        self.ended: list[str] = []

    async def __call__(self, _: ExecuteActivityInput) -> str:
        self.has_begun.set()
        try:
            await self.may_go_on.wait()
            self.ended.append("received")
            end_if_given_up()
        except asyncio.CancelledError:
            self.ended.append("cancelled")
            raise
        return "result"


@dataclasses.dataclass
class Attempt:
    """An attempt at one activity, which runs in the test's worker."""

    worker: LostAttemptInterceptor
    work: Callable[[ExecuteActivityInput], Awaitable[Any]]
    order: ExecuteActivityInput = dataclasses.field(default_factory=lambda: ordered(HOUR))
    environment: ActivityEnvironment = dataclasses.field(default_factory=ActivityEnvironment)

    def start(self) -> "asyncio.Task[Any]":
        async def run() -> Any:
            return await self.worker.around(self.order, self.work)

        return asyncio.create_task(self.environment.run(run))


async def turns() -> None:
    """Let every task go on that can."""
    for _ in range(10):
        await asyncio.sleep(0)


async def lost_attempt(worker: LostAttemptInterceptor, work: Work) -> Attempt:
    """An attempt that Temporal gives up in the middle of its work."""
    attempt = Attempt(worker, work)
    running = attempt.start()
    await work.has_begun.wait()
    attempt.environment.cancel(LOST)
    with pytest.raises(asyncio.CancelledError):
        await running
    return attempt


async def test_the_next_attempt_waits_for_a_lost_one_which_receives_its_reply_and_begins_nothing() -> (
    None
):
    worker, first, second = worker_of_test(), Work(), Work()
    await lost_attempt(worker, first)
    second.may_go_on.set()
    following = Attempt(worker, second).start()
    await turns()
    had_begun = second.has_begun.is_set()
    first.may_go_on.set()

    assert (await following, had_begun) == ("result", False)
    assert first.ended == ["received", "cancelled"]
    assert second.ended == ["received"]


@pytest.mark.parametrize("details", [REQUESTED, ActivityCancellationDetails(worker_shutdown=True)])
async def test_an_attempt_that_is_cancelled_ends_at_once(
    details: ActivityCancellationDetails,
) -> None:
    work = Work()
    attempt = Attempt(worker_of_test(), work)
    running = attempt.start()
    await work.has_begun.wait()
    attempt.environment.cancel(details)

    with pytest.raises(asyncio.CancelledError):
        await running
    assert work.ended == ["cancelled"]


async def test_whoever_cancels_the_waiting_attempt_ends_the_lost_one_too() -> None:
    worker, first, second = worker_of_test(), Work(), Work()
    await lost_attempt(worker, first)
    following = Attempt(worker, second)
    waiting = following.start()
    await turns()
    following.environment.cancel(REQUESTED)

    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert (first.ended, second.has_begun.is_set()) == (["cancelled"], False)


async def test_an_activity_that_only_records_ends_at_once_also_if_it_is_lost() -> None:
    work = Work()
    attempt = Attempt(worker_of_test(), work, ordered(None))
    running = attempt.start()
    await work.has_begun.wait()
    attempt.environment.cancel(LOST)

    with pytest.raises(asyncio.CancelledError):
        await running
    assert work.ended == ["cancelled"]


@pytest.mark.parametrize("are_services_there", [True, False])
async def test_a_lost_attempt_ends_after_the_time_of_an_attempt_but_not_during_an_outage(
    are_services_there: bool,
) -> None:
    worker, work = worker_of_test(are_services_there=are_services_there), Work()
    attempt = Attempt(worker, work, ordered(timedelta(milliseconds=1)))
    running = attempt.start()
    await work.has_begun.wait()
    attempt.environment.cancel(LOST)
    with pytest.raises(asyncio.CancelledError):
        await running
    if are_services_there:
        following = Attempt(worker, Work()).start()
        while not work.ended:
            await asyncio.sleep(0.01)
        following.cancel()
    else:
        await asyncio.sleep(0.1)

    assert work.ended == (["cancelled"] if are_services_there else [])
    work.may_go_on.set()


async def test_a_lost_attempt_ends_with_its_worker() -> None:
    worker, work, environment = worker_of_test(), Work(), ActivityEnvironment()
    is_lost = asyncio.Event()

    async def run() -> None:
        with suppress(asyncio.CancelledError):
            await worker.around(ordered(HOUR), work)
        is_lost.set()
        # The environment tells only activities that run of the end of the worker.
        await activity.wait_for_worker_shutdown()

    running = asyncio.create_task(environment.run(run))
    await work.has_begun.wait()
    environment.cancel(LOST)
    await is_lost.wait()
    before = list(work.ended)
    environment.worker_shutdown()
    await running
    await turns()

    assert (before, work.ended) == ([], ["cancelled"])


@pytest.mark.parametrize(
    ("last_worker", "back_for_s", "waits"),
    [("other", 1.0, [4.0]), ("other", 60.0, []), ("own", 1.0, [])],
    ids=["another worker may write", "it has written", "the attempt before is here"],
)
async def test_after_an_outage_another_worker_gets_time_to_write_the_reply_it_kept(
    last_worker: str, back_for_s: float, waits: list[float]
) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    client: Any = SimpleNamespace(identity="own")
    environment = ActivityEnvironment(client=client)
    beat = {"worker": last_worker, "attempt": 1}
    environment.info = dataclasses.replace(
        environment.default_info(), attempt=2, heartbeat_details=[beat]
    )
    db: Any = SimpleNamespace(back_for_s=back_for_s)
    await environment.run(let_replies_be_written, db, sleep)

    assert waited == waits
