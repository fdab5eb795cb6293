"""Tests for the halt of a job after an error."""

import pytest

from holdfast.activities.runtime.halt_from_error import halt_of_error
from holdfast.models.errors import BadConfiguration, Lasting, ModelRefused, ToolFailed
from holdfast.models.jobs.job_record import StopReason


@pytest.mark.parametrize("error", [ModelRefused("no key"), BadConfiguration("no endpoint")])
def test_a_model_that_refuses_every_call_is_the_reason(error: Lasting) -> None:
    halt = halt_of_error(error, "the planner failed", otherwise=StopReason.PLANNING_FAILED)

    assert halt.reason is StopReason.MODEL_REFUSED
    assert halt.message == f"the planner failed: {error}"


def test_another_error_ends_the_job_for_the_reason_of_its_caller() -> None:
    halt = halt_of_error(ToolFailed("gone"), otherwise=StopReason.PLANNING_FAILED)

    assert (halt.reason, halt.message) == (StopReason.PLANNING_FAILED, "gone")
