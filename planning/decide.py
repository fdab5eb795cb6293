"""What comes next: a pure function of the state, so that every run and every replay agrees."""

from collections.abc import Iterator, Sequence

from models.jobs import JobStatus, StopReason
from models.plan import TaskKind, TaskStatus
from models.state import (
    Action,
    EndJob,
    JobState,
    MakePlan,
    Replan,
    StartTask,
    TaskState,
    WriteReport,
)
from models.strategy import OnExhausted, ReplanScope

_PLANNED = EndJob(
    status=JobStatus.DONE,
    reason=StopReason.PLANNED,
    message="only planned, as was wished; `holdfast resume` has the plan worked",
)


def decide(state: JobState) -> tuple[Action, ...]:
    """The actions to start now, in order; empty means: wait for what is under way.

    Independent tasks go on while a failed one is replanned, and a freed slot is refilled at once.
    A limit that is reached starts nothing new, lets what runs finish, and then ends the job; what
    was found until then is reported all the same. A paused job starts nothing at all.
    """
    if state.is_paused and state.halt is None and not state.has_report:
        return ()
    last = _last(state)
    if last is not None:
        return () if state.is_busy else (last,)
    if not state.has_plan:
        return () if state.is_planning else (MakePlan(),)
    actions: list[Action] = list(_replan(state))
    if not _is_all_replaced(state, actions):
        actions += _starts(state)
    if actions or state.is_busy:
        return tuple(actions)
    return (_reported_first(state, _stuck(state)),)


def _last(state: JobState) -> Action | None:
    """What is left to do once nothing new is to start; none while there is work."""
    if state.has_report or state.halt is not None:
        return _ending(state)
    if state.closing is not None:
        return _reported_first(state, state.closing)
    if state.has_plan and state.strategy.plan_only:
        return _PLANNED
    if has_answer(state):
        return WriteReport()
    stop = _limit(state)
    return None if stop is None else _reported_first(state, stop)


def ends_at_once(state: JobState) -> EndJob | None:
    """How the job would end without working on anything of its plan, if it would."""
    if not state.has_plan or has_answer(state):
        return None
    stop = _limit(state)
    if stop is not None or state.is_busy:
        return stop
    has_work = any(_replan(state)) or any(_starts(state))
    return None if has_work else _stuck(state)


def ready(state: JobState) -> Sequence[TaskState]:
    """Pending tasks whose dependencies are done: the higher priority first, then plan order."""
    order = {task_id: n for n, task_id in enumerate(state.tasks)}
    able = [task for task in state.tasks.values() if _is_ready(task, state)]
    return sorted(able, key=lambda task: (-task.priority, order[task.id]))


def _is_ready(task: TaskState, state: JobState) -> bool:
    if task.status is not TaskStatus.PENDING:
        return False
    return all(_is_done(need, state) for need in task.depends_on)


def _is_done(task_id: str, state: JobState) -> bool:
    task = state.tasks.get(task_id)
    return task is not None and task.status is TaskStatus.DONE


def _starts(state: JobState) -> Iterator[StartTask]:
    slots = state.strategy.slots - state.count(TaskStatus.RUNNING)
    calls_left = state.strategy.max_tool_calls - state.tool_calls
    for task in ready(state):
        if slots <= 0:
            return
        if task.kind is TaskKind.TOOL:
            if calls_left <= 0:
                continue
            calls_left -= 1
        slots -= 1
        yield StartTask(task_id=task.id)


def _failed(state: JobState) -> list[TaskState]:
    return [task for task in state.tasks.values() if task.status is TaskStatus.FAILED]


def _may_replan(task: TaskState, state: JobState) -> bool:
    return state.replans.get(task.root, 0) < state.strategy.max_replans_per_task


def _replan(state: JobState) -> Iterator[Replan]:
    if state.replanning is not None:
        return
    task = next((task for task in _failed(state) if _may_replan(task, state)), None)
    if task is not None and state.total_replans < state.strategy.max_replans:
        yield Replan(task_id=task.id)


def _is_all_replaced(state: JobState, actions: list[Action]) -> bool:
    """Whether a replanning is under way that replaces all that has not started."""
    is_replanning = bool(actions) or state.replanning is not None
    return is_replanning and state.strategy.replan_scope is ReplanScope.REMAINING


def _limit(state: JobState) -> EndJob | None:
    """The limit that ends the job, if one does."""
    failed = _failed(state)
    lets_go = state.strategy.on_exhausted is OnExhausted.CONTINUE
    if not failed or lets_go:
        return None
    if state.total_replans >= state.strategy.max_replans:
        return _retry_limit(state, failed[0])
    spent = [task for task in failed if not _may_replan(task, state)]
    return _exhausted(state, spent[0]) if spent else None


def _retry_limit(state: JobState, task: TaskState) -> EndJob:
    limit = state.strategy.max_replans
    message = f"{limit} replans of the job are used up; last {task.id} failed: {task.note}"
    return _failure(StopReason.RETRY_LIMIT, message)


def _exhausted(state: JobState, task: TaskState) -> EndJob:
    line = [each for each in state.tasks.values() if each.root == task.root]
    tried = "; ".join(f"{each.id}: {each.note}" for each in line if each.note)
    count = state.replans.get(task.root, 0)
    message = f"task {task.root!r} failed and {count} replans did not help. {tried}"
    return _failure(StopReason.REPLANS_EXHAUSTED, message[:4000])


def _stuck(state: JobState) -> EndJob:
    """Why nothing runs and nothing can start."""
    waiting = [task for task in ready(state) if task.kind is TaskKind.TOOL]
    if waiting:
        limit = state.strategy.max_tool_calls
        message = f"{limit} tool calls are used up; {waiting[0].id!r} could not start"
        return _failure(StopReason.TOOL_CALL_LIMIT, message)
    failed = _failed(state)
    if failed:
        gaps = ", ".join(task.id for task in failed)
        reason, message = StopReason.ANSWERED_WITH_GAPS, f"went on without {gaps}"
        if _has_findings(state):
            return EndJob(status=JobStatus.DONE, reason=reason, message=message)
    return _failure(StopReason.NOTHING_CAN_RUN, "no task can run and there is no final answer")


def _reported_first(state: JobState, ending: EndJob) -> Action:
    """A report of what was found, before the job ends; nothing where nothing was found."""
    return WriteReport() if _has_findings(state) else ending


def has_answer(state: JobState) -> bool:
    """Whether the final answer was found."""
    return any(task.is_final and task.status is TaskStatus.DONE for task in state.tasks.values())


def _has_findings(state: JobState) -> bool:
    return state.count(TaskStatus.DONE) > 0


def _ending(state: JobState) -> EndJob:
    """How the job ends: by its answer, by what stopped it, or by what halted it."""
    if state.closing is not None:
        return state.closing
    stop = None if has_answer(state) else _limit(state)
    if state.halt is None:
        answered = EndJob(status=JobStatus.DONE, reason=StopReason.ANSWERED)
        return answered if has_answer(state) else stop or _stuck(state)
    if stop is not None and state.halt.reason is StopReason.REPORT_REFUSED:
        return stop  # the job had stopped before its findings were to be reported
    return _failure(state.halt.reason, state.halt.message)


def _failure(reason: StopReason, message: str) -> EndJob:
    return EndJob(status=JobStatus.FAILED, reason=reason, message=message)
