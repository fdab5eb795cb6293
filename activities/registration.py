"""Map each stub of `activities.interfaces` to its implementation, for a worker to register.

A stub without an implementation, two implementations of one stub, and an implementation without a
stub are refused when a worker starts, so that none is found out by a job that waits.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from holdfast.activities import interfaces
from holdfast.activities.agents.agent_activities import AgentActivities
from holdfast.activities.interfaces import implemented_type
from holdfast.activities.lifecycle.answer_activities import AnswerActivities
from holdfast.activities.lifecycle.control_activities import ControlActivities
from holdfast.activities.lifecycle.job_begin_activities import JobBeginActivities
from holdfast.activities.lifecycle.job_end_activities import JobEndActivities
from holdfast.activities.lifecycle.schedule_activities import ScheduleActivities
from holdfast.activities.plans.opening_activities import OpeningActivities
from holdfast.activities.plans.plan_activities import PlanActivities
from holdfast.activities.plans.self_revision_activities import SelfRevisionActivities
from holdfast.activities.reports.report_activities import ReportActivities
from holdfast.activities.runtime.activity_services import Services
from holdfast.activities.tasks.task_activities import TaskActivities
from holdfast.activities.verification.gap_filling_activities import GapActivities
from holdfast.activities.verification.verification_activities import VerificationActivities

ActivityClass: TypeAlias = Callable[[Services], object]
Implementation: TypeAlias = Callable[..., Any]

ACTIVITY_CLASSES: tuple[ActivityClass, ...] = (
    JobBeginActivities,
    ControlActivities,
    AnswerActivities,
    OpeningActivities,
    PlanActivities,
    SelfRevisionActivities,
    TaskActivities,
    AgentActivities,
    VerificationActivities,
    GapActivities,
    ReportActivities,
    JobEndActivities,
    ScheduleActivities,
)


def activities_by_type(
    services: Services, classes: Iterable[ActivityClass] = ACTIVITY_CLASSES
) -> dict[str, Implementation]:
    """Return the implementation of each stub by activity type, built with the services.

    Raises:
        TypeError: a stub has no implementation or two, or an implementation has no stub.
    """
    implementations: dict[str, Implementation] = {}
    for activity_class in classes:
        for name, method in _implementations(activity_class(services)):
            if name in implementations:
                raise TypeError(f"two activity classes implement {name}")
            implementations[name] = method
    if missing := interfaces.STUBS.keys() - implementations.keys():
        raise TypeError(f"no activity class implements {', '.join(sorted(missing))}")
    if unknown := implementations.keys() - interfaces.STUBS.keys():
        raise TypeError(f"activities.interfaces has no stub of {', '.join(sorted(unknown))}")
    return implementations


def _implementations(activities: object) -> Iterable[tuple[str, Implementation]]:
    for name in vars(type(activities)):
        method = getattr(activities, name)
        activity_type = implemented_type(method)
        if activity_type is not None:
            yield activity_type, method
