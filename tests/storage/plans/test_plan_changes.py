"""Tests for stored plan changes: tasks are inserted, superseded and rewritten, and counted."""

from collections.abc import AsyncIterator

import pytest
from sqlalchemy import update

from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.plans.plan_change import FieldChange, PlanChange
from holdfast.models.plans.plan_change_cause import PlanChangeCause
from holdfast.models.plans.research_plan import Plan, TaskStatus
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.models.wire.event_kinds import EventKind
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.plan_tables import tasks
from holdfast.storage.jobs import job_rows
from holdfast.storage.plans import plan_change_rows, task_queries
from holdfast.storage.views import job_queries
from tests.support.jobs.plan_builders import final_task, lookup_task, plan

JOB = "job-1"
THREE = plan(lookup_task("T1"), lookup_task("T2", "T1"), final_task("T3", "T2"))


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url)
    request = JobRequest(question="?", preset="kpi-chain", model="m", strategy=Strategy())
    await job_rows.submit_job(database, JOB, request, None)
    planned = PlanChange(cause=PlanChangeCause.PLANNED, added=THREE.tasks)
    async with database.job(JOB) as tx:
        await plan_change_rows.store_change(tx, Plan(), planned)
    yield database
    await database.close()


async def test_the_stored_plan_is_the_plan_that_the_change_makes(db: Database) -> None:
    change = PlanChange(
        cause=PlanChangeCause.EDITED,
        added=(lookup_task("T4"),),
        superseded=("T2",),
        changed=(FieldChange(task="T3", field="depends_on", old=["T2"], new=["T4"]),),
        explanation="edited",
    )

    async with db.job(JOB) as tx:
        number = await plan_change_rows.store_change(tx, THREE, change)

    assert (await task_queries.load_plan(db, JOB)) == change.apply_to(THREE)
    _, last = await plan_change_rows.load_plan_changes(db, JOB)
    assert (number, last.cause, last.added, last.superseded) == (
        2,
        PlanChangeCause.EDITED,
        ("T4",),
        ("T2",),
    )
    assert last.changed == change.changed
    event = (await job_queries.events_after(db, JOB, 0))[-1]
    assert (event.kind, event.facts["changed"]) == (EventKind.PLAN_CHANGED, ["T3"])


async def test_a_task_that_has_begun_is_not_rewritten(db: Database) -> None:
    async with db.writing() as connection:
        await connection.execute(
            update(tasks).where(tasks.c.id == "T1").values(status=TaskStatus.RUNNING.value)
        )
    field = FieldChange(task="T1", field="description", old="", new="else")

    async with db.job(JOB) as tx:
        change = PlanChange(cause=PlanChangeCause.REVISED, changed=(field,))
        await plan_change_rows.store_change(tx, THREE, change)

    assert (await task_queries.load_plan(db, JOB)).by_id["T1"].description != "else"


async def test_added_tasks_continue_a_lineage_in_their_attempt(db: Database) -> None:
    change = PlanChange(
        cause=PlanChangeCause.REPLANNED, added=(lookup_task("T2a"),), failed_task="T2"
    )

    async with db.job(JOB) as tx:
        await plan_change_rows.store_change(tx, THREE, change, root="T2", attempt=2)

    added = await task_queries.load_task(db, JOB, "T2a")
    assert (added.root, added.attempt, added.position, added.added_by_change) == ("T2", 2, 4, 2)
