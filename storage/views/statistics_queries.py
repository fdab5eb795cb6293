"""Compute the run statistics of the KPI-Chain paper for one job or for all jobs (KPI-15)."""

from typing import Any

from sqlalchemy import ColumnElement, Table, case, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from holdfast.models.budget.spend_breakdown import Tokens
from holdfast.models.jobs.job_record import JobStatus
from holdfast.models.tasks.task_failure import Component
from holdfast.models.views.job_views import CallCounts, Stats, ToolCallCount
from holdfast.planning.budget.spend_totals import deviation_tokens, spend_breakdown
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.call_tables import tool_calls
from holdfast.storage.core.tables.job_tables import jobs
from holdfast.storage.core.tables.plan_tables import plan_changes, tasks
from holdfast.storage.ledger.spending_queries import bills_of


async def run_statistics(db: Database, job_id: str | None, currency: str = "USD") -> Stats:
    """Return calls, tokens, recoveries and failures of one job, or of all jobs."""
    async with db.reading() as connection:
        by_status = await _grouped(connection, jobs, jobs.c.status, jobs.c.id, job_id)
        bills = await bills_of(connection, job_id)
        used = await _grouped(
            connection, tool_calls, tool_calls.c.tool, tool_calls.c.job_id, job_id
        )
        repeated = await connection.scalar(
            _of_job(
                select(func.count()).where(tool_calls.c.repeated_call_id.is_not(None)),
                tool_calls,
                job_id,
            )
        )
        failures = await _failures(connection, job_id)
        recovered = await _answered_by_replans(connection, job_id)
    total = sum(by_status.values())
    spent = spend_breakdown(bills)
    made = CallCounts(model=spent.total.calls, tool=sum(used.values()))
    paid = spent.total.tokens
    return Stats(
        jobs=total,
        by_status=by_status,
        calls=made,
        tokens=Tokens(input=spent.total.input_tokens, output=spent.total.output_tokens),
        cost=spent.total.cost,
        currency=currency,
        tokens_per_call=round(paid / made.model, 1) if made.model else 0.0,
        tokens_per_job=round(paid / total, 1) if total else 0.0,
        calls_per_job=round((made.model + made.tool) / total, 1) if total else 0.0,
        by_phase=spent.by_phase,
        by_role=spent.by_role,
        by_task=spent.by_task if job_id is not None else (),
        by_model=spent.by_model,
        deviation_output_tokens=deviation_tokens(bills),
        by_tool=tuple(ToolCallCount(name=name, calls=calls) for name, calls in used.items()),
        success_after_replans=recovered,
        failures_by_component=failures,
        repeated_calls=int(repeated or 0),
    )


def _of_job(query: Any, table: Table, job_id: str | None) -> Any:  # noqa: ANN401 - SQLAlchemy selects
    return query if job_id is None else query.where(table.c.job_id == job_id)


async def _grouped(
    connection: AsyncConnection,
    table: Table,
    column: ColumnElement[Any],
    key: ColumnElement[Any],
    job_id: str | None,
) -> dict[str, int]:
    query = select(column, func.count()).select_from(table).group_by(column).order_by(column)
    if job_id is not None:
        query = query.where(key == job_id)
    return {row[0]: int(row[1]) for row in (await connection.execute(query)).all()}


async def _failures(connection: AsyncConnection, job_id: str | None) -> dict[str, int]:
    """Return the failed attempts by component; refused plans count as well."""
    component = tasks.c.failure["component"].astext
    query = _of_job(
        select(component, func.count()).where(tasks.c.failure.is_not(None)).group_by(component),
        tasks,
        job_id,
    )
    found = {each.value: 0 for each in Component}
    found |= {row[0]: int(row[1]) for row in (await connection.execute(query)).all()}
    refused = _of_job(
        select(jobs.c.message).where(jobs.c.stop_reason == "planning_failed"), jobs, None
    )
    if job_id is not None:
        refused = refused.where(jobs.c.id == job_id)
    for (message,) in (await connection.execute(refused)).all():
        who = Component.REPLANNER if "replanner" in message[:20] else Component.PLANNER
        found[who.value] += 1
    return found


async def _answered_by_replans(connection: AsyncConnection, job_id: str | None) -> dict[str, int]:
    """Return the number of answered jobs by number of replans."""
    replans = (
        select(func.count())
        .where(plan_changes.c.job_id == jobs.c.id, plan_changes.c.cause == "replanned")
        .scalar_subquery()
    )
    each = select(case((replans > 3, 4), else_=replans).label("n")).where(
        jobs.c.status == JobStatus.DONE.value, jobs.c.stop_reason != "planned"
    )
    if job_id is not None:
        each = each.where(jobs.c.id == job_id)
    inner = each.subquery()
    query = select(inner.c.n, func.count()).group_by(inner.c.n)
    found = dict.fromkeys(("0", "1", "2", "3", "more"), 0)
    for n, count in (await connection.execute(query)).all():
        found["more" if n > 3 else str(n)] = int(count)
    return found
