"""Read what each stage of a job spent, and why it was needed; write nothing."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from holdfast.models.budget.job_stages import Stage
from holdfast.models.budget.spend_breakdown import Bill
from holdfast.models.jobs.job_record import Job
from holdfast.models.plans.stored_plan_change import StoredPlanChange
from holdfast.models.views.job_views import EventView
from holdfast.planning.budget.job_stages import STAGE_EVENTS, JobCourse, job_stages
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.job_tables import events
from holdfast.storage.ledger.spending_queries import bills_of, tool_bills_of
from holdfast.storage.plans.plan_change_rows import load_plan_changes
from holdfast.storage.plans.task_queries import select_opening_task
from holdfast.storage.views.job_queries import event_view


async def load_job_stages(db: Database, job: Job) -> tuple[Stage, ...]:
    """Return the stages of the job that have begun, in their order.

    Raises:
        StorageAway: PostgreSQL does not answer.
    """
    changes = await load_plan_changes(db, job.id)
    async with db.reading() as connection:
        bills = await bills_of(connection, job.id)
    return await job_stages_of(db, job, bills, changes)


async def job_stages_of(
    db: Database, job: Job, bills: Sequence[Bill], changes: Sequence[StoredPlanChange]
) -> tuple[Stage, ...]:
    """Return the stages of a job of which the bills and the changes of the plan were loaded.

    Raises:
        StorageAway: PostgreSQL does not answer.
    """
    async with db.reading() as connection:
        opening: str | None = await connection.scalar(select_opening_task(job.id))
        course = JobCourse(
            strategy=job.request.strategy,
            opening=opening or "",
            bills=bills,
            tool_bills=await tool_bills_of(connection, job.id),
            changes=changes,
            log=await _stage_entries(connection, job.id),
        )
    return job_stages(course)


async def _stage_entries(connection: AsyncConnection, job_id: str) -> list[EventView]:
    query = (
        select(events)
        .where(events.c.job_id == job_id, events.c.kind.in_(STAGE_EVENTS))
        .order_by(events.c.seq)
    )
    return [event_view(row) for row in await connection.execute(query)]
