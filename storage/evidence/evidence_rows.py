"""Load active evidence with its sources; store and load the report, with warnings."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import and_, exists, func, select
from sqlalchemy.dialects.postgresql import insert as upsert

from holdfast.models.evidence.evidence import EvidenceStatus, Report, StoredEvidence
from holdfast.models.wire.event_kinds import EventKind
from holdfast.storage.core.database import Database, JobTransaction
from holdfast.storage.core.tables.evidence_tables import entities, evidence, sources
from holdfast.storage.core.tables.job_tables import events, reports
from holdfast.storage.evidence.calculation_queries import load_calculations
from holdfast.storage.evidence.source_check_rows import drift_warnings, latest_source_checks

_FILLED_IN_WHEN_READ: dict[str, Any] = {
    "warnings": True,
    "rechecked_at": True,
    "job_id": True,
    "delivered_at": True,
    "documents": True,
    "currency": True,
    "citations": {"__all__": {"code", "inputs"}},
}
"""What is never stored of a report: the former release refuses a report with unknown fields."""
ENTITY_OF_EVIDENCE = and_(
    entities.c.job_id == evidence.c.job_id,
    entities.c.task_id == evidence.c.task_id,
    entities.c.name == evidence.c.entity,
)
"""The condition that joins an entity with its evidence."""


async def evidence_of(
    db: Database, job_id: str, task_id: str | None = None
) -> list[StoredEvidence]:
    """Return every active piece of evidence of the job or of one task, in the order of finding.

    A retracted quote supports nothing, also if it is found again.
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
        .outerjoin(entities, ENTITY_OF_EVIDENCE)
        .where(evidence.c.job_id == job_id, *supporting_conditions())
        .order_by(evidence.c.id)
    )
    if task_id is not None:
        query = query.where(evidence.c.task_id == task_id)
    async with db.reading() as connection:
        rows = (await connection.execute(query)).mappings().all()
    return [StoredEvidence(**_without_nulls(row)) for row in rows]


def supporting_conditions() -> tuple[Any, ...]:
    """Return the conditions for supporting evidence: active, with no retracted equal quote."""
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


async def supporting_evidence_ids(write: JobTransaction) -> frozenset[int]:
    """Return the ids of supporting evidence, and lock it against retraction."""
    query = select(evidence.c.id).where(evidence.c.job_id == write.job_id, *supporting_conditions())
    return frozenset((await write.connection.execute(query)).scalars())


async def keep_report(write: JobTransaction, report: Report) -> None:
    """Store the delivered report, but not its `documents`, which the log's entry has."""
    body = report.model_dump(mode="json", exclude=_FILLED_IN_WHEN_READ)
    await write.connection.execute(
        upsert(reports)
        .values(job_id=write.job_id, body=body)
        .on_conflict_do_update(
            index_elements=["job_id"], set_={"body": body, "created_at": func.now()}
        )
    )


async def load_report(db: Database, job_id: str) -> Report | None:
    """Return the delivered report, or None, with warnings about inactive evidence."""
    delivery = (
        select(events.c.facts)
        .where(events.c.job_id == job_id, events.c.kind == EventKind.REPORT_DELIVERED)
        .order_by(events.c.seq.desc())
        .limit(1)
        .scalar_subquery()
    )
    query = select(reports.c.body, reports.c.created_at, delivery.label("delivery"))
    query = query.where(reports.c.job_id == job_id)
    async with db.reading() as connection:
        row = (await connection.execute(query)).one_or_none()
    if row is None:
        return None
    report = Report.model_validate(row.body)
    checks = await latest_source_checks(db, [each.evidence_id for each in report.citations])
    warnings = await _warnings(db, job_id, report)
    calculations = await load_calculations(db, job_id, report.citations)
    return report.model_copy(
        update={
            "warnings": warnings + drift_warnings(report, checks),
            "rechecked_at": max((each.checked_at for each in checks.values()), default=None),
            "job_id": job_id,
            "delivered_at": row.created_at,
            "documents": (row.delivery or {}).get("documents", report.documents),
            "citations": tuple(
                each.model_copy(update=known._asdict())
                if (known := calculations.get(each.evidence_id))
                else each
                for each in report.citations
            ),
        }
    )


async def has_report(db: Database, job_id: str) -> bool:
    """Return True if a report of the job was delivered."""
    query = select(exists().where(reports.c.job_id == job_id))
    async with db.reading() as connection:
        return bool(await connection.scalar(query))


async def _warnings(db: Database, job_id: str, report: Report) -> tuple[str, ...]:
    inactive = await _inactive_reasons(db, job_id, [each.evidence_id for each in report.citations])
    return tuple(
        f"mark {each.mark} supports nothing any more: its evidence {each.evidence_id} "
        f"was {inactive[each.evidence_id]}"
        for each in report.citations
        if each.evidence_id in inactive
    )


async def _inactive_reasons(db: Database, job_id: str, ids: Sequence[int]) -> dict[int, str]:
    """Return why some of these pieces of evidence support nothing any more."""
    inactive = (
        select(evidence.c.id, evidence.c.status)
        .where(evidence.c.job_id == job_id, evidence.c.id.in_(ids))
        .where(evidence.c.status != EvidenceStatus.ACTIVE.value)
        .order_by(evidence.c.id)
    )
    told = select(events.c.facts).where(
        events.c.job_id == job_id, events.c.kind == EventKind.EVIDENCE_RETRACTED
    )
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
