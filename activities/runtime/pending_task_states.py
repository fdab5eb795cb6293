"""Build the states of pending tasks for the workflow, as many as fit into one Temporal payload."""

from holdfast.models.jobs.job_state import TaskState
from holdfast.models.plans.research_plan import Task, TaskStatus

PAGE_BYTES = 20_000
"""Well below 32 KB, the limit of our payloads."""


def pending_state(task: Task, root: str, attempt: int = 1) -> TaskState:
    """The state of a task that waits for this attempt, as the scheduler sees it."""
    return TaskState.of(task.with_status(TaskStatus.PENDING), root=root, attempt=attempt)


def fit_tasks_to_page(tasks: list[TaskState]) -> tuple[TaskState, ...]:
    """Return the first tasks that fit into one payload, at least one."""
    size, kept = 0, 0
    for task in tasks:
        size += len(task.model_dump_json().encode())
        if size > PAGE_BYTES and kept:
            break
        kept += 1
    return tuple(tasks[:kept])
