"""Evidence with its sources, and the report that cites it."""

from typing import Any

from sqlalchemy import and_, select
from sqlalchemy.dialects.postgresql import insert as upsert

from models.evidence import Report, StoredEvidence
from models.tables import entities, evidence, reports, sources
from storage.database import Database, JobWrite


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
