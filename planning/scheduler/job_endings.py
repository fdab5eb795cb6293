"""Decide how a job ends: with an answer, at a limit, or because no task can run."""

from holdfast.models.jobs.job_record import JobStatus, StopReason
from holdfast.models.jobs.job_state import Action, EndJob, JobState, TaskState, WriteReport
from holdfast.models.plans.research_plan import TaskKind, TaskStatus
from holdfast.models.strategies.job_strategy import OnExhausted
from holdfast.models.text.message_limits import MessageLimit, cut_message
from holdfast.models.verification.verification_verdicts import StopCondition
from holdfast.planning.loop.loop_tasks import is_step_of_loop
from holdfast.planning.results.kpi_failure import failure_in_words
from holdfast.planning.scheduler.agent_scheduling import failed_steps, may_replan_steps, steps_taken
from holdfast.planning.scheduler.ready_tasks import ready_tasks
from holdfast.planning.scheduler.revision_timing import is_left_to_revision

PLANNED_ONLY = EndJob(
    status=JobStatus.DONE,
    reason=StopReason.PLANNED,
    message="only planned, as requested; the plan has not been run",
)
_GOOD_ENOUGH = (StopCondition.READY, StopCondition.CONFIDENT)


def has_answer(state: JobState) -> bool:
    """True if the job has its final answer, or verification stopped as complete enough."""
    if is_answered_by_loop(state):
        return True
    if state.strategy.verify:
        return state.rounds.stop is not None
    return any(task.is_final and task.status is TaskStatus.DONE for task in state.plan_tasks)


def is_answered_by_loop(state: JobState) -> bool:
    """True if the cited loop that the job began with answered the whole question."""
    opening = state.opening
    return opening is not None and opening.status is TaskStatus.DONE and opening.is_answered


def has_findings(state: JobState) -> bool:
    """True if the job has any result to report; what a loop searched for is none by itself."""
    return any(
        task.status is TaskStatus.DONE
        and not task.is_empty
        and not is_step_of_loop(task, state.strategy)
        for task in state.tasks.values()
    )


def failed_tasks(state: JobState) -> list[TaskState]:
    """Return the failed tasks of the plan and the failed steps of running agents.

    An opening loop that failed is not replanned: the planner takes over.
    """
    return [
        task
        for task in state.tasks.values()
        if task.status is TaskStatus.FAILED and _is_failure_counted(task, state)
    ]


def _is_failure_counted(task: TaskState, state: JobState) -> bool:
    """True unless the task is a step of an agent that has ended; then the agent's status counts."""
    if not task.parent:
        return not task.is_opening
    parent = state.tasks.get(task.parent)
    if parent is None or parent.status is not TaskStatus.RUNNING:
        return False
    return may_replan_steps(state, parent)


def may_replan(task: TaskState, state: JobState) -> bool:
    """True if the strategy replans, and the task is not given up and has replans left."""
    if task.is_given_up or (not task.parent and state.strategy.has_fixed_plan):
        return False
    if not task.parent and state.strategy.verify and task.attempt > 1:
        return False  # a retry for the verifier: the results of the first attempt still count
    return state.replans.get(task.root, 0) < state.strategy.max_replans_per_task


def reached_limit(state: JobState) -> EndJob | None:
    """Return the limit that ends the job, or None."""
    strategy = state.strategy
    if steps_taken(state) >= strategy.max_steps and _has_running_agent(state):
        message = f"{strategy.max_steps} steps of the job are used up (max_steps)"
        return failed_ending(StopReason.STEP_LIMIT, message)
    if failed_steps(state) > strategy.max_replans:
        return _step_failure_ending(state)
    lost = [task for task in failed_tasks(state) if not task.parent]
    if strategy.revises_failures:
        # A revision is due or under way, or it left the task out and the plan needs it no more.
        is_open = not (state.is_revising or is_left_to_revision(state))
        lost = [task for task in lost if is_open and not _is_dispensable(task, state)]
    if not lost or strategy.on_exhausted is OnExhausted.CONTINUE:
        return None
    if state.total_replans >= strategy.max_replans and not strategy.has_fixed_plan:
        return _replan_limit_ending(state, lost[0])
    spent = [task for task in lost if not may_replan(task, state)]
    return _replans_exhausted_ending(state, spent[0]) if spent else None


def _is_dispensable(task: TaskState, state: JobState) -> bool:
    """True if the task was given up, and neither the answer nor a task that waits needs it."""
    waiting = (each for each in state.plan_tasks if each.status is TaskStatus.PENDING)
    is_needed = task.is_final or any(task.id in each.depends_on for each in waiting)
    return task.is_given_up and not is_needed


def _has_running_agent(state: JobState) -> bool:
    return any(
        task.kind is TaskKind.AGENT and task.status is TaskStatus.RUNNING
        for task in state.plan_tasks
    )


def _step_failure_ending(state: JobState) -> EndJob:
    last = [t for t in state.tasks.values() if t.parent and t.status is TaskStatus.FAILED][-1]
    count = state.strategy.max_replans
    message = f"{count} failed steps are allowed (max_replans); then {last.id} failed: {last.note}"
    return failed_ending(StopReason.RETRY_LIMIT, message)


def _replan_limit_ending(state: JobState, task: TaskState) -> EndJob:
    count = state.strategy.max_replans
    message = f"{count} replans of the job are used up; last {task.id} failed: {task.note}"
    return failed_ending(StopReason.RETRY_LIMIT, message)


def _replans_exhausted_ending(state: JobState, task: TaskState) -> EndJob:
    line = [each for each in state.tasks.values() if each.root == task.root]
    tried = "; ".join(f"{each.id}: {each.note}" for each in line if each.note)
    count = state.replans.get(task.root, 0)
    message = f"task {task.root!r} failed and {count} replans did not help. {tried}"
    return failed_ending(StopReason.REPLANS_EXHAUSTED, cut_message(message, MessageLimit.FAILURE))


def call_limit_ending(state: JobState) -> EndJob | None:
    """Return the ending of a job that needs another tool call and has none left, or None."""
    waiting = [task for task in ready_tasks(state) if task.kind is TaskKind.TOOL]
    if not waiting:
        return None
    calls = state.strategy.max_tool_calls
    message = f"{calls} tool calls are used up; {waiting[0].id!r} could not start"
    return failed_ending(StopReason.TOOL_CALL_LIMIT, message)


def stuck_ending(state: JobState) -> EndJob:
    """Return the ending of a job in which nothing runs and nothing can start."""
    stop = call_limit_ending(state)
    if stop is not None:
        return stop
    lost = failed_tasks(state)
    if lost:
        gaps = ", ".join(task.id for task in lost)
        reason, message = StopReason.ANSWERED_WITH_GAPS, f"went on without {gaps}"
        if has_findings(state):
            return EndJob(status=JobStatus.DONE, reason=reason, message=message)
    return failed_ending(StopReason.NOTHING_CAN_RUN, "no task can run and there is no final answer")


def _nothing_found(state: JobState) -> EndJob:
    """Return the ending of a job whose verification accepted no result."""
    lost = (task for task in failed_tasks(state) if task.note)
    told = "; ".join(f"{task.id}: {failure_in_words(task.note)}" for task in lost)
    message = f"nothing that was read answers the question; {_stop_message(state)}. {told}"
    return failed_ending(StopReason.NOTHING_FOUND, cut_message(message, MessageLimit.FAILURE))


def _stop_message(state: JobState) -> str:
    stop = state.rounds.stop
    why = "" if stop is None else f": {stop.in_words}"
    return f"verification stopped after round {state.rounds.verified}{why}"


def report_before_ending(state: JobState, ending: EndJob) -> Action:
    """Return the action that reports the results before the job ends, if there are any."""
    return WriteReport() if has_findings(state) else ending


def job_ending(state: JobState) -> EndJob:
    """Return how the job ends: with its answer, at a limit, or with an error."""
    if state.closing is not None:
        return state.closing
    stop = None if has_answer(state) else reached_limit(state)
    is_refused = state.halt is not None and state.halt.reason is StopReason.REPORT_REFUSED
    if has_answer(state) and not has_findings(state) and (state.halt is None or is_refused):
        return _nothing_found(state)
    if state.halt is None:
        return _answered_ending(state) if has_answer(state) else stop or stuck_ending(state)
    if stop is not None and is_refused:
        return stop  # the job had stopped before its results were reported
    return failed_ending(state.halt.reason, state.halt.message)


def _answered_ending(state: JobState) -> EndJob:
    stop = None if is_answered_by_loop(state) else state.rounds.stop
    if stop is None:
        if not state.lacks_answer:
            return EndJob(status=JobStatus.DONE, reason=StopReason.ANSWERED)
        message = "the documents do not state the answer; the report says what was found"
        return EndJob(status=JobStatus.DONE, reason=StopReason.ANSWERED_WITH_GAPS, message=message)
    unfinished = [
        task for task in state.plan_tasks if task.status.needs_attempt and not task.is_opening
    ]
    message = _stop_message(state)
    if state.lacks_answer:
        message += "; the report comes to no short answer"
    elif stop in _GOOD_ENOUGH and not unfinished:
        return EndJob(status=JobStatus.DONE, reason=StopReason.ANSWERED, message=message)
    reason = StopReason.ANSWERED_WITH_GAPS
    return EndJob(status=JobStatus.DONE, reason=reason, message=message)


def failed_ending(reason: StopReason, message: str) -> EndJob:
    """Return the ending of a job that failed."""
    return EndJob(status=JobStatus.FAILED, reason=reason, message=message)
