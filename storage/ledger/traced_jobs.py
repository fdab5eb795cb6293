"""Read of a job what its trace shows: the job, its tasks and its calls, without any text."""

from typing import Any

from sqlalchemy import ColumnElement, literal, select
from sqlalchemy.ext.asyncio import AsyncConnection

from holdfast.models.errors import NotFound
from holdfast.models.traces.trace_spans import SpanKind, TracedCall, TracedJob, TracedTask
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.call_tables import model_calls, tool_calls
from holdfast.storage.core.tables.job_tables import jobs
from holdfast.storage.core.tables.plan_tables import tasks

_SHARED = ("task_id", "attempt", "part", "request_hash", "status", "sends", "reused")
_TIMES = ("started_at", "finished_at")
_TOKENS = ("input_tokens", "output_tokens", "cached_tokens", "cost")


async def load_traced_job(db: Database, job_id: str) -> TracedJob:
    """Return the job with its tasks and calls, the calls in the order in which they began.

    Raises:
        NotFound: there is no such job.
    """
    names = ("attempt", "preset", "model", "status", "stop_reason", *_TIMES)
    query = select(jobs.c.id.label("job_id"), *(jobs.c[name] for name in names))
    async with db.reading() as connection:
        row = (await connection.execute(query.where(jobs.c.id == job_id))).mappings().one_or_none()
        if row is None:
            raise NotFound(f"there is no job {job_id!r}; `holdfast list` shows those there are")
        traced_tasks = await _tasks(connection, job_id)
        calls = [*await _model_calls(connection, job_id), *await _tool_calls(connection, job_id)]
    return TracedJob(
        **{**row, "stop_reason": row["stop_reason"] or ""},
        tasks=traced_tasks,
        calls=tuple(sorted(calls, key=lambda call: call.started_at)),
    )


async def _tasks(connection: AsyncConnection, job_id: str) -> tuple[TracedTask, ...]:
    names = ("attempt", "kind", "agent", "parent", "status", *_TIMES)
    query = select(tasks.c.id.label("task_id"), *(tasks.c[name] for name in names))
    rows = await connection.execute(query.where(tasks.c.job_id == job_id))
    return tuple(TracedTask(**row) for row in rows.mappings())


async def _model_calls(connection: AsyncConnection, job_id: str) -> list[TracedCall]:
    columns: list[ColumnElement[Any]] = [
        literal(SpanKind.MODEL_CALL.value).label("kind"),
        *(model_calls.c[name] for name in (*_SHARED, *_TIMES, *_TOKENS)),
        model_calls.c.role.label("caller"),
        model_calls.c.model.label("target"),
    ]
    rows = await connection.execute(select(*columns).where(model_calls.c.job_id == job_id))
    return [TracedCall.model_validate(dict(row)) for row in rows.mappings()]


async def _tool_calls(connection: AsyncConnection, job_id: str) -> list[TracedCall]:
    columns: list[ColumnElement[Any]] = [
        literal(SpanKind.TOOL_CALL.value).label("kind"),
        *(tool_calls.c[name] for name in (*_SHARED, *_TIMES)),
        literal("").label("caller"),
        tool_calls.c.tool.label("target"),
        tool_calls.c.repeated_call_id.is_not(None).label("is_repeated"),
    ]
    rows = await connection.execute(select(*columns).where(tool_calls.c.job_id == job_id))
    return [TracedCall.model_validate(dict(row)) for row in rows.mappings()]
