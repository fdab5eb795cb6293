"""Load sources, cited evidence and the recorded calls behind a citation; write nothing."""

import hashlib
from collections.abc import Sequence
from typing import Any

from pydantic import JsonValue
from sqlalchemy import and_, select

from holdfast.models.calls.call_status import CallStatus
from holdfast.models.errors import NotFound
from holdfast.models.reports.provenance_views import SourceUse, SourceView
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.call_tables import model_calls, tool_calls
from holdfast.storage.core.tables.evidence_tables import entities, evidence, sources
from holdfast.storage.core.tables.loop_tables import loop_passages
from holdfast.storage.core.tables.recovery_tables import recovered_calls
from holdfast.storage.evidence.evidence_rows import ENTITY_OF_EVIDENCE
from holdfast.storage.evidence.reading_steps import (
    PASSAGE_OF_EVIDENCE,
    READING_ATTEMPT,
    READING_STEP,
)
from holdfast.storage.evidence.source_check_rows import latest_source_checks
from holdfast.storage.evidence.source_passages import PASSAGE_COLUMNS, passage_of_row


async def load_source_view(
    db: Database, source_id: int, *, job_id: str | None = None
) -> SourceView:
    """Return the source and all evidence that quotes it; with `job_id` only that of this job.

    Raises:
        NotFound: there is no source of that number, or the job quotes none.
    """
    query = (
        select(evidence)
        .where(evidence.c.source_id == source_id)
        .order_by(evidence.c.start_char, evidence.c.id)
    )
    if job_id is not None:
        query = query.where(evidence.c.job_id == job_id)
    async with db.reading() as connection:
        row = (
            await connection.execute(select(sources).where(sources.c.id == source_id))
        ).one_or_none()
        uses = (await connection.execute(query)).all()
    if row is None or (job_id is not None and not uses):
        raise NotFound(
            f"there is no source {source_id}; `holdfast report JOB` names the source of each mark",
            field="source",
        )
    checks = await latest_source_checks(db, [each.id for each in uses])
    return SourceView(
        id=row.id,
        address=row.address,
        title=row.title,
        heading=row.heading,
        date=row.published,
        tool=row.tool,
        via=row.via,
        fetched_at=row.fetched_at,
        sha256=row.sha256,
        start=row.start_char,
        end=row.end_char,
        text=row.text,
        is_intact=_is_intact(row),
        evidence=tuple(
            SourceUse(
                evidence_id=each.id,
                job_id=each.job_id,
                task_id=each.task_id,
                entity=each.entity,
                status=each.status,
                start=each.start_char,
                end=each.end_char,
                check=checks.get(each.id),
            )
            for each in uses
        ),
    )


def _is_intact(row: Any) -> bool:  # noqa: ANN401 - a row
    return bool(hashlib.sha256(row.text.encode()).hexdigest() == row.sha256)


class CitedEvidence:
    """A piece of evidence of a job with its source."""

    def __init__(self, row: Any, value: JsonValue) -> None:  # noqa: ANN401 - a row
        self.id: int = row.id
        self.task_id: str = row.task_id
        self.attempt: int = row.attempt
        self.reading_step: str = row.reading_step
        """The step that read the passage; of most evidence its own task."""
        self.reading_attempt: int = row.reading_attempt
        self.source_id: int = row.source_id
        self.entity: str = row.entity
        self.status: str = row.status
        self.start: int = row.start_char
        self.end: int = row.end_char
        self.value = value
        self.resolves = _is_intact(row) and row.text[self.start : self.end] == row.quote
        self.passage = passage_of_row(row)


async def load_cited_evidence(
    db: Database, job_id: str, evidence_ids: Sequence[int]
) -> dict[int, CitedEvidence]:
    """Return the job's evidence with these ids, whatever its status."""
    query = (
        select(
            evidence,
            entities.c.value,
            *PASSAGE_COLUMNS,
            sources.c.sha256,
            READING_STEP,
            READING_ATTEMPT,
        )
        .join(sources, sources.c.id == evidence.c.source_id)
        .outerjoin(entities, ENTITY_OF_EVIDENCE)
        .outerjoin(loop_passages, PASSAGE_OF_EVIDENCE)
        .where(evidence.c.job_id == job_id, evidence.c.id.in_(evidence_ids))
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).all()
    return {row.id: CitedEvidence(row, row.value) for row in rows}


async def tool_calls_of(db: Database, job_id: str, task_id: str, attempt: int) -> Sequence[Any]:
    """Return the rows of the answered tool calls of an attempt, newest first."""
    query = (
        select(tool_calls, recovered_calls.c.recovery)
        .outerjoin(recovered_calls, _recovered(tool_calls, "tool"))
        .where(tool_calls.c.job_id == job_id, tool_calls.c.task_id == task_id)
        .where(tool_calls.c.attempt == attempt, tool_calls.c.status == CallStatus.DONE.value)
        .order_by(tool_calls.c.id.desc())
    )
    async with db.reading() as connection:
        return (await connection.execute(query)).all()


async def load_tool_call(db: Database, call_id: int) -> Any:  # noqa: ANN401 - a row
    """Return the row of one call, or None."""
    query = (
        select(tool_calls, recovered_calls.c.recovery)
        .outerjoin(recovered_calls, _recovered(tool_calls, "tool"))
        .where(tool_calls.c.id == call_id)
    )
    async with db.reading() as connection:
        return (await connection.execute(query)).first()


async def model_calls_of(
    db: Database, job_id: str, roles: Sequence[str], task_id: str = "", attempt: int = 0
) -> Sequence[Any]:
    """Return the rows of answered model calls of these roles (of an attempt), newest first."""
    query = (
        select(model_calls, recovered_calls.c.recovery)
        .outerjoin(recovered_calls, _recovered(model_calls, "model"))
        .where(model_calls.c.job_id == job_id, model_calls.c.role.in_(roles))
        .where(model_calls.c.status == CallStatus.DONE.value)
        .order_by(model_calls.c.id.desc())
    )
    if task_id:
        query = query.where(model_calls.c.task_id == task_id, model_calls.c.attempt == attempt)
    async with db.reading() as connection:
        return (await connection.execute(query)).all()


def _recovered(table: Any, kind: str) -> Any:  # noqa: ANN401 - a table, a condition
    return and_(
        recovered_calls.c.job_id == table.c.job_id,
        recovered_calls.c.kind == kind,
        recovered_calls.c.call_id == table.c.id,
    )
