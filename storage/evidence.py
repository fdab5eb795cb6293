"""Sources and evidence: what was read, letter by letter, and the quotes that rest on it."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import and_, insert, select, tuple_
from sqlalchemy.dialects.postgresql import insert as upsert

from models.evidence import Located, Report, StoredEvidence
from models.tables import entities, evidence, reports, sources
from models.tools import ReadPassage
from storage.database import Database, JobWrite

Place = tuple[str, str, int]


async def store_evidence(
    write: JobWrite, task_id: str, read: Sequence[ReadPassage], found: Iterable[Located]
) -> None:
    """Store the passages that were read, once per content, and the quotes found in them."""
    ids = await _store_sources(write, read)
    rows = [
        {
            "job_id": write.job_id,
            "task_id": task_id,
            "entity": each.entity,
            "source_id": ids[_place(each.passage)],
            "start_char": each.start,
            "end_char": each.end,
            "quote": each.quote,
        }
        for each in found
    ]
    if rows:
        await write.connection.execute(insert(evidence), rows)


async def _store_sources(write: JobWrite, read: Sequence[ReadPassage]) -> dict[Place, int]:
    rows = {_place(passage): _row(passage) for passage in read if passage.text}
    if not rows:
        return {}
    await write.connection.execute(upsert(sources).on_conflict_do_nothing(), list(rows.values()))
    columns = (sources.c.sha256, sources.c.address, sources.c.start_char)
    query = select(sources.c.id, *columns).where(tuple_(*columns).in_(list(rows)))
    found = (await write.connection.execute(query)).all()
    return {(row.sha256, row.address, row.start_char): row.id for row in found}


def _place(passage: ReadPassage) -> Place:
    digest = hashlib.sha256(passage.text.encode()).hexdigest()
    return (digest, passage.address, passage.start)


def _row(passage: ReadPassage) -> dict[str, Any]:
    return {
        "sha256": _place(passage)[0],
        "address": passage.address,
        "title": passage.title or passage.address,
        "heading": passage.heading,
        "text": passage.text,
        "start_char": passage.start,
        "end_char": passage.end,
    }


async def evidence_of(db: Database, job_id: str) -> list[StoredEvidence]:
    """Every active piece of evidence of the job, in the order it was found."""
    values = and_(
        entities.c.job_id == evidence.c.job_id,
        entities.c.task_id == evidence.c.task_id,
        entities.c.name == evidence.c.entity,
    )
    query = (
        select(
            evidence.c.id,
            evidence.c.task_id,
            evidence.c.entity,
            entities.c.description,
            entities.c.value,
            evidence.c.source_id,
            sources.c.address,
            sources.c.title,
            sources.c.heading,
            sources.c.text.label("source_text"),
            sources.c.start_char.label("source_start"),
            evidence.c.start_char.label("start"),
            evidence.c.end_char.label("end"),
            evidence.c.quote,
            sources.c.sha256,
            sources.c.fetched_at,
        )
        .join(sources, sources.c.id == evidence.c.source_id)
        .outerjoin(entities, values)
        .where(evidence.c.job_id == job_id, evidence.c.status == "active")
        .order_by(evidence.c.id)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).mappings().all()
    return [StoredEvidence(**_without_nulls(row)) for row in rows]


def _without_nulls(row: Any) -> dict[str, Any]:  # noqa: ANN401 - a row mapping
    return {name: value for name, value in row.items() if value is not None}


async def keep_report(write: JobWrite, report: Report) -> None:
    """Deliver the report."""
    body = report.model_dump(mode="json")
    await write.connection.execute(
        upsert(reports)
        .values(job_id=write.job_id, body=body)
        .on_conflict_do_update(index_elements=["job_id"], set_={"body": body})
    )


async def load_report(db: Database, job_id: str) -> Report | None:
    """The delivered report, if there is one."""
    query = select(reports.c.body).where(reports.c.job_id == job_id)
    async with db.reading() as connection:
        body = (await connection.execute(query)).scalar_one_or_none()
    return None if body is None else Report.model_validate(body)
