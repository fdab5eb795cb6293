"""Tests for how long Temporal waits before it retries an activity."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput

from holdfast.activities.runtime.interceptors.error_interceptor import ErrorInterceptor
from holdfast.activities.runtime.interceptors.work_time_interceptor import WorkTimeInterceptor
from holdfast.models.errors import (
    BudgetHeld,
    CallAwaited,
    ModelBusy,
    Passing,
    StorageAway,
    ToolBusy,
    ToolFailed,
)
from holdfast.models.jobs.activity_orders import AttemptOrder
from holdfast.models.jobs.work_limit import WorkLimit

pytestmark = pytest.mark.slow


class Failing(ActivityInboundInterceptor):
    """An activity that fails like this."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002
        raise self._error


async def told(error: Exception, attempt: int) -> ApplicationError:
    """What Temporal is told when an attempt fails."""
    environment = ActivityEnvironment()
    environment.info = replace(environment.default_info(), attempt=attempt)
    typed = ErrorInterceptor().intercept_activity(Failing(error))

    async def run() -> None:
        await typed.execute_activity(ExecuteActivityInput(run, (), None, {}))

    with pytest.raises(ApplicationError) as failure:
        await environment.run(run)
    return failure.value


async def pause_s(error: Exception, attempt: int) -> float:
    delay = (await told(error, attempt)).next_retry_delay
    assert delay is not None
    return delay.total_seconds()


@pytest.mark.parametrize(
    ("error", "attempt", "most_s"),
    [
        (StorageAway("away"), 1, 0.5),
        (StorageAway("away"), 3, 2),
        (StorageAway("away"), 50, 5),
        (ModelBusy("busy"), 1, 1),
        (ModelBusy("busy"), 4, 8),
        (ToolBusy("busy"), 1000, 60),
        (KeyError("ours"), 1, 1),
    ],
)
async def test_pauses_double_up_to_a_limit(error: Exception, attempt: int, most_s: float) -> None:
    assert 0.8 * most_s <= await pause_s(error, attempt) <= most_s


async def test_what_failed_together_does_not_come_back_together() -> None:
    assert len({await pause_s(ModelBusy("busy"), 5) for _ in range(10)}) > 1


async def test_the_time_that_the_other_side_named_is_kept() -> None:
    assert await pause_s(ModelBusy("busy", after=timedelta(seconds=17)), 3) == 17


async def test_what_lasts_is_not_tried_again() -> None:
    failure = await told(ToolFailed("no"), 1)

    assert (failure.non_retryable, failure.next_retry_delay) == (True, None)


async def told_after_outage(
    temporal: Client,
    error: Exception,
    sign: dict[str, object],
    limit: WorkLimit | None = None,
) -> ApplicationError:
    """What Temporal is told when the 500th attempt fails; `sign` is of the attempts before."""
    environment = ActivityEnvironment(client=temporal)
    environment.info = replace(
        environment.default_info(),
        attempt=500,
        heartbeat_details=[sign],
        heartbeat_timeout=timedelta(seconds=5),
    )
    counted = WorkTimeInterceptor(lambda: True).intercept_activity(Failing(error))
    typed = ErrorInterceptor().intercept_activity(counted)
    order = AttemptOrder(job_id="job-1", epoch=1, limit=limit)

    async def run() -> None:
        await typed.execute_activity(ExecuteActivityInput(run, (order,), None, {}))

    with pytest.raises(ApplicationError) as failure:
        await environment.run(run)
    return failure.value


@pytest.mark.conformance("REL-01")
async def test_attempts_that_an_outage_ended_make_no_pause_longer(temporal: Client) -> None:
    failure = await told_after_outage(temporal, ModelBusy("busy"), {"worked_s": 3.0})

    assert failure.next_retry_delay is not None
    assert failure.next_retry_delay <= timedelta(seconds=1)


@pytest.mark.conformance("REL-01")
@pytest.mark.parametrize(("faults", "is_last"), [(0, False), (1, False), (2, True)])
async def test_attempts_that_an_outage_ended_are_no_tries_at_a_fault_of_ours(
    temporal: Client, faults: int, *, is_last: bool
) -> None:
    failure = await told_after_outage(temporal, KeyError("ours"), {"faults": faults})

    assert failure.non_retryable is is_last


@pytest.mark.conformance("REL-01")
@pytest.mark.parametrize(
    ("error", "is_last"), [(BudgetHeld, False), (CallAwaited, False), (ModelBusy, True)]
)
async def test_a_wait_for_calls_of_other_tasks_is_no_work(
    temporal: Client, error: type[Passing], *, is_last: bool
) -> None:
    minute, pause = timedelta(minutes=1), timedelta(seconds=1)
    limit = WorkLimit(setting="task_patience", value=minute, total=minute, attempt=minute)

    failure = await told_after_outage(
        temporal, error("held", after=pause), {"worked_s": 59.5}, limit
    )

    assert failure.non_retryable is is_last
    assert failure.next_retry_delay == (None if is_last else pause)
