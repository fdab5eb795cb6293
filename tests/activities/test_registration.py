"""Tests that a worker registers exactly one implementation of each activity stub."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from holdfast.activities import interfaces
from holdfast.activities.interfaces import implements
from holdfast.activities.registration import ACTIVITY_CLASSES, activities_by_type
from holdfast.activities.reports.report_activities import ReportActivities
from holdfast.activities.runtime.activity_services import Services
from holdfast.models.jobs.activity_orders import EndOrder, JobOutcome
from holdfast.storage.core.database import Database
from tests.support.jobs.database_services import database_services


async def lonely(order: EndOrder) -> JobOutcome:
    """A stub that `activities.interfaces` does not have."""
    raise NotImplementedError


@dataclass(frozen=True)
class LonelyActivities:
    """An implementation of that stub."""

    services: Services

    @implements(lonely)
    async def lonely(self, order: EndOrder) -> JobOutcome:
        raise NotImplementedError


@pytest.fixture
async def services() -> AsyncIterator[Services]:
    """Services over a database to which nothing connects."""
    db = Database("postgresql+psycopg://nobody@127.0.0.1:1/none")
    yield database_services(db)
    await db.close()


def test_each_stub_has_an_implementation_of_its_name(services: Services) -> None:
    implementations = activities_by_type(services)

    assert len(implementations) == 21
    assert implementations.keys() == interfaces.STUBS.keys()


def test_a_stub_without_an_implementation_is_refused(services: Services) -> None:
    classes = [each for each in ACTIVITY_CLASSES if each is not ReportActivities]

    with pytest.raises(TypeError, match="no activity class implements write_report"):
        activities_by_type(services, classes)


def test_two_implementations_of_a_stub_are_refused(services: Services) -> None:
    with pytest.raises(TypeError, match="two activity classes implement write_report"):
        activities_by_type(services, [*ACTIVITY_CLASSES, ReportActivities])


def test_an_implementation_without_a_stub_is_refused(services: Services) -> None:
    with pytest.raises(TypeError, match="no stub of lonely"):
        activities_by_type(services, [*ACTIVITY_CLASSES, LonelyActivities])


def test_a_method_with_other_types_than_its_stub_is_refused() -> None:
    async def end_job(self: object, order: EndOrder) -> str:
        raise NotImplementedError

    with pytest.raises(TypeError, match="does not have the types of end_job"):
        implements(interfaces.end_job)(end_job)  # type: ignore[arg-type]  # the mistake
