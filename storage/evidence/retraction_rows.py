"""Retract evidence, and list the entities whose evidence is all retracted."""

from collections.abc import Sequence

from sqlalchemy import and_, func, select, update

from holdfast.models.errors import BadInput, NotFound
from holdfast.models.evidence.evidence import EvidenceStatus
from holdfast.storage.core.database import Database, JobTransaction
from holdfast.storage.core.tables.evidence_tables import entities, evidence
from holdfast.storage.evidence.evidence_rows import ENTITY_OF_EVIDENCE, supporting_conditions


async def entities_without_evidence(db: Database, job_id: str) -> Sequence[tuple[str, str]]:
    """Return the entities, as (task, name), whose evidence is all retracted."""
    place = (evidence.c.task_id, evidence.c.entity)
    active = func.count().filter(and_(*supporting_conditions()))
    retracted = func.count().filter(evidence.c.status == EvidenceStatus.RETRACTED.value)
    query = (
        select(*place)
        .join(entities, ENTITY_OF_EVIDENCE)
        .where(evidence.c.job_id == job_id)
        .group_by(*place)
        .having(active == 0, retracted > 0)
        .order_by(func.min(evidence.c.id))
    )
    async with db.reading() as connection:
        return [(row[0], row[1]) for row in (await connection.execute(query)).all()]


async def retract_evidence(write: JobTransaction, evidence_id: int) -> list[tuple[str, str]]:
    """Retract a piece of evidence and all other evidence of the job with the same quote.

    Returns the affected entities as (task, entity).

    Raises:
        NotFound: the job has no such evidence.
        BadInput: it is not active.
    """
    of_job = evidence.c.job_id == write.job_id
    chosen = (
        await write.connection.execute(select(evidence).where(of_job, evidence.c.id == evidence_id))
    ).one_or_none()
    if chosen is None:
        raise NotFound(
            f"job {write.job_id} has no evidence {evidence_id}; `holdfast trace {write.job_id} "
            "MARK` prints the number of the evidence of a mark",
            field="evidence",
        )
    if chosen.status != EvidenceStatus.ACTIVE:
        raise BadInput(f"evidence {evidence_id} of job {write.job_id} is {chosen.status} already")
    same_words = and_(
        evidence.c.source_id == chosen.source_id,
        evidence.c.start_char == chosen.start_char,
        evidence.c.end_char == chosen.end_char,
    )
    changed = await write.connection.execute(
        update(evidence)
        .where(of_job, same_words, evidence.c.status == EvidenceStatus.ACTIVE.value)
        .values(status=EvidenceStatus.RETRACTED.value)
        .returning(evidence.c.id, evidence.c.task_id, evidence.c.entity)
    )
    rows = sorted(changed.all(), key=lambda row: int(row.id))
    return list(dict.fromkeys((row.task_id, row.entity) for row in rows))
