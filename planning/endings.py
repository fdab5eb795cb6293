"""How a job ends: by its answer, by a limit, because nothing can run, or as it was told to."""

from models.jobs import JobStatus, StopReason
from models.plan import TaskKind, TaskStatus
from models.state import Action, EndJob, JobState, TaskState, WriteReport
from models.strategy import OnExhausted
from models.verification import StopCondition
from planning.nodes import failed_steps, may_replan_steps, steps_taken
from planning.readiness import ready

PLANNED = EndJob(
    status=JobStatus.DONE,
    reason=StopReason.PLANNED,
    message="only planned, as was wished; `holdfast resume` has the plan worked",
)
_UNFINISHED = (TaskStatus.FAILED, TaskStatus.PENDING)
_GOOD_ENOUGH = (StopCondition.READY, StopCondition.CONFIDENT)


def has_answer(state: JobState) -> bool:
    """Whether the final answer was found, or as much of it as verification wants."""
    if state.strategy.verify:
        return state.rounds.stop is not None
    return any(task.is_final and task.status is TaskStatus.DONE for task in state.plan_tasks)


def has_findings(state: JobState) -> bool:
    """Whether there is anything to report."""
    return state.count(TaskStatus.DONE) > 0


def failed(state: JobState) -> list[TaskState]:
    """Tasks of the plan itself, and steps of agents at work, that failed."""
    return [
        task
        for task in state.tasks.values()
        if task.status is TaskStatus.FAILED and _counts(task, state)
    ]


def _counts(task: TaskState, state: JobState) -> bool:
    """A step's failure is its agent's to handle; once that has ended, it is told by its end."""
    if not task.parent:
        return True
    parent = state.tasks.get(task.parent)
    return parent is not None and parent.status is TaskStatus.RUNNING and may_replan_steps(state)


def may_replan(task: TaskState, state: JobState) -> bool:
    """Whether the task's lineage has replans left, and somebody plans at all."""
    if not task.parent and state.strategy.has_fixed_plan:
        return False
    if not task.parent and state.strategy.verify and task.attempt > 1:
        return False  # the verifier had it worked again; what the first attempt found still counts
    return state.replans.get(task.root, 0) < state.strategy.max_replans_per_task


def limit(state: JobState) -> EndJob | None:
    """The limit that ends the job, if one does."""
    strategy = state.strategy
    if steps_taken(state) >= strategy.max_steps and _has_open_node(state):
        message = f"{strategy.max_steps} steps of the job are used up (max_steps)"
        return failure(StopReason.STEP_LIMIT, message)
    if failed_steps(state) > strategy.max_replans:
        return _too_many_failures(state)
    lost = [task for task in failed(state) if not task.parent]
    if not lost or strategy.on_exhausted is OnExhausted.CONTINUE:
        return None
    if state.total_replans >= strategy.max_replans and not strategy.has_fixed_plan:
        return _retry_limit(state, lost[0])
    spent = [task for task in lost if not may_replan(task, state)]
    return _exhausted(state, spent[0]) if spent else None


def _has_open_node(state: JobState) -> bool:
    return any(
        task.kind is TaskKind.AGENT and task.status is TaskStatus.RUNNING
        for task in state.plan_tasks
    )


def _too_many_failures(state: JobState) -> EndJob:
    last = [t for t in state.tasks.values() if t.parent and t.status is TaskStatus.FAILED][-1]
    count = state.strategy.max_replans
    message = f"{count} failed steps are allowed (max_replans); then {last.id} failed: {last.note}"
    return failure(StopReason.RETRY_LIMIT, message)


def _retry_limit(state: JobState, task: TaskState) -> EndJob:
    count = state.strategy.max_replans
    message = f"{count} replans of the job are used up; last {task.id} failed: {task.note}"
    return failure(StopReason.RETRY_LIMIT, message)


def _exhausted(state: JobState, task: TaskState) -> EndJob:
    line = [each for each in state.tasks.values() if each.root == task.root]
    tried = "; ".join(f"{each.id}: {each.note}" for each in line if each.note)
    count = state.replans.get(task.root, 0)
    message = f"task {task.root!r} failed and {count} replans did not help. {tried}"
    return failure(StopReason.REPLANS_EXHAUSTED, message[:4000])


def out_of_calls(state: JobState) -> EndJob | None:
    """The end of a job in which only calls could start, and none is left."""
    waiting = [task for task in ready(state) if task.kind is TaskKind.TOOL]
    if not waiting:
        return None
    calls = state.strategy.max_tool_calls
    message = f"{calls} tool calls are used up; {waiting[0].id!r} could not start"
    return failure(StopReason.TOOL_CALL_LIMIT, message)


def stuck(state: JobState) -> EndJob:
    """Why nothing runs and nothing can start."""
    stop = out_of_calls(state)
    if stop is not None:
        return stop
    lost = failed(state)
    if lost:
        gaps = ", ".join(task.id for task in lost)
        reason, message = StopReason.ANSWERED_WITH_GAPS, f"went on without {gaps}"
        if has_findings(state):
            return EndJob(status=JobStatus.DONE, reason=reason, message=message)
    return failure(StopReason.NOTHING_CAN_RUN, "no task can run and there is no final answer")


def nothing_found(state: JobState) -> EndJob:
    """The end of a job whose verification had nothing to accept."""
    told = "; ".join(f"{task.id}: {task.note}" for task in failed(state) if task.note)
    message = f"{_stopped(state)}, and nothing was found. {told}"
    return failure(StopReason.NOTHING_FOUND, message[:4000])


def _stopped(state: JobState) -> str:
    stop = state.rounds.stop
    why = "" if stop is None else f": {stop.value}"
    return f"verification stopped after round {state.rounds.verified}{why}"


def reported_first(state: JobState, ending: EndJob) -> Action:
    """A report of what was found, before the job ends; nothing where nothing was found."""
    return WriteReport() if has_findings(state) else ending


def ending(state: JobState) -> EndJob:
    """How the job ends: by its answer, by what stopped it, or by what halted it."""
    if state.closing is not None:
        return state.closing
    stop = None if has_answer(state) else limit(state)
    if state.halt is None:
        return _answered(state) if has_answer(state) else stop or stuck(state)
    if stop is not None and state.halt.reason is StopReason.REPORT_REFUSED:
        return stop  # the job had stopped before its findings were to be reported
    return failure(state.halt.reason, state.halt.message)


def _answered(state: JobState) -> EndJob:
    stop = state.rounds.stop
    if stop is None:
        return EndJob(status=JobStatus.DONE, reason=StopReason.ANSWERED)
    unfinished = [task for task in state.plan_tasks if task.status in _UNFINISHED]
    message = _stopped(state)
    if state.lacks_answer:
        message += "; the report comes to no short answer"
    elif stop in _GOOD_ENOUGH and not unfinished:
        return EndJob(status=JobStatus.DONE, reason=StopReason.ANSWERED, message=message)
    reason = StopReason.ANSWERED_WITH_GAPS
    return EndJob(status=JobStatus.DONE, reason=reason, message=message)


def failure(reason: StopReason, message: str) -> EndJob:
    """A job that did not get where it wanted to."""
    return EndJob(status=JobStatus.FAILED, reason=reason, message=message)
