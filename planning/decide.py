"""What comes next: a pure function of the state, so that every run and every replay agrees."""

from collections.abc import Iterable, Iterator, Sequence

from models.plan import TaskKind, TaskStatus
from models.questions import QuestionKind
from models.state import (
    Action,
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
from models.strategy import Monitoring, ReplanScope
from planning import endings
from planning.nodes import idle_nodes, in_vain, is_open, is_waiting
from planning.readiness import ready

_SETTLED = (TaskStatus.DONE, TaskStatus.FAILED)
OF_THE_JOB = (QuestionKind.APPROVAL, QuestionKind.BUDGET)
"""Questions that hold the whole job."""


def decide(state: JobState) -> tuple[Action, ...]:
    """The actions to start now, in order; empty means: wait for what is under way.

    Independent tasks go on while a failed one is replanned, and a freed slot is refilled at once.
    A limit that is reached starts nothing new, lets what runs finish, and then ends the job; what
    was found until then is reported all the same. A paused job starts nothing at all, and neither
    does one that waits for somebody to approve its plan or to say what is to become of its budget.
    """
    if state.is_paused and state.halt is None and not state.has_report:
        return ()
    last = _last(state)
    if last is not None:
        return () if state.is_busy else (last,)
    if not state.has_plan:
        return () if state.is_planning else (MakePlan(),)
    if any(question.kind in OF_THE_JOB for question in state.questions):
        return ()
    replans = list(_replans(state))
    actions: list[Action] = [*replans, *_revision(state, replans)]
    if not _is_all_replaced(state, actions):
        actions += _starts(state, actions)
    if actions or state.is_busy or state.questions:
        return tuple(actions)
    return (_settled(state),)


def _last(state: JobState) -> Action | None:
    """What is left to do once nothing new is to start; none while there is work."""
    if state.has_report or state.halt is not None:
        return endings.ending(state)
    if state.closing is not None:
        return endings.reported_first(state, state.closing)
    if state.has_plan and state.strategy.plan_only:
        return endings.PLANNED
    if endings.has_answer(state):
        return None if state.questions else _answered(state)
    stop = endings.limit(state)
    return None if stop is None else endings.reported_first(state, stop)


def _answered(state: JobState) -> Action:
    if not state.strategy.verify or endings.has_findings(state):
        return WriteReport()
    return endings.nothing_found(state)


def ends_at_once(state: JobState) -> EndJob | None:
    """How the job would end without working on anything of its plan, if it would."""
    if not state.has_plan or endings.has_answer(state):
        return None
    stop = endings.limit(state)
    if stop is not None or state.is_busy:
        return stop
    replans = list(_replans(state))
    has_work = bool(replans) or any(_starts(state, replans))
    return None if has_work else endings.stuck(state)


def _settled(state: JobState) -> Action:
    """What follows once nothing of the plan runs and nothing can: it is verified, or it ends."""
    stuck = in_vain(state)
    if stuck is not None:
        return stuck
    stop = endings.out_of_calls(state) or (None if state.strategy.verify else endings.stuck(state))
    if stop is not None:
        return endings.reported_first(state, stop)
    rounds = state.rounds
    if rounds.verified > rounds.filled:
        return FillGaps(iteration=rounds.verified)
    return Verify(iteration=rounds.verified + 1)


def _starts(state: JobState, planned: Sequence[Action]) -> Iterator[Action]:
    """Advances and tasks that the free slots allow; as many agents are at work as there are slots.

    `planned` is what is to start besides: a step that is replanned keeps its agent from advancing.
    """
    able = ready(state)
    slots = state.strategy.slots - state.running_leaves - len(state.advancing)
    advances = list(idle_nodes(state, _busy(state, able, planned)))[: max(0, slots)]
    yield from advances
    yield from _agents(state, able, planned)
    yield from _leaves(state, able, planned, slots - len(advances))


def _agents(
    state: JobState, able: Iterable[TaskState], planned: Sequence[Action]
) -> Iterator[StartTask]:
    if _is_revising(state, planned):
        return
    at_work = sum(is_open(t) and not is_waiting(t, state) for t in state.plan_tasks)
    free = max(0, state.strategy.slots - at_work)
    nodes = [task for task in able if task.kind is TaskKind.AGENT]
    yield from (StartTask(task_id=task.id) for task in nodes[:free])


def _leaves(
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
    """Whether tasks of the plan may change before they start."""
    return state.is_revising or any(isinstance(each, Revise) for each in planned)


def _busy(state: JobState, able: Iterable[TaskState], planned: Sequence[Action]) -> frozenset[str]:
    """Agents that have something under way, something that can start, or something replanned."""
    running = {t.parent for t in state.tasks.values() if t.status is TaskStatus.RUNNING}
    startable = {task.parent for task in able}
    replanned = {state.tasks[e.task_id].parent for e in planned if isinstance(e, Replan)}
    return frozenset(running | startable | replanned)


def _replans(state: JobState) -> Iterator[Replan]:
    """The first failed task of each scope that may be replanned, while the job has replans left.

    A scope is changed by one at a time: the plan itself is not replanned while it is revised.
    """
    left = state.strategy.max_replans - state.total_replans
    taken = set(state.replanning) | ({""} if state.is_revising else set())
    for task in endings.failed(state):
        if left <= 0:
            return
        if task.parent in taken or not endings.may_replan(task, state):
            continue
        taken.add(task.parent)
        left -= 1
        yield Replan(task_id=task.id)


def _revision(state: JobState, replans: Iterable[Replan]) -> Iterator[Revise]:
    """Look at what is still to do, where what was found since may have changed it.

    Not while the plan itself is replanned, or is about to be.
    """
    replanned = set(state.replanning) | {state.tasks[each.task_id].parent for each in replans}
    if state.is_revising or "" in replanned or state.strategy.has_fixed_plan:
        return
    if state.revisions >= state.strategy.max_revisions:
        return
    settled = sum(_calls_for_revision(task, state) for task in state.plan_tasks)
    is_waiting = any(task.status is TaskStatus.PENDING for task in state.plan_tasks)
    if is_waiting and settled > state.considered:
        yield Revise(considered=settled)


def _calls_for_revision(task: TaskState, state: JobState) -> bool:
    if task.status not in _SETTLED or task.kind is not TaskKind.AGENT:
        return False
    return state.strategy.monitoring is Monitoring.EAGER or task.contradicts_plan


def _is_all_replaced(state: JobState, actions: list[Action]) -> bool:
    """Whether a replanning is under way that replaces all that has not started."""
    is_replanning = bool(actions) or bool(state.replanning)
    return is_replanning and state.strategy.replan_scope is ReplanScope.REMAINING
