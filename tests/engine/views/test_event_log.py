"""Tests for the event log of a job: append-only, sufficient to rebuild the displayed statuses,
unchanged by reading."""

import dataclasses
from collections.abc import Iterable

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from holdfast.jobs.current_status import status_of
from holdfast.jobs.job_controller import JobController
from holdfast.models.jobs.job_filter import JobFilter
from holdfast.models.views.job_views import EventView
from holdfast.storage.core.database import Database
from holdfast.storage.evidence.evidence_rows import load_report
from holdfast.storage.plans import plan_change_rows, task_queries
from holdfast.storage.views import job_queries, statistics_queries
from tests.engine.control.test_job_controls import fail_extractions
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.conformance("WAVE-01")]


async def eventful_job(engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools) -> str:
    """A job with a failure, a replan, and a task that was run again."""
    players.plan = plan(
        lookup_task("T1", query="a"), lookup_task("T2", query="b"), final_task("T3", "T1", "T2")
    )
    players.continuations = [plan(lookup_task("T1a", query="c"), final_task("T3a", "T1a", "T2"))]
    tools.answers = lambda argument: f"found {argument}"
    fail_extractions(players, 1)
    job = await engine.run("Who?", slots="1")
    await JobController(engine.holdfast, "dana").retry(job.job_id, ["T2"])
    await engine.holdfast.wait(job.job_id)
    return job.job_id


def statuses(events: Iterable[EventView]) -> dict[str, str]:
    """Every task's status, from the log alone."""
    found: dict[str, str] = {}
    for event in events:
        match event.kind:
            case "plan.stored" | "plan.changed":
                found |= dict.fromkeys(_names(event, "added"), "pending")
                found |= dict.fromkeys(_names(event, "superseded"), "superseded")
            case "job.retried":
                found |= dict.fromkeys(_names(event, "rerun"), "pending")
            case "task.started":
                found[event.task] = "running"
            case "task.done" | "task.failed":
                found[event.task] = event.kind.removeprefix("task.")
    return found


def _names(event: EventView, fact: str) -> list[str]:
    names = event.facts[fact]
    assert isinstance(names, list)
    return [str(name) for name in names]


async def test_the_statuses_of_all_tasks_follow_from_the_log(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    job_id = await eventful_job(engine, players, tools)

    events = await job_queries.events_after(engine.db, job_id, 0)
    shown = await engine.holdfast.show(job_id)

    assert statuses(events) == {task.id: task.status for task in shown.tasks}
    assert shown.status == "done"
    assert shown.replans == sum(event.kind == "plan.changed" for event in events) == 1
    assert [event.seq for event in events] == list(range(1, len(events) + 1))


async def test_no_entry_of_the_log_can_be_changed(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    job_id = await eventful_job(engine, players, tools)

    with pytest.raises(DBAPIError, match="append-only"):
        async with engine.db.writing() as connection:
            await connection.execute(
                text("update events set kind = 'x' where job_id = :job"), {"job": job_id}
            )


async def test_looking_needs_no_right_to_write(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools, database_url: str
) -> None:
    job_id = await eventful_job(engine, players, tools)
    reader = Database(f"{database_url}&options=-c%20default_transaction_read_only%3Don")
    holdfast = dataclasses.replace(engine.holdfast, db=reader)

    with pytest.raises(DBAPIError, match="read-only"):
        async with reader.writing() as connection:
            await connection.execute(text("delete from events"))
    shown = await holdfast.show(job_id)
    await status_of(holdfast, job_id)
    await job_queries.events_after(reader, job_id, 0)
    await job_queries.job_calls(reader, job_id)
    await task_queries.load_plan(reader, job_id)
    await plan_change_rows.load_plan_changes(reader, job_id)
    await statistics_queries.run_statistics(reader, job_id)
    await holdfast.list_jobs(JobFilter(limit=10))
    report = await load_report(reader, job_id)
    await reader.close()

    assert shown == await engine.holdfast.show(job_id)
    assert report is not None
