"""Tests that every failure has a class and that the class decides the remedy (WAVE-04)."""

from datetime import UTC, datetime, timedelta

import pytest

from holdfast.activities.runtime.interceptors.error_interceptor import _temporal_error
from holdfast.activities.runtime.task_outcome import outcome_of_error
from holdfast.api.access.access_errors import AccessRefused, KeyMissing, TooManyRequests
from holdfast.models.errors import (
    FailureClass,
    HoldfastError,
    Lasting,
    ModelPaused,
    Passing,
    ServiceDown,
    StaleEpoch,
    StateBehind,
    Suspending,
)
from holdfast.models.tasks.task_failure import REMEDIES, Component, Remedy
from holdfast.workflows.activity_calls import PAUSING_ERROR_TYPES

pytestmark = pytest.mark.conformance("WAVE-04")


def all_below(root: type[HoldfastError]) -> list[type[HoldfastError]]:
    return [each for below in root.__subclasses__() for each in (below, *all_below(below))]


def raised(kind: type[HoldfastError]) -> HoldfastError:
    """One error of this kind."""
    if kind is ModelPaused:
        return ModelPaused("why", after=timedelta(seconds=1), since=datetime.now(UTC))
    return kind("why")


def test_every_class_has_a_remedy() -> None:
    assert set(REMEDIES) == set(FailureClass)


# Of the command line, of the API, and of a run that must not write: no task fails by them.
OTHERS = {ServiceDown, StaleEpoch, StateBehind, KeyMissing, AccessRefused, TooManyRequests}
OF_TASKS = [kind for kind in all_below(HoldfastError) if kind not in OTHERS]
LASTING_OF_TASKS = [kind for kind in OF_TASKS if issubclass(kind, Lasting)]


@pytest.mark.parametrize("kind", OF_TASKS, ids=lambda kind: kind.__name__)
def test_the_tree_of_errors_agrees_with_the_remedies(kind: type[HoldfastError]) -> None:
    remedy = REMEDIES[raised(kind).failure_class]

    assert (remedy is Remedy.RETRY) == issubclass(kind, Passing)
    assert (remedy is Remedy.ASK) == issubclass(kind, Suspending)
    assert _temporal_error(raised(kind), 1).non_retryable == (remedy is not Remedy.RETRY)
    if issubclass(kind, Suspending) and kind is not Suspending:
        assert kind.__name__ in PAUSING_ERROR_TYPES


@pytest.mark.parametrize("kind", LASTING_OF_TASKS, ids=lambda kind: kind.__name__)
def test_only_what_fails_every_later_call_too_ends_the_job(kind: type[Lasting]) -> None:
    outcome = outcome_of_error(raised(kind), Component.EXTRACTOR)

    assert outcome.failure is not None
    assert outcome.failure.failure_class is raised(kind).failure_class
    stops = REMEDIES[outcome.failure.failure_class] is Remedy.STOP
    assert (outcome.halt is not None) == stops
