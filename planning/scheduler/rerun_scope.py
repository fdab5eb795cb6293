"""Find the tasks that run again when a person retries tasks or resumes a job."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from holdfast.models.errors import BadInput, NotFound
from holdfast.models.jobs.job_record import StopReason
from holdfast.models.jobs.job_state import JobState, TaskState, VerificationProgress
from holdfast.models.plans.research_plan import TaskKind, TaskStatus
from holdfast.models.questions.control_requests import RerunScope
from holdfast.planning.plans.plan_graph import dependents
from holdfast.planning.scheduler.job_endings import has_answer
from holdfast.planning.scheduler.next_actions import ending_without_tasks, immediate_ending
from holdfast.planning.scheduler.state_transitions import with_tasks


def rerun_scope(tasks: Mapping[str, TaskState], named: Sequence[str]) -> RerunScope:
    """Return the named tasks and their downstream tasks that ran, in order of the plan.

    Raises:
        NotFound: the plan has no such task.
        BadInput: a task was superseded, has not run yet, or is running (itself or a step).
    """
    for name in named:
        _check(tasks, name)
    waits = {task.id: task.depends_on for task in tasks.values()}
    touched = set(named).union(*(dependents(waits, name) for name in named))
    running = [name for name in tasks if name in touched and _is(tasks, name, TaskStatus.RUNNING)]
    if running:
        raise BadInput(
            f"{', '.join(running)} runs now; wait for it, or pause the job until it is done"
        )
    own = tuple(task.id for task in tasks.values() if not task.parent)
    rerun = tuple(n for n in own if n in touched and (n in named or tasks[n].status.has_run))
    kept = tuple(n for n in own if n not in touched and _is(tasks, n, TaskStatus.DONE))
    return RerunScope(rerun=rerun, kept=kept)


def retry_scope(state: JobState, named: Sequence[str]) -> RerunScope:
    """Return the scope of a retry after checking that the job will reach these tasks.

    The results of the tasks are deleted before they run again, so they must be able to run.

    Raises:
        NotFound: the plan has no such task.
        BadInput: as `rerun`; or the job would end before all of them had run.
    """
    chosen = rerun_scope(state.tasks, named)
    again = ", ".join(chosen.rerun)
    after = _state_before_rerun(state, chosen.rerun)
    if has_answer(after):
        raise BadInput(f"the answer does not use {again}: the answer would stay, and they not run")
    limit = state.strategy.max_tool_calls
    calls = sum(after.tasks[name].kind is TaskKind.TOOL for name in chosen.rerun)
    left = max(0, limit - state.tool_calls)
    if calls > left:
        raise BadInput(
            f"{again} take {calls} tool calls, and {left} of {limit} are left (max_tool_calls)"
        )
    stop = ending_without_tasks(after)
    if stop is not None:
        others = " ".join(n for n in after.tasks if _is(after.tasks, n, TaskStatus.FAILED))
        hint = f"; retry {others} as well" if others else ""
        raise BadInput(f"the job would end before {again} ran: {stop.message}{hint}")
    return chosen


def tasks_to_resume(state: JobState) -> tuple[str, ...]:
    """Return what runs again when a person resumes an ended job: the failed tasks.

    Raises:
        BadInput: the job would end again at once.
    """
    rerun = tuple(t.id for t in state.plan_tasks if t.status is TaskStatus.FAILED)
    stop = immediate_ending(_state_before_rerun(state, rerun))
    if stop is None:
        return rerun
    is_limit = stop.reason is StopReason.TOOL_CALL_LIMIT
    hint = "resume it with a higher max_tool_calls" if is_limit else "retry one of its tasks"
    raise BadInput(f"the job would end again at once: {stop.message}; {hint}")


def _state_before_rerun(state: JobState, rerun: Sequence[str]) -> JobState:
    """Return the state with these tasks and the cancelled tasks pending, and nothing verified."""
    unverified = replace(state, rounds=VerificationProgress())
    return with_tasks(unverified, (_reset_task(task, rerun) for task in state.tasks.values()))


def _reset_task(task: TaskState, rerun: Sequence[str]) -> TaskState:
    if task.parent in rerun:
        return task.superseded()
    if task.id in rerun or task.status is TaskStatus.CANCELLED:
        return task.with_status(TaskStatus.PENDING)
    return task


def _check(tasks: Mapping[str, TaskState], name: str) -> None:
    task = tasks.get(name)
    if task is None:
        ran = (t.id for t in tasks.values() if t.status.has_run and not t.parent)
        known = ", ".join(ran) or "none yet"
        raise NotFound(
            f"the plan has no task {name!r}; tasks that have run: {known}", field="tasks"
        )
    if task.parent:
        raise BadInput(
            f"{name} is a step of {task.parent}; retry {task.parent} instead", field="tasks"
        )
    if task.status is TaskStatus.SUPERSEDED:
        line = [
            each.id
            for each in tasks.values()
            if each.root == task.root and each.status is not TaskStatus.SUPERSEDED
        ]
        hint = f"; retry {' '.join(line)} instead" if line else ""
        raise BadInput(f"{name} was replaced when the plan was changed{hint}")
    if task.status is TaskStatus.PENDING:
        raise BadInput(f"{name} has not run yet, so there is nothing to run again")


def _is(tasks: Mapping[str, TaskState], name: str, status: TaskStatus) -> bool:
    return tasks[name].status is status
