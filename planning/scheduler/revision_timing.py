"""Decide when the plan is revised by itself, and which failures the revision repairs (TDP 3.4)."""

from collections.abc import Iterator

from holdfast.models.jobs.job_state import JobState, TaskState
from holdfast.models.plans.research_plan import TaskKind, TaskStatus
from holdfast.models.strategies.job_strategy import Monitoring
from holdfast.planning.scheduler.agent_scheduling import is_agent_waiting
from holdfast.planning.scheduler.ready_tasks import ready_tasks


def results_to_consider(state: JobState) -> int | None:
    """Return how many results the next revision considers; None if no revision is due.

    A revision that is due may still wait for the end of a batch (`is_batch_at_work`).
    """
    strategy = state.strategy
    if strategy.has_fixed_plan or state.revisions >= strategy.max_revisions:
        return None
    settled = sum(_calls_for_revision(task, state) for task in state.plan_tasks)
    if strategy.monitoring is Monitoring.BATCH:
        settled = _settled_by_batches(settled, state)
    if settled <= state.results_considered:
        return None
    has_more = any(task.status is TaskStatus.PENDING for task in state.plan_tasks)
    return settled if has_more or any(_failures_to_revise(state)) else None


def _settled_by_batches(settled: int, state: JobState) -> int:
    """Return a number that is above the last one if any result was seen by no revision.

    Tasks that run again lower the count of results; the number names the receipt of the revision,
    and must not come twice.
    """
    is_due = any(
        task.status.has_run and not task.is_considered and _calls_for_revision(task, state)
        for task in state.plan_tasks
    )
    return max(settled, state.results_considered + 1) if is_due else state.results_considered


def is_left_to_revision(state: JobState) -> bool:
    """True if failed tasks of the plan wait for a revision, and not for the replanner."""
    return state.strategy.revises_failures and results_to_consider(state) is not None


def is_batch_at_work(state: JobState) -> bool:
    """True if a task of the batch still works or can; who waits for an answer holds up nobody."""
    if state.strategy.monitoring is not Monitoring.BATCH:
        return False
    at_work = any(
        task.status is TaskStatus.RUNNING and not is_agent_waiting(task, state)
        for task in state.plan_tasks
    )
    able = (task for task in ready_tasks(state) if not task.parent)
    return at_work or any(not is_of_next_batch(task, state) for task in able)


def is_of_next_batch(task: TaskState, state: JobState) -> bool:
    """True if the task is ready by a result that a revision is to consider first."""
    if state.strategy.monitoring is not Monitoring.BATCH or results_to_consider(state) is None:
        return False
    needs = (state.tasks[name] for name in task.depends_on if name in state.tasks)
    return any(_calls_for_revision(each, state) and not each.is_considered for each in needs)


def _failures_to_revise(state: JobState) -> Iterator[TaskState]:
    if not state.strategy.revises_failures:
        return
    for task in state.plan_tasks:
        is_open = task.status is TaskStatus.FAILED and not task.is_given_up
        is_retry = state.strategy.verify and task.attempt > 1
        if is_open and not is_retry and not task.is_opening:
            yield task


def _calls_for_revision(task: TaskState, state: JobState) -> bool:
    strategy = state.strategy
    # A failed task that a revision replaced still counts, so that the count never falls.
    is_replaced = (
        strategy.revises_failures and task.status is TaskStatus.SUPERSEDED and bool(task.note)
    )
    if not (task.status.has_run or is_replaced):
        return False
    if task.kind is not TaskKind.AGENT or task.is_opening:
        return False
    if strategy.monitoring is not Monitoring.LAZY or task.contradicts_plan:
        return True
    return strategy.revises_failures and task.status is not TaskStatus.DONE
