"""How the state changes: each function gives the state after one thing started or came back."""

from collections.abc import Iterable, Mapping

from models.plan import TaskKind, TaskStatus
from models.questions import OpenQuestion, QuestionKind
from models.state import (
    Action,
    AdvanceNode,
    AnswerReceipt,
    Counts,
    EndJob,
    FillGaps,
    Halt,
    JobState,
    MakePlan,
    NodeReceipt,
    PlanReceipt,
    Replan,
    ReportReceipt,
    Revise,
    RoundReceipt,
    StartTask,
    TaskReceipt,
    TaskState,
    Verify,
    WriteReport,
)
from models.strategy import Strategy
from models.verification import StopCondition


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
        lacks_answer=counts.lacks_answer,
        revisions=counts.revisions,
        considered=counts.considered,
        rounds=counts.rounds,
        questions=counts.questions,
        is_paused=is_paused,
        closing=closing,
    )
    return with_tasks(fresh, tasks)


_FLAGS: Mapping[type[Action], str] = {
    MakePlan: "is_planning",
    Verify: "is_verifying",
    FillGaps: "is_verifying",
    WriteReport: "is_reporting",
}
"""What says that something is under way of which there is one at a time."""


def started(state: JobState, action: Action) -> JobState:
    """The state once `action` is under way."""
    match action:
        case Replan(task_id=task_id):
            task = state.tasks[task_id]
            return _replanned(state, task, +1, {**state.replanning, task.parent: task_id})
        case StartTask(task_id=task_id):
            return _called(state, state.tasks[task_id], TaskStatus.RUNNING, +1)
        case AdvanceNode(task_id=task_id):
            return state.model_copy(update={"advancing": (*state.advancing, task_id)})
        case Revise():
            return state.model_copy(update={"is_revising": True, "revisions": state.revisions + 1})
        case _:
            return _flagged(state, action, is_on=True)


def taken_back(state: JobState, action: Action) -> JobState:
    """The state as if `action` had not been started: it could not be done, and may be done later.

    Raises:
        KeyError: the task is not there.
    """
    match action:
        case Replan(task_id=task_id):
            task = state.tasks[task_id]
            return _replanned(state, task, -1, _without(state.replanning, task.parent))
        case StartTask(task_id=task_id):
            return _called(state, state.tasks[task_id], TaskStatus.PENDING, -1)
        case AdvanceNode(task_id=task_id):
            return _no_longer_advancing(state, task_id)
        case Revise():
            return state.model_copy(update={"is_revising": False, "revisions": state.revisions - 1})
        case _:
            return _flagged(state, action, is_on=False)


def _flagged(state: JobState, action: Action, *, is_on: bool) -> JobState:
    flag = _FLAGS.get(type(action))
    return state if flag is None else state.model_copy(update={flag: is_on})


def paused(state: JobState, *, is_paused: bool = True) -> JobState:
    """The state of a job that starts nothing more, or goes on.

    Whoever lets it go on has thereby answered what is to become of its budget.
    """
    update: dict[str, object] = {"is_paused": is_paused}
    if not is_paused:
        left = (each for each in state.questions if each.kind is not QuestionKind.BUDGET)
        update["questions"] = tuple(left)
    return state.model_copy(update=update)


def with_tasks(state: JobState, tasks: Iterable[TaskState]) -> JobState:
    """The state with tasks added behind those it has, or in the place of those they are."""
    return state.model_copy(update={"tasks": {**state.tasks, **{t.id: t for t in tasks}}})


def planned(state: JobState, action: Action, receipt: PlanReceipt) -> JobState:
    """The state after what `action` asked for changed the plan."""
    known = with_tasks(state, receipt.changed)
    changed = _folded(known, receipt.added, receipt.superseded, receipt.asks)
    update: dict[str, object] = {"halt": state.halt or receipt.halt}
    match action:
        case Replan(task_id=task_id):
            parent = state.tasks[task_id].parent
            update["replanning"] = _without(state.replanning, parent)
        case Revise(considered=considered):
            update |= {"is_revising": False, "considered": considered}
        case FillGaps(iteration=iteration):
            is_empty = receipt.halt is None and not (receipt.added or receipt.changed)
            stop = StopCondition.NOTHING_LEFT if is_empty else state.rounds.stop
            rounds = state.rounds.model_copy(update={"filled": iteration, "stop": stop})
            update |= {"is_verifying": False, "rounds": rounds}
        case _:
            update |= {
                "is_planning": False,
                "has_plan": state.has_plan or receipt.halt is None,
            }
    return changed.model_copy(update=update)


def finished(state: JobState, receipt: TaskReceipt) -> JobState:
    """The state after a task came back; what is already final stays as it is."""
    task = state.tasks[receipt.task_id]
    if task.status is not TaskStatus.RUNNING or task.attempt != receipt.attempt:
        return state
    changed = _with_task(
        state,
        task,
        status=receipt.status,
        note=receipt.preview,
        contradicts_plan=receipt.contradicts_plan,
        seconds=task.seconds + receipt.seconds,
    )
    node = changed.tasks.get(task.parent)
    if node is not None:
        changed = _with_task(changed, node, seconds=node.seconds + receipt.seconds)
    return changed.model_copy(update={"halt": state.halt or receipt.halt})


def advanced(state: JobState, receipt: NodeReceipt) -> JobState:
    """The state after an agent took its next steps, or concluded."""
    task_id = receipt.result.task_id
    known = _no_longer_advancing(state, task_id)
    if known.tasks[task_id].attempt != receipt.result.attempt:
        return known
    folded = _folded(known, receipt.added, receipt.superseded, receipt.asks)
    if receipt.waits_for:
        node = folded.tasks[task_id]
        needs = tuple(dict.fromkeys((*node.depends_on, *receipt.waits_for)))
        folded = _with_task(folded, node, depends_on=needs)
    return finished(folded, receipt.result)


def verified(state: JobState, receipt: RoundReceipt) -> JobState:
    """The state after a round was verified."""
    update: dict[str, object] = {"is_verifying": False, "halt": state.halt or receipt.halt}
    if receipt.halt is None:
        done = {"verified": receipt.iteration, "stop": receipt.stop}
        update["rounds"] = state.rounds.model_copy(update=done)
        update["questions"] = (*state.questions, *receipt.asks)
    return state.model_copy(update=update)


def answered(state: JobState, question: int, receipt: AnswerReceipt) -> JobState:
    """The state after a question was answered."""
    left = tuple(each for each in state.questions if each.id != question)
    update: dict[str, object] = {"questions": left}
    asked = next((each for each in state.questions if each.id == question), None)
    if asked is not None and asked.kind is QuestionKind.BUDGET:
        update["is_paused"] = False
    if receipt.ends is not None:
        update["closing"] = receipt.ends
        if not receipt.reports:
            halt = Halt(reason=receipt.ends.reason, message=receipt.ends.message)
            update["halt"] = state.halt or halt
    return state.model_copy(update=update)


def reported(state: JobState, receipt: ReportReceipt) -> JobState:
    """The state after the synthesiser came back."""
    update = {
        "is_reporting": False,
        "has_report": receipt.halt is None,
        "lacks_answer": receipt.lacks_answer,
        "halt": state.halt or receipt.halt,
    }
    return state.model_copy(update=update)


def halted(state: JobState, action: Action, halt: Halt) -> JobState:
    """The state once something failed for good outside of a task."""
    return taken_back(state, action).model_copy(update={"halt": state.halt or halt})


def _with_task(state: JobState, task: TaskState, **changes: object) -> JobState:
    changed = {**state.tasks, task.id: task.model_copy(update=changes)}
    return state.model_copy(update={"tasks": changed})


def _called(state: JobState, task: TaskState, status: TaskStatus, calls: int) -> JobState:
    """With the task started (+1) or taken back (-1); only tool tasks count as calls."""
    counted = state.tool_calls + (calls if task.kind is TaskKind.TOOL else 0)
    return _with_task(state, task, status=status).model_copy(update={"tool_calls": counted})


def _replanned(
    state: JobState, task: TaskState, more: int, replanning: Mapping[str, str]
) -> JobState:
    replans = {**state.replans, task.root: state.replans.get(task.root, 0) + more}
    return state.model_copy(update={"replanning": replanning, "replans": replans})


def _without(replanning: Mapping[str, str], parent: str) -> dict[str, str]:
    return {scope: task_id for scope, task_id in replanning.items() if scope != parent}


def _no_longer_advancing(state: JobState, task_id: str) -> JobState:
    left = tuple(each for each in state.advancing if each != task_id)
    return state.model_copy(update={"advancing": left})


def _folded(
    state: JobState,
    tasks: Iterable[TaskState],
    superseded: Iterable[str],
    asks: tuple[OpenQuestion, ...],
) -> JobState:
    gone = frozenset(superseded)
    open_still = (each for each in state.questions if each.task_id not in gone)
    known = state.model_copy(
        update={
            "tasks": _superseded(state.tasks, gone),
            "questions": (*open_still, *asks),
        }
    )
    # One that is known already is further than it was when it was added: a question that is
    # routed again names the task that looks into it again.
    return with_tasks(known, (task for task in tasks if task.id not in known.tasks))


def _superseded(tasks: Mapping[str, TaskState], names: frozenset[str]) -> dict[str, TaskState]:
    update = {"status": TaskStatus.SUPERSEDED}
    return {
        key: task.model_copy(update=update) if key in names else task for key, task in tasks.items()
    }
