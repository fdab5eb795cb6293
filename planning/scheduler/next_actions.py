"""Decide which actions a job starts next, as a pure function of the job's state."""

from collections.abc import Iterable, Iterator, Sequence

from holdfast.models.jobs.job_state import (
    Action,
    BeginLoop,
    EndJob,
    FillGaps,
    JobState,
    MakePlan,
    Replan,
    Revise,
    StartTask,
    TaskState,
    Verify,
    WriteReport,
)
from holdfast.models.plans.research_plan import TaskKind, TaskStatus
from holdfast.models.questions.user_questions import QuestionKind
from holdfast.models.strategies.job_strategy import ReplanScope
from holdfast.planning.scheduler import job_endings
from holdfast.planning.scheduler.agent_scheduling import (
    conclude_blocked_agent,
    idle_agents,
    is_agent_waiting,
    is_running_agent,
)
from holdfast.planning.scheduler.ready_tasks import ready_tasks
from holdfast.planning.scheduler.revision_timing import (
    is_batch_at_work,
    is_left_to_revision,
    is_of_next_batch,
    results_to_consider,
)

JOB_QUESTION_KINDS = (QuestionKind.APPROVAL, QuestionKind.BUDGET)
"""Kinds of questions for which the whole job waits."""


def decide(state: JobState) -> tuple[Action, ...]:
    """Return the actions to start now, in order; none means: wait for running actions.

    Independent tasks go on while a failed one is replanned, and a freed slot is refilled at once,
    unless the plan is revised after each batch.
    When a limit is reached, nothing new starts, running actions finish, and the job ends after a
    report of its results. A paused job starts nothing, nor does a job that waits for the approval
    of its plan or for the answer to its budget question.
    """
    if state.is_paused and state.halt is None and not state.has_report:
        return ()
    last = _closing_action(state)
    if last is not None:
        return () if state.is_busy else (last,)
    planning = _planning_action(state)
    if planning is not None:
        return () if state.is_planning else (planning,)
    if any(question.kind in JOB_QUESTION_KINDS for question in state.questions):
        return ()
    replans = list(_replans(state))
    actions: list[Action] = [*replans, *_revision(state, replans)]
    if not _is_plan_being_replaced(state, actions):
        actions += _task_starts(state, actions)
    if actions or state.is_busy or state.questions:
        return tuple(actions)
    return (_action_when_idle(state),)


def _planning_action(state: JobState) -> BeginLoop | MakePlan | None:
    """Return what a job without a plan needs; None if it has a plan, or its opening loop works."""
    if state.has_plan:
        return None
    opening = state.opening
    if opening is None:
        return BeginLoop() if state.strategy.opens_with_loop else MakePlan()
    return MakePlan() if opening.status.has_run else None


def _closing_action(state: JobState) -> Action | None:
    """Return the last actions of a job that starts nothing new, or None while work remains."""
    if state.has_report or state.halt is not None:
        return job_endings.job_ending(state)
    if state.closing is not None:
        return job_endings.report_before_ending(state, state.closing)
    if state.has_plan and state.strategy.plan_only:
        return job_endings.PLANNED_ONLY
    if job_endings.has_answer(state):
        return None if state.questions else WriteReport()
    return None if job_endings.reached_limit(state) is None else WriteReport()


def immediate_ending(state: JobState) -> EndJob | None:
    """Return the ending of a job that would end with neither tasks nor verification to do, or None.

    A job that was cancelled or failed while its results were verified has no task left to run, and
    goes on with the verification.
    """
    ending = ending_without_tasks(state)
    is_limit = job_endings.reached_limit(state) or job_endings.call_limit_ending(state)
    return None if state.strategy.verify and not is_limit else ending


def ending_without_tasks(state: JobState) -> EndJob | None:
    """Return the ending of a job that would end without running any task, or None."""
    if not state.has_plan or job_endings.has_answer(state):
        return None
    stop = job_endings.reached_limit(state)
    if stop is not None or state.is_busy:
        return stop
    replans = list(_replans(state))
    has_work = bool(replans) or any(_task_starts(state, replans)) or any(_revision(state, replans))
    return None if has_work else job_endings.stuck_ending(state)


def _action_when_idle(state: JobState) -> Action:
    """Return the next action when no task runs or can start: verify, fill gaps, report or end."""
    stuck = conclude_blocked_agent(state)
    if stuck is not None:
        return stuck
    stop = job_endings.call_limit_ending(state) or (
        None if state.strategy.verify else job_endings.stuck_ending(state)
    )
    if stop is not None:
        return WriteReport()
    rounds = state.rounds
    if rounds.verified > rounds.filled:
        return FillGaps(round=rounds.verified)
    return Verify(round=rounds.verified + 1)


def _task_starts(state: JobState, planned: Sequence[Action]) -> Iterator[Action]:
    """Return the agent turns and tasks that the free slots allow; each running agent has a slot.

    `planned` are the replans that start as well: an agent does not advance while a step of it is
    replanned.
    """
    able = ready_tasks(state)
    slots = state.strategy.slots - state.running_call_count - len(state.advancing)
    advances = list(idle_agents(state, _busy_agents(state, able, planned)))[: max(0, slots)]
    yield from advances
    yield from _agent_starts(state, able, planned)
    yield from _call_starts(state, able, planned, slots - len(advances))


def _agent_starts(
    state: JobState, able: Iterable[TaskState], planned: Sequence[Action]
) -> Iterator[StartTask]:
    if _is_revising(state, planned):
        return
    at_work = sum(is_running_agent(t) and not is_agent_waiting(t, state) for t in state.plan_tasks)
    free = max(0, state.strategy.slots - at_work)
    agents = (task for task in able if task.kind is TaskKind.AGENT)
    agent_tasks = [task for task in agents if not is_of_next_batch(task, state)]
    yield from (StartTask(task_id=task.id) for task in agent_tasks[:free])


def _call_starts(
    state: JobState, able: Iterable[TaskState], planned: Sequence[Action], slots: int
) -> Iterator[StartTask]:
    calls_left = state.strategy.max_tool_calls - state.tool_calls
    holds_back = _is_revising(state, planned)
    for task in able:
        if slots <= 0:
            return
        if task.kind is TaskKind.AGENT or (holds_back and not task.parent):
            continue
        if task.kind is TaskKind.TOOL:
            if calls_left <= 0:
                continue
            calls_left -= 1
        slots -= 1
        yield StartTask(task_id=task.id)


def _is_revising(state: JobState, planned: Sequence[Action]) -> bool:
    """True if a revision may change the plan's tasks before they start."""
    return state.is_revising or any(isinstance(each, Revise) for each in planned)


def _busy_agents(
    state: JobState, able: Iterable[TaskState], planned: Sequence[Action]
) -> frozenset[str]:
    """Return the agents with a step that runs, can start, or is replanned."""
    running = {t.parent for t in state.tasks.values() if t.status is TaskStatus.RUNNING}
    startable = {task.parent for task in able}
    replanned = {state.tasks[e.task_id].parent for e in planned if isinstance(e, Replan)}
    return frozenset(running | startable | replanned)


def _replans(state: JobState) -> Iterator[Replan]:
    """Return a replan of the first failed task of each scope, while the job has replans left.

    A scope changes once at a time: the plan itself is not replanned during a revision, nor before
    one that may repair the failure.
    """
    left = state.strategy.max_replans - state.total_replans
    is_taken = state.is_revising or is_left_to_revision(state)
    taken = set(state.replanning) | ({""} if is_taken else set())
    for task in job_endings.failed_tasks(state):
        if left <= 0:
            return
        if task.parent in taken or not job_endings.may_replan(task, state):
            continue
        taken.add(task.parent)
        left -= 1
        yield Replan(task_id=task.id)


def _revision(state: JobState, replans: Iterable[Replan]) -> Iterator[Revise]:
    """Return a revision of the unfinished tasks if new results may change them.

    No revision starts while the plan itself is replanned, or is about to be.
    """
    replanned = set(state.replanning) | {state.tasks[each.task_id].parent for each in replans}
    if state.is_revising or "" in replanned or is_batch_at_work(state):
        return
    settled = results_to_consider(state)
    if settled is not None:
        yield Revise(results_considered=settled)


def _is_plan_being_replaced(state: JobState, actions: list[Action]) -> bool:
    """True if a running replan replaces every task that has not started."""
    is_replanning = bool(actions) or bool(state.replanning)
    return is_replanning and state.strategy.replan_scope is ReplanScope.REMAINING
