"""Tests for how long Temporal waits before it retries an activity."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput

from holdfast.activities.runtime.heartbeat_and_error_interceptors import ErrorInterceptor
from holdfast.models.errors import ModelBusy, StorageAway, ToolBusy, ToolFailed


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
