"""Tests that a failed or given up work is never taken for one without a result."""

import asyncio
from functools import partial

import pytest

from holdfast.activities.runtime.bounded_gather import gather_bounded
from holdfast.models.errors import ModelBusy


async def found(number: int) -> int:
    await asyncio.sleep(0)
    return number


async def ended(error: BaseException) -> int:
    await asyncio.sleep(0)
    raise error


async def test_results_come_in_order() -> None:
    assert await gather_bounded([partial(found, n) for n in range(5)], at_once=2) == [0, 1, 2, 3, 4]


@pytest.mark.conformance("BEY-02")
async def test_a_work_that_temporal_gave_up_ends_the_attempt_and_is_no_missing_result() -> None:
    given_up = partial(ended, asyncio.CancelledError())

    with pytest.raises(asyncio.CancelledError):
        await gather_bounded([partial(found, 1), given_up], at_once=2)


async def test_an_error_goes_before_a_cancellation() -> None:
    works = [partial(ended, asyncio.CancelledError()), partial(ended, ModelBusy("busy"))]

    with pytest.raises(ModelBusy):
        await gather_bounded(works, at_once=2)
