"""What was read, and the calls that a citation goes back to. Looking never writes."""

import hashlib
from collections.abc import Sequence
from typing import Any

from pydantic import JsonValue
from sqlalchemy import and_, select

from models.errors import NotFound
from models.sources import SourceUse, SourceView
from models.tables import (
    entities,
    evidence,
    llm_calls,
    recovered_calls,
    sources,
    tool_calls,
)
from models.tools import ReadPassage
from storage.checks import checks_of
from storage.database import Database
from storage.evidence import IS_SHOWN


async def source_view(db: Database, source_id: int) -> SourceView:
    """The source with all that quotes it.

    Raises:
        NotFound: there is none of that number.
    """
    query = (
        select(evidence)
        .where(evidence.c.source_id == source_id)
        .order_by(evidence.c.start_char, evidence.c.id)
    )
    async with db.reading() as connection:
        row = (
            await connection.execute(select(sources).where(sources.c.id == source_id))
        ).one_or_none()
        uses = (await connection.execute(query)).all()
    if row is None:
        raise NotFound(
            f"there is no source {source_id}; `holdfast report JOB` names the source of each mark"
        )
    checks = await checks_of(db, [each.id for each in uses])
    return SourceView(
        id=row.id, address=row.address, title=row.title, heading=row.heading, date=row.published,
        tool=row.tool, via=row.via, fetched_at=row.fetched_at, sha256=row.sha256,
        start=row.start_char, end=row.end_char, text=row.text, is_intact=_is_intact(row),
        evidence=tuple(
            SourceUse(
                evidence_id=each.id, job_id=each.job_id, task_id=each.task_id, entity=each.entity,
                status=each.status, start=each.start_char, end=each.end_char,
                check=checks.get(each.id),
            )
            for each in uses
        ),
    )  # fmt: skip


def _is_intact(row: Any) -> bool:  # noqa: ANN401 - a row
    return bool(hashlib.sha256(row.text.encode()).hexdigest() == row.sha256)


class Cited:
    """A piece of evidence of a job with its source, as provenance needs it."""

    def __init__(self, row: Any, value: JsonValue) -> None:  # noqa: ANN401 - a row
        self.id: int = row.id
        self.task_id: str = row.task_id
        self.attempt: int = row.attempt
        self.entity: str = row.entity
        self.status: str = row.status
        self.start: int = row.start_char
        self.end: int = row.end_char
        self.value = value
        self.resolves = _is_intact(row) and row.text[self.start : self.end] == row.quote
        self.passage = ReadPassage(
            address=row.address, title=row.title, heading=row.heading, date=row.published,
            text=row.text, start=row.source_start, end=row.source_end, tool=row.tool, via=row.via,
        )  # fmt: skip


async def cited(db: Database, job_id: str, evidence_ids: Sequence[int]) -> dict[int, Cited]:
    """The job's evidence of these numbers, whatever became of it."""
    query = (
        select(
            evidence,
            entities.c.value,
            *(sources.c[name] for name in ("address", "title", "heading", "published", "text")),
            *(sources.c[name] for name in ("tool", "via", "sha256")),
            sources.c.start_char.label("source_start"),
            sources.c.end_char.label("source_end"),
        )
        .join(sources, sources.c.id == evidence.c.source_id)
        .outerjoin(entities, IS_SHOWN)
        .where(evidence.c.job_id == job_id, evidence.c.id.in_(evidence_ids))
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).all()
    return {row.id: Cited(row, row.value) for row in rows}


async def tool_calls_of(db: Database, job_id: str, task_id: str, attempt: int) -> Sequence[Any]:
    """The rows of the calls that an attempt made and had answered, newest first."""
    query = (
        select(tool_calls, recovered_calls.c.recovery)
        .outerjoin(recovered_calls, _recovered(tool_calls, "tool"))
        .where(tool_calls.c.job_id == job_id, tool_calls.c.task_id == task_id)
        .where(tool_calls.c.attempt == attempt, tool_calls.c.status == "done")
        .order_by(tool_calls.c.id.desc())
    )
    async with db.reading() as connection:
        return (await connection.execute(query)).all()


async def tool_call(db: Database, call_id: int) -> Any:  # noqa: ANN401 - a row
    """The row of one call, or none."""
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
    """The rows of the answered model calls of these roles, newest first; of an attempt if told."""
    query = (
        select(llm_calls, recovered_calls.c.recovery)
        .outerjoin(recovered_calls, _recovered(llm_calls, "model"))
        .where(llm_calls.c.job_id == job_id, llm_calls.c.role.in_(roles))
        .where(llm_calls.c.status == "done")
        .order_by(llm_calls.c.id.desc())
    )
    if task_id:
        query = query.where(llm_calls.c.task_id == task_id, llm_calls.c.attempt == attempt)
    async with db.reading() as connection:
        return (await connection.execute(query)).all()


def _recovered(table: Any, kind: str) -> Any:  # noqa: ANN401 - a table, a condition
    return and_(
        recovered_calls.c.job_id == table.c.job_id,
        recovered_calls.c.kind == kind,
        recovered_calls.c.call_id == table.c.id,
    )
