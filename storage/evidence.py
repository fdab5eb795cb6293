"""Evidence with its sources, and the report that cites it; it warns of what was retracted."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import and_, select
from sqlalchemy.dialects.postgresql import insert as upsert

from models.evidence import EvidenceStatus, Report, StoredEvidence
from models.tables import entities, events, evidence, reports, sources
from storage.checks import checks_of, drift
from storage.database import Database, JobWrite

RETRACTED = "evidence.retracted"
"""The event of a retraction; its facts keep the reason."""
IS_SHOWN = and_(
    entities.c.job_id == evidence.c.job_id,
    entities.c.task_id == evidence.c.task_id,
    entities.c.name == evidence.c.entity,
)
"""Condition: the entity is the one that the evidence shows."""


async def evidence_of(db: Database, job_id: str) -> list[StoredEvidence]:
    """Every active piece of evidence of the job, in the order it was found.

    Words that were retracted support nothing when they are found again.
    """
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
            sources.c.published.label("date"),
            sources.c.tool,
            sources.c.via,
            sources.c.text.label("source_text"),
            sources.c.start_char.label("source_start"),
            evidence.c.start_char.label("start"),
            evidence.c.end_char.label("end"),
            evidence.c.quote,
            sources.c.sha256,
            sources.c.fetched_at,
        )
        .join(sources, sources.c.id == evidence.c.source_id)
        .outerjoin(entities, IS_SHOWN)
        .where(evidence.c.job_id == job_id, *supports())
        .order_by(evidence.c.id)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).mappings().all()
    return [StoredEvidence(**_without_nulls(row)) for row in rows]


def supports() -> tuple[Any, ...]:
    """Conditions: the evidence is active, and the same words were not retracted."""
    same = evidence.alias("same")
    retracted = (
        select(same.c.id)
        .where(same.c.job_id == evidence.c.job_id, same.c.source_id == evidence.c.source_id)
        .where(same.c.start_char == evidence.c.start_char, same.c.end_char == evidence.c.end_char)
        .where(same.c.status == EvidenceStatus.RETRACTED.value)
    )
    return evidence.c.status == EvidenceStatus.ACTIVE.value, ~retracted.exists()


def _without_nulls(row: Any) -> dict[str, Any]:  # noqa: ANN401 - a row mapping
    return {name: value for name, value in row.items() if value is not None}


async def active_ids(write: JobWrite) -> frozenset[int]:
    """The job's evidence that supports something now, while nobody else can retract any."""
    query = select(evidence.c.id).where(evidence.c.job_id == write.job_id, *supports())
    return frozenset((await write.connection.execute(query)).scalars())


async def keep_report(write: JobWrite, report: Report) -> None:
    """Deliver the report."""
    body = report.model_dump(mode="json", exclude={"warnings", "rechecked_at"})
    await write.connection.execute(
        upsert(reports)
        .values(job_id=write.job_id, body=body)
        .on_conflict_do_update(index_elements=["job_id"], set_={"body": body})
    )


async def load_report(db: Database, job_id: str) -> Report | None:
    """The delivered report, if there is one; warns where its evidence supports it no more."""
    query = select(reports.c.body).where(reports.c.job_id == job_id)
    async with db.reading() as connection:
        body = (await connection.execute(query)).scalar_one_or_none()
    if body is None:
        return None
    report = Report.model_validate(body)
    checks = await checks_of(db, [each.evidence_id for each in report.citations])
    warnings = await _warnings(db, job_id, report)
    return report.model_copy(
        update={
            "warnings": warnings + drift(report, checks),
            "rechecked_at": max((each.checked_at for each in checks.values()), default=None),
        }
    )


async def _warnings(db: Database, job_id: str, report: Report) -> tuple[str, ...]:
    inactive = await _gone(db, job_id, [each.evidence_id for each in report.citations])
    return tuple(
        f"mark {each.mark} supports nothing any more: its evidence {each.evidence_id} "
        f"was {inactive[each.evidence_id]}"
        for each in report.citations
        if each.evidence_id in inactive
    )


async def _gone(db: Database, job_id: str, ids: Sequence[int]) -> dict[int, str]:
    """Which of these pieces of evidence support nothing any more, and why."""
    inactive = (
        select(evidence.c.id, evidence.c.status)
        .where(evidence.c.job_id == job_id, evidence.c.id.in_(ids))
        .where(evidence.c.status != EvidenceStatus.ACTIVE.value)
        .order_by(evidence.c.id)
    )
    told = select(events.c.facts).where(events.c.job_id == job_id, events.c.kind == RETRACTED)
    async with db.reading() as connection:
        rows = (await connection.execute(inactive)).all()
        reasons = {
            facts["evidence"]: facts["reason"]
            for facts in (await connection.execute(told)).scalars()
        }
    return {
        row.id: f"{row.status}: {reasons[row.id]}" if row.id in reasons else str(row.status)
        for row in rows
    }
