"""Everything the engine does to the world: one typed stub per activity, its docstring the promise.

Workflows import this file and nothing else of `activities`, so they load without openai or SQL.
"""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, get_type_hints

from temporalio import activity

from models.orders import (
    AnswerOrder,
    BeginOrder,
    ControlOrder,
    EndOrder,
    FailTaskOrder,
    JobBrief,
    JobOutcome,
    NodeOrder,
    ReadTasksOrder,
    ReplanOrder,
    ReportOrder,
    RetryOrder,
    ReviseOrder,
    RoundOrder,
    TaskOrder,
    TaskPage,
    WorkOrder,
)
from models.state import (
    AnswerReceipt,
    NodeReceipt,
    PlanReceipt,
    ReportReceipt,
    RoundReceipt,
    TaskReceipt,
)

OrderT = TypeVar("OrderT")
ResultT = TypeVar("ResultT")
SelfT = TypeVar("SelfT")


@activity.defn
async def begin_job(order: BeginOrder) -> JobBrief:
    """Take the job over and read its structure and statuses.

    Repeating: the same run gets the same epoch. Another run gets the next one, and every write of
    the older run is refused from then on.
    """
    raise NotImplementedError


@activity.defn
async def read_tasks(order: ReadTasksOrder) -> TaskPage:
    """Read one page of the job's tasks. Repeating: reads only."""
    raise NotImplementedError


@activity.defn
async def make_plan(order: WorkOrder) -> PlanReceipt:
    """Have the planner plan, check the plan, store it as revision 1.

    Repeating: gives the stored receipt; model calls that came back are taken from the ledger.
    """
    raise NotImplementedError


@activity.defn
async def replan(order: ReplanOrder) -> PlanReceipt:
    """Have the replanner continue from a failed task, check and store the revision.

    Repeating: as `make_plan`.
    """
    raise NotImplementedError


@activity.defn
async def tool_task(order: TaskOrder) -> TaskReceipt:
    """Call the task's tool, read the promised entities, check the KPIs, store what was found.

    Repeating: gives the stored receipt; calls that came back are taken from the ledger. A tool
    that is not declared safe to repeat is not called again after an unclear outcome.
    """
    raise NotImplementedError


@activity.defn
async def reasoning_task(order: TaskOrder) -> TaskReceipt:
    """Have the reasoner conclude the task's entities from its inputs, check and store them.

    Repeating: as `tool_task`.
    """
    raise NotImplementedError


@activity.defn
async def fail_task(order: FailTaskOrder) -> TaskReceipt:
    """Record a failure that the task could not record itself. Repeating: gives the receipt."""
    raise NotImplementedError


@activity.defn
async def advance_node(order: NodeOrder) -> NodeReceipt:
    """Let an agent task plan its steps, take the next one, or conclude; store what comes of it.

    Repeating: gives the stored receipt of this round.
    """
    raise NotImplementedError


@activity.defn
async def revise_plan(order: ReviseOrder) -> PlanReceipt:
    """Have the reviser refine, add and remove unfinished tasks; a bad revision changes nothing.

    Repeating: as `make_plan`.
    """
    raise NotImplementedError


@activity.defn
async def verify_results(order: RoundOrder) -> RoundReceipt:
    """Verify every result that was not complete before, and check the stop conditions.

    Repeating: as `make_plan`.
    """
    raise NotImplementedError


@activity.defn
async def fill_gaps(order: RoundOrder) -> PlanReceipt:
    """Have every incomplete result worked again, and plan new tasks for what is missing.

    Repeating: as `make_plan`.
    """
    raise NotImplementedError


@activity.defn
async def record_answer(order: AnswerOrder) -> AnswerReceipt:
    """Record an answer, and say what it means for the job. Repeating: recorded once."""
    raise NotImplementedError


@activity.defn
async def write_report(order: ReportOrder) -> ReportReceipt:
    """Have the report written and its sentences checked; deliver it if every gate is open.

    Repeating: gives the stored receipt.
    """
    raise NotImplementedError


@activity.defn
async def record_control(order: ControlOrder) -> None:
    """Record what somebody did to the job. Repeating: recorded once under its key."""
    raise NotImplementedError


@activity.defn
async def retry_tasks(order: RetryOrder) -> None:
    """Make tasks wait for another attempt and forget what they found. Repeating: done once."""
    raise NotImplementedError


@activity.defn
async def end_job(order: EndOrder) -> JobOutcome:
    """Record how the job ended. Repeating: gives the stored outcome."""
    raise NotImplementedError


def implements(
    stub: Callable[[OrderT], Awaitable[ResultT]],
) -> Callable[
    [Callable[[SelfT, OrderT], Awaitable[ResultT]]], Callable[[SelfT, OrderT], Awaitable[ResultT]]
]:
    """Mark a method as the implementation of a stub; a mismatch is refused by mypy and here."""

    def mark(
        method: Callable[[SelfT, OrderT], Awaitable[ResultT]],
    ) -> Callable[[SelfT, OrderT], Awaitable[ResultT]]:
        if _shape(stub) != _shape(method):
            raise TypeError(f"{method.__qualname__} has not the types of {stub.__name__}")
        return activity.defn(name=stub.__name__)(method)

    return mark


def _shape(function: Callable[..., Any]) -> list[Any]:
    hints = get_type_hints(function)
    return [kind for name, kind in hints.items() if name != "self"]
