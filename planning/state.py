"""How the state changes: each function gives the state after one thing started or came back."""

from collections.abc import Iterable, Mapping

from models.plan import TaskKind, TaskStatus
from models.state import (
    Action,
    Counts,
    EndJob,
    Halt,
    JobState,
    MakePlan,
    PlanReceipt,
    Replan,
    ReportReceipt,
    StartTask,
    TaskReceipt,
    TaskState,
    WriteReport,
)
from models.strategy import Strategy


def rebuilt(
    strategy: Strategy,
    counts: Counts,
    tasks: Iterable[TaskState],
    *,
    is_paused: bool = False,
    closing: EndJob | None = None,
) -> JobState:
    """The state from what PostgreSQL has of a job, for a new run or for whoever looks."""
    fresh = JobState(
        strategy=strategy,
        has_plan=counts.has_plan,
        replans=counts.replans,
        tool_calls=counts.tool_calls,
        has_report=counts.has_report,
        is_paused=is_paused,
        closing=closing,
    )
    return with_tasks(fresh, tasks)


def started(state: JobState, action: Action) -> JobState:
    """The state once `action` is under way."""
    match action:
        case MakePlan():
            return state.model_copy(update={"is_planning": True})
        case Replan(task_id=task_id):
            root = state.tasks[task_id].root
            replans = {**state.replans, root: state.replans.get(root, 0) + 1}
            return state.model_copy(update={"replanning": task_id, "replans": replans})
        case StartTask(task_id=task_id):
            task = state.tasks[task_id]
            calls = state.tool_calls + (task.kind is TaskKind.TOOL)
            return _with_task(state, task, status=TaskStatus.RUNNING).model_copy(
                update={"tool_calls": calls}
            )
        case WriteReport():
            return state.model_copy(update={"is_reporting": True})
        case EndJob():
            return state


def taken_back(state: JobState, action: Action) -> JobState:
    """The state as if `action` had not been started: it could not be done, and may be done later.

    Raises:
        KeyError: the task is not there.
    """
    match action:
        case MakePlan():
            return state.model_copy(update={"is_planning": False})
        case Replan(task_id=task_id):
            root = state.tasks[task_id].root
            replans = {**state.replans, root: state.replans[root] - 1}
            return state.model_copy(update={"replanning": None, "replans": replans})
        case StartTask(task_id=task_id):
            task = state.tasks[task_id]
            calls = state.tool_calls - (task.kind is TaskKind.TOOL)
            return _with_task(state, task, status=TaskStatus.PENDING).model_copy(
                update={"tool_calls": calls}
            )
        case WriteReport():
            return state.model_copy(update={"is_reporting": False})
        case EndJob():
            return state


def paused(state: JobState, *, is_paused: bool = True) -> JobState:
    """The state of a job that starts nothing more, or goes on."""
    return state.model_copy(update={"is_paused": is_paused})


def with_tasks(state: JobState, tasks: Iterable[TaskState]) -> JobState:
    """The state with tasks added behind those it has."""
    return state.model_copy(update={"tasks": {**state.tasks, **{t.id: t for t in tasks}}})


def planned(state: JobState, receipt: PlanReceipt) -> JobState:
    """The state after the planner or the replanner came back."""
    known = _superseded(state.tasks, receipt.superseded)
    return with_tasks(state.model_copy(update={"tasks": known}), receipt.added).model_copy(
        update={
            "has_plan": state.has_plan or receipt.halt is None,
            "is_planning": False,
            "replanning": None,
            "halt": state.halt or receipt.halt,
        }
    )


def finished(state: JobState, receipt: TaskReceipt) -> JobState:
    """The state after a task came back; what is already final stays as it is."""
    task = state.tasks[receipt.task_id]
    if task.status is not TaskStatus.RUNNING or task.attempt != receipt.attempt:
        return state
    changed = _with_task(state, task, status=receipt.status, note=receipt.preview)
    return changed.model_copy(update={"halt": state.halt or receipt.halt})


def reported(state: JobState, receipt: ReportReceipt) -> JobState:
    """The state after the synthesiser came back."""
    update = {
        "is_reporting": False,
        "has_report": receipt.halt is None,
        "halt": state.halt or receipt.halt,
    }
    return state.model_copy(update=update)


def halted(state: JobState, halt: Halt) -> JobState:
    """The state once something failed for good outside of a task."""
    return state.model_copy(
        update={
            "halt": state.halt or halt,
            "is_planning": False,
            "replanning": None,
            "is_reporting": False,
        }
    )


def _with_task(state: JobState, task: TaskState, **changes: object) -> JobState:
    changed = {**state.tasks, task.id: task.model_copy(update=changes)}
    return state.model_copy(update={"tasks": changed})


def _superseded(tasks: Mapping[str, TaskState], gone: Iterable[str]) -> dict[str, TaskState]:
    names = frozenset(gone)
    update = {"status": TaskStatus.SUPERSEDED}
    return {
        key: task.model_copy(update=update) if key in names else task for key, task in tasks.items()
    }
