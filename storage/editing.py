"""Plans that people change before they run: edited in place, or set aside to be planned anew."""

from sqlalchemy import delete, update

from models.plan import Plan, TaskStatus
from models.revisions import Change
from models.tables import receipts, tasks
from planning.edited import Edit
from storage import plans
from storage.database import JobWrite
from storage.plans import Revision

PLAN_KEY = "plan"
"""The receipt of planning: while it is there, planning again gives the same plan."""


async def store_edit(write: JobWrite, edit: Edit, by: str) -> int:
    """Make the stored plan the edited one, as a revision; gives the revision's number."""
    for name in dict.fromkeys(each.task for each in edit.changed):
        values = {each.field: each.new for each in edit.changed if each.task == name}
        await write.connection.execute(
            update(tasks).where(tasks.c.job_id == write.job_id, tasks.c.id == name).values(values)
        )
    revision = Revision(
        revision=0,
        cause="edited",
        explanation=f"edited by {by}" if by else "edited",
        added=edit.added,
        superseded=edit.superseded,
        changed=tuple(Change(**each.model_dump()) for each in edit.changed),
    )
    return await plans.store_revision(
        write, edit.plan, revision, {name: name for name in edit.added}
    )


async def set_aside(write: JobWrite, plan: Plan, why: str) -> None:
    """Supersede a whole plan of which nothing has run, so that it is planned anew."""
    gone = tuple(task.id for task in plan.live)
    without = {"status": TaskStatus.SUPERSEDED}
    after = Plan(tasks=tuple(task.model_copy(update=without) for task in plan.tasks))
    change = Revision(revision=0, cause="set_aside", explanation=why, superseded=gone)
    await plans.store_revision(write, after, change, {})
    await write.connection.execute(
        delete(receipts).where(receipts.c.job_id == write.job_id, receipts.c.key == PLAN_KEY)
    )
