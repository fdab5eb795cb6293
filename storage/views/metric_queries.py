"""Compute the figures that `/metrics` serves: sums over all rows, without a text or an owner.

Each table is read once for all its figures, which takes long in a large database: callers keep the
answer for a while.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, case, extract, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from holdfast.models.calls.call_status import CallStatus
from holdfast.models.jobs.job_record import FINAL_JOB_STATUSES, JobStatus
from holdfast.models.questions.user_questions import QuestionStatus
from holdfast.models.views.metric_families import MetricFamily, MetricKind
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.call_tables import model_calls, tool_calls
from holdfast.storage.core.tables.job_tables import jobs
from holdfast.storage.core.tables.plan_tables import tasks
from holdfast.storage.core.tables.question_tables import questions
from holdfast.storage.core.tables.recovery_tables import recovered_calls, recoveries
from holdfast.storage.core.tables.webhook_tables import webhook_deliveries

_Figures = dict[str, tuple[str, MetricKind, ColumnElement[Any]]]
"""The meaning, the kind and the expression of each figure of one query, by name."""
_TOTAL, _NOW = MetricKind.COUNTER, MetricKind.GAUGE


async def installation_figures(db: Database) -> tuple[MetricFamily, ...]:
    """Return the figures of the whole database."""
    async with db.reading() as connection:
        return (
            *await _jobs(connection),
            *await _open_tasks(connection),
            *await _model_calls(connection),
            *await _tool_calls(connection),
            *await _recoveries(connection),
            *await _waiting(connection),
        )


async def _jobs(connection: AsyncConnection) -> list[MetricFamily]:
    labels = {"status": jobs.c.status, "stop_reason": func.coalesce(jobs.c.stop_reason, "")}
    figures: _Figures = {
        "holdfast_jobs": ("Jobs by status and reason of their end.", _NOW, func.count()),
        "holdfast_job_seconds_total": (
            "Time from the start of ended jobs to their end.",
            _TOTAL,
            _seconds(jobs.c.started_at, jobs.c.finished_at),
        ),
    }
    return await _families(connection, select().select_from(jobs), labels, figures)


async def _open_tasks(connection: AsyncConnection) -> list[MetricFamily]:
    labels = {"kind": tasks.c.kind, "status": tasks.c.status}
    final = [status.value for status in FINAL_JOB_STATUSES]
    source = select().select_from(tasks.join(jobs)).where(jobs.c.status.not_in(final))
    figures: _Figures = {
        "holdfast_open_tasks": ("Tasks of jobs that have not ended.", _NOW, func.count())
    }
    return await _families(connection, source, labels, figures)


async def _model_calls(connection: AsyncConnection) -> list[MetricFamily]:
    calls = model_calls.c
    figures: _Figures = {
        f"holdfast_model_{name}_total": (meaning, _TOTAL, value)
        for name, (meaning, value) in {
            "calls": ("Model calls of the ledger.", func.count()),
            "sends": ("Requests that were sent for them.", func.sum(calls.sends)),
            "reuses": ("Answers that were used again and not paid for.", func.sum(calls.reused)),
            "call_seconds": (
                "Time that answered calls took.",
                _answered_seconds(calls.status, calls.started_at, calls.finished_at),
            ),
            "input_tokens": ("Tokens of prompts.", func.sum(calls.input_tokens)),
            "output_tokens": ("Tokens of replies.", func.sum(calls.output_tokens)),
            "cost": (
                "Cost at the prices of holdfast.toml, where a price is known.",
                func.coalesce(func.sum(calls.cost), 0),
            ),
        }.items()
    }
    labels = {"model": calls.model, "role": calls.role, "status": calls.status}
    return await _families(connection, _sent_here(model_calls), labels, figures)


async def _tool_calls(connection: AsyncConnection) -> list[MetricFamily]:
    calls = tool_calls.c
    figures: _Figures = {
        "holdfast_tool_calls_total": ("Tool calls of the ledger.", _TOTAL, func.count()),
        "holdfast_tool_sends_total": ("Requests sent for them.", _TOTAL, func.sum(calls.sends)),
        "holdfast_tool_call_seconds_total": (
            "Time that answered calls took.",
            _TOTAL,
            _answered_seconds(calls.status, calls.started_at, calls.finished_at),
        ),
    }
    labels = {"tool": calls.tool, "status": calls.status}
    return await _families(connection, _sent_here(tool_calls), labels, figures)


def _sent_here(calls: Table) -> Select[Any]:
    """The calls of this installation: no copies in forks, and none of imported jobs."""
    source = select().select_from(calls.join(jobs))
    return source.where(calls.c.origin_call_id.is_(None), jobs.c.imported.is_(None))


async def _recoveries(connection: AsyncConnection) -> list[MetricFamily]:
    found: _Figures = {
        "holdfast_recoveries_total": ("Jobs that went on after a loss.", _TOTAL, func.count())
    }
    calls: _Figures = {
        "holdfast_recovered_calls_total": (
            "Calls that were answered from the ledger, or sent again, after a loss.",
            _TOTAL,
            func.count(),
        )
    }
    origin = case((recovered_calls.c.was_reused, "ledger"), else_="sent_again")
    by_origin = {"kind": recovered_calls.c.kind, "answer": origin}
    return [
        *await _families(
            connection, select().select_from(recoveries), {"cause": recoveries.c.cause}, found
        ),
        *await _families(connection, select().select_from(recovered_calls), by_origin, calls),
    ]


async def _waiting(connection: AsyncConnection) -> list[MetricFamily]:
    oldest = func.max(extract("epoch", func.now() - jobs.c.created_at))
    queued = select().where(jobs.c.status == JobStatus.QUEUED.value)
    asked = select().where(questions.c.status == QuestionStatus.OPEN.value)
    unsent = select().where(webhook_deliveries.c.next_attempt_at.is_not(None))
    figures: list[tuple[Select[Any], _Figures]] = [
        (
            queued,
            {
                "holdfast_oldest_queued_seconds": (
                    "Time for which the oldest job waits for a worker.",
                    _NOW,
                    func.coalesce(oldest, 0),
                )
            },
        ),
        (asked, {"holdfast_open_questions": ("Questions to people.", _NOW, func.count())}),
        (unsent, {"holdfast_unsent_webhooks": ("Messages to send.", _NOW, func.count())}),
    ]
    found = []
    for (source, values), table in zip(figures, (jobs, questions, webhook_deliveries), strict=True):
        found += await _families(connection, source.select_from(table), {}, values)
    return found


async def _families(
    connection: AsyncConnection,
    source: Select[Any],
    labels: Mapping[str, ColumnElement[Any]],
    figures: _Figures,
) -> list[MetricFamily]:
    values = [value for _, _, value in figures.values()]
    query = source.add_columns(*labels.values(), *values).group_by(*labels.values())
    rows: Sequence[Any] = (await connection.execute(query)).all()
    return [
        MetricFamily(
            name=name,
            meaning=meaning,
            kind=kind,
            labels=tuple(labels),
            samples=tuple(
                (tuple(map(str, row[: len(labels)])), float(row[len(labels) + number]))
                for row in rows
            ),
        )
        for number, (name, (meaning, kind, _)) in enumerate(figures.items())
    ]


def _answered_seconds(
    status: ColumnElement[Any], began: ColumnElement[Any], ended: ColumnElement[Any]
) -> ColumnElement[Any]:
    return _seconds(case((status == CallStatus.DONE.value, began)), ended)


def _seconds(began: ColumnElement[Any], ended: ColumnElement[Any]) -> ColumnElement[Any]:
    return func.coalesce(func.sum(extract("epoch", ended - began)), 0)
