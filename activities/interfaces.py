"""Typed stubs of all activities; each docstring says what is stored and why repeating is safe.

Workflows import this file and nothing else of `activities`, so they load without openai or SQL.
"""

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, TypeVar, get_type_hints

from temporalio import activity

from holdfast.models.jobs.activity_orders import (
    AgentTaskOrder,
    AnswerOrder,
    AttemptOrder,
    BeginOrder,
    CancelWorkflowOrder,
    ControlOrder,
    EndOrder,
    FailTaskOrder,
    JobBrief,
    JobOutcome,
    ReadTasksOrder,
    ReplanOrder,
    ReportOrder,
    RetryOrder,
    ReviseOrder,
    RunOrder,
    TaskOrder,
    TaskPage,
    VerificationRoundOrder,
)
from holdfast.models.jobs.event_mark import Receipt
from holdfast.models.jobs.job_state import (
    AgentTaskReceipt,
    AnswerReceipt,
    ControlReceipt,
    PlanReceipt,
    ReportReceipt,
    TaskReceipt,
    VerificationRoundReceipt,
)
from holdfast.models.schedules.schedule_orders import (
    RunScheduleOrder,
    ScheduledJobOrder,
    ScheduleReceipt,
)

OrderT = TypeVar("OrderT")
ResultT = TypeVar("ResultT")
SelfT = TypeVar("SelfT")
Stub: TypeAlias = Callable[..., Awaitable[Any]]
StubT = TypeVar("StubT", bound=Stub)

STUBS: dict[str, Stub] = {}
"""All stubs of this file by activity type; a worker registers one implementation of each."""

_ACTIVITY_TYPE = "holdfast_activity_type"


def _stub(function: StubT) -> StubT:
    STUBS[function.__name__] = function
    return activity.defn(function)


@_stub
async def begin_job(order: BeginOrder) -> JobBrief:
    """Take the job over and read its structure and statuses.

    Repeating: the same run gets the same epoch. Another run gets the next epoch, and every later
    write of the older run is refused.
    """
    raise NotImplementedError


@_stub
async def read_tasks(order: ReadTasksOrder) -> TaskPage:
    """Read one page of the job's tasks. Repeating: reads only."""
    raise NotImplementedError


@_stub
async def compare_state(order: RunOrder) -> None:
    """Fail with StateBehind if PostgreSQL lacks what the run has seen. Repeating: reads only."""
    raise NotImplementedError


@_stub
async def begin_loop(order: AttemptOrder) -> PlanReceipt:
    """Add the cited loop that the job begins with, before anything is planned.

    Repeating: returns the stored receipt.
    """
    raise NotImplementedError


@_stub
async def make_plan(order: AttemptOrder) -> PlanReceipt:
    """Ask the planner for a plan, check it and store it.

    After a cited loop the planner gets what the loop found, and plans only what is open.

    Repeating: returns the stored receipt; recorded model calls come from the call ledger.
    """
    raise NotImplementedError


@_stub
async def replan(order: ReplanOrder) -> PlanReceipt:
    """Ask the replanner for a continuation of a failed task, check it and store the plan change.

    Repeating: as `make_plan`.
    """
    raise NotImplementedError


@_stub
async def tool_task(order: TaskOrder) -> TaskReceipt:
    """Call the task's tool, extract the promised entities, check the KPIs and store the entities.

    Repeating: returns the stored receipt; recorded calls come from the call ledger. A tool that is
    not declared safe to repeat is not called again after an unclear outcome, whatever task or
    attempt of the job made that call.
    """
    raise NotImplementedError


@_stub
async def reasoning_task(order: TaskOrder) -> TaskReceipt:
    """Ask the reasoner for the task's entities, check and store them.

    Repeating: as `tool_task`.
    """
    raise NotImplementedError


@_stub
async def fail_task(order: FailTaskOrder) -> TaskReceipt:
    """Record a failure that the task could not record itself. Repeating: returns the receipt."""
    raise NotImplementedError


@_stub
async def advance_agent(order: AgentTaskOrder) -> AgentTaskReceipt:
    """Let an agent take one turn: plan steps, take a step, ask or conclude; store its decision.

    Repeating: returns the stored receipt of this turn.
    """
    raise NotImplementedError


@_stub
async def revise_plan(order: ReviseOrder) -> PlanReceipt:
    """Ask the reviser to refine, add and remove unfinished tasks; a bad answer changes nothing.

    Repeating: as `make_plan`.
    """
    raise NotImplementedError


@_stub
async def verify_results(order: VerificationRoundOrder) -> VerificationRoundReceipt:
    """Verify each result without a complete verdict, and check the stop conditions.

    Repeating: as `make_plan`.
    """
    raise NotImplementedError


@_stub
async def fill_gaps(order: VerificationRoundOrder) -> PlanReceipt:
    """Retry every task whose result is incomplete, and plan new tasks for missing results.

    Repeating: as `make_plan`.
    """
    raise NotImplementedError


@_stub
async def record_answer(order: AnswerOrder) -> AnswerReceipt:
    """Record an answer together with its effect on the job. Repeating: recorded once."""
    raise NotImplementedError


@_stub
async def write_report(order: ReportOrder) -> ReportReceipt:
    """Write the report, check its sentences, and deliver it if all delivery checks pass.

    Repeating: returns the stored receipt.
    """
    raise NotImplementedError


@_stub
async def record_control(order: ControlOrder) -> ControlReceipt:
    """Record a person's control request. Repeating: recorded once under its key."""
    raise NotImplementedError


@_stub
async def retry_tasks(order: RetryOrder) -> Receipt:
    """Set tasks back to pending and delete their results. Repeating: done once."""
    raise NotImplementedError


@_stub
async def end_job(order: EndOrder) -> JobOutcome:
    """Record how the job ended. Repeating: returns the stored outcome."""
    raise NotImplementedError


@_stub
async def cancel_workflow(order: CancelWorkflowOrder) -> None:
    """Request the cancellation of the workflow run that calls. Repeating: changes nothing."""
    raise NotImplementedError


@_stub
async def run_schedule(order: RunScheduleOrder) -> ScheduleReceipt:
    """Submit the job of a schedule's run. Repeating: the run is stored with its job; once."""
    raise NotImplementedError


@_stub
async def has_scheduled_job_ended(order: ScheduledJobOrder) -> bool:
    """Look whether the job of a run has ended or was removed. Repeating: reads only."""
    raise NotImplementedError


def implements(
    stub: Callable[[OrderT], Awaitable[ResultT]],
) -> Callable[
    [Callable[[SelfT, OrderT], Awaitable[ResultT]]], Callable[[SelfT, OrderT], Awaitable[ResultT]]
]:
    """Mark a method as the implementation of a stub.

    Raises:
        TypeError: the method's types are not the stub's, which mypy refuses as well.
    """

    def mark(
        method: Callable[[SelfT, OrderT], Awaitable[ResultT]],
    ) -> Callable[[SelfT, OrderT], Awaitable[ResultT]]:
        if _shape(stub) != _shape(method):
            raise TypeError(f"{method.__qualname__} does not have the types of {stub.__name__}")
        setattr(method, _ACTIVITY_TYPE, stub.__name__)
        return activity.defn(name=stub.__name__)(method)

    return mark


def implemented_type(method: object) -> str | None:
    """The activity type that a method implements; None if `implements` did not mark it."""
    return getattr(method, _ACTIVITY_TYPE, None)


def _shape(function: Callable[..., Any]) -> list[Any]:
    hints = get_type_hints(function)
    return [kind for name, kind in hints.items() if name != "self"]
