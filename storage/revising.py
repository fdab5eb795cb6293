"""Unfinished tasks that a revision has changed."""

from collections.abc import Iterable

from sqlalchemy import update

from models.plan import Task, TaskStatus
from models.tables import tasks
from storage.database import JobWrite


async def rewrite(write: JobWrite, changed: Iterable[Task]) -> None:
    """Store what a revision may change of tasks that have not begun; others stay as they are."""
    for task in changed:
        await write.connection.execute(
            update(tasks)
            .where(tasks.c.job_id == write.job_id, tasks.c.id == task.id)
            .where(tasks.c.status == TaskStatus.PENDING.value)
            .values(
                description=task.description,
                criteria=task.criteria,
                depends_on=list(task.depends_on),
            )
        )
