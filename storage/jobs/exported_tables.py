"""Name the tables whose rows belong to a job's record, in the order in which they are stored."""

from collections.abc import Mapping
from types import MappingProxyType

from sqlalchemy import ColumnElement, Table, select, union

from holdfast.storage.core.tables.call_tables import figures, model_calls, tool_calls
from holdfast.storage.core.tables.evidence_tables import (
    entities,
    evidence,
    source_checks,
    sources,
)
from holdfast.storage.core.tables.job_tables import events, jobs, receipts, reports
from holdfast.storage.core.tables.loop_tables import loop_messages, loop_passages, loop_results
from holdfast.storage.core.tables.plan_tables import attempt_results, plan_changes, tasks
from holdfast.storage.core.tables.question_tables import guidance, questions
from holdfast.storage.core.tables.recovery_tables import recovered_calls, recoveries
from holdfast.storage.core.tables.verification_tables import stop_log, verifications

EXPORTED_TABLES: Mapping[str, Table] = MappingProxyType(
    {
        table.name: table
        for table in (
            jobs,
            plan_changes,
            tasks,
            sources,
            evidence,
            source_checks,
            entities,
            attempt_results,
            questions,
            guidance,
            events,
            receipts,
            model_calls,
            tool_calls,
            figures,
            recoveries,
            recovered_calls,
            verifications,
            stop_log,
            loop_messages,
            loop_passages,
            loop_results,
            reports,
        )
    }
)
"""A table follows those that its foreign keys name."""

LEFT_OUT_TABLES = frozenset(
    {
        "responses",
        "schedule_runs",
        "sent_spans",
        "sent_traces",
        "webhook_deliveries",
        "webhooks",
        "worker_stalls",
    }
)
"""Tables of a job's surroundings: requests of clients, traces, addresses and secrets, workers,
and the schedules that asked for jobs."""


def rows_of_job(table: Table, job_id: str) -> ColumnElement[bool]:
    """Return the condition that a row of the table belongs to the job's record."""
    if table is jobs:
        return jobs.c.id == job_id
    if table is sources:
        quoted = select(evidence.c.source_id).where(evidence.c.job_id == job_id)
        shown = select(loop_passages.c.source_id).where(loop_passages.c.job_id == job_id)
        return sources.c.id.in_(union(quoted, shown))
    if table is source_checks:
        of_job = select(evidence.c.id).where(evidence.c.job_id == job_id)
        return source_checks.c.evidence_id.in_(of_job)
    return table.c.job_id == job_id
