"""Store the result of each task attempt, and choose the attempt that counts for the task."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from holdfast.models.evidence.evidence import EvidenceStatus
from holdfast.models.plans.research_plan import TaskStatus
from holdfast.models.tasks.attempt_results import (
    AttemptEvidence,
    AttemptResult,
    EntityValue,
    KeptEntity,
)
from holdfast.planning.results.attempt_merge import is_evidence_for_kept, merge_attempts
from holdfast.storage.core.database import JobTransaction
from holdfast.storage.core.tables.evidence_tables import entities, evidence
from holdfast.storage.core.tables.plan_tables import attempt_results, tasks
from holdfast.storage.evidence.evidence_rows import ENTITY_OF_EVIDENCE
from holdfast.storage.plans.task_queries import AGENT_ATTEMPT_NOTE


async def keep_attempt_result(
    write: JobTransaction,
    task_id: str,
    attempt: int,
    found: Iterable[EntityValue],
    confidence: float | None = None,
) -> None:
    """Store the result of one attempt; an earlier stored result does not change."""
    row = {
        "job_id": write.job_id,
        "task_id": task_id,
        "attempt": attempt,
        "entities": [each.model_dump(mode="json") for each in found],
        "confidence": confidence,
    }
    await write.connection.execute(upsert(attempt_results).values(row).on_conflict_do_nothing())


async def keep_current_results(write: JobTransaction, names: Sequence[str]) -> None:
    """Store the current entities of these tasks as results of their current attempt."""
    query = (
        select(tasks.c.id, tasks.c.attempt, tasks.c.confidence, *_ENTITY)
        .outerjoin(
            entities, (entities.c.job_id == tasks.c.job_id) & (entities.c.task_id == tasks.c.id)
        )
        .where(tasks.c.job_id == write.job_id, tasks.c.id.in_(names))
        .where(tasks.c.status == TaskStatus.DONE.value)
        .order_by(tasks.c.position, entities.c.name)
    )
    rows = (await write.connection.execute(query)).all()
    for name, attempt, confidence in dict.fromkeys((r.id, r.attempt, r.confidence) for r in rows):
        found = [_entity_from_row(row) for row in rows if row.id == name and row.name is not None]
        await keep_attempt_result(write, name, attempt, found, confidence)


_ENTITY = tuple(
    entities.c[name].label(label)
    for name, label in (
        ("name", "name"),
        ("type", "type"),
        ("description", "description"),
        ("value", "value"),
        ("confidence", "sure"),
    )
)


def _entity_from_row(row: Any) -> EntityValue:  # noqa: ANN401 - a row
    return EntityValue(
        name=row.name,
        type=row.type,
        description=row.description,
        value=row.value,
        confidence=row.sure,
    )


async def choose_attempt(write: JobTransaction, task_id: str, kept: int) -> tuple[KeptEntity, ...]:
    """Make attempt `kept` the result of the task, completed from the other attempts.

    The task's entities are replaced, and evidence of other values is superseded. Nothing changes if
    attempt `kept` has no stored result.
    """
    known = await _attempts(write, task_id)
    if kept not in {each.attempt for each in known}:
        return ()
    seen = await _evidence(write, task_id)
    chosen = merge_attempts(kept, known, [each.key for each in seen if each.is_active])
    await _set_entities(write, task_id, chosen)
    is_chosen = attempt_results.c.attempt == kept
    mine = (attempt_results.c.job_id == write.job_id, attempt_results.c.task_id == task_id)
    await write.connection.execute(update(attempt_results).where(*mine).values(is_chosen=is_chosen))
    confidence = next(each.confidence for each in known if each.attempt == kept)
    await write.connection.execute(
        update(tasks)
        .where(tasks.c.job_id == write.job_id, tasks.c.id == task_id)
        .values(confidence=confidence)
    )
    keys = [each.key for each in seen]
    await _set_evidence_status(write, kept, keys, chosen)
    return chosen


async def _attempts(write: JobTransaction, task_id: str) -> list[AttemptResult]:
    query = (
        select(attempt_results)
        .where(attempt_results.c.job_id == write.job_id, attempt_results.c.task_id == task_id)
        .order_by(attempt_results.c.attempt)
    )
    rows = (await write.connection.execute(query)).all()
    return [
        AttemptResult(
            attempt=row.attempt,
            entities=tuple(EntityValue.model_validate(each) for each in row.entities),
            confidence=row.confidence,
            is_chosen=row.is_chosen,
        )
        for row in rows
    ]


async def _set_entities(write: JobTransaction, task_id: str, chosen: Iterable[KeptEntity]) -> None:
    mine = (entities.c.job_id == write.job_id, entities.c.task_id == task_id)
    await write.connection.execute(delete(entities).where(*mine))
    place = {"job_id": write.job_id, "task_id": task_id}
    rows = [place | each.entity.model_dump(mode="json") for each in chosen]
    if rows:
        await write.connection.execute(insert(entities), rows)


async def _set_evidence_status(
    write: JobTransaction,
    kept: int,
    seen: Sequence[AttemptEvidence],
    chosen: Sequence[KeptEntity],
) -> None:
    """Set evidence of kept values active and the rest superseded; retracted stays retracted."""
    counting = [each.id for each in seen if is_evidence_for_kept(each, kept, chosen)]
    replaced = [each.id for each in seen if each.id not in set(counting)]
    for status, other, names in (
        (EvidenceStatus.ACTIVE, EvidenceStatus.SUPERSEDED, counting),
        (EvidenceStatus.SUPERSEDED, EvidenceStatus.ACTIVE, replaced),
    ):
        await write.connection.execute(
            update(evidence)
            .where(evidence.c.id.in_(names), evidence.c.status == other.value)
            .values(status=status.value)
        )


class _StoredEvidence(NamedTuple):
    key: AttemptEvidence
    is_active: bool


async def _evidence(write: JobTransaction, task_id: str) -> list[_StoredEvidence]:
    """Return the evidence of a task and of the steps of all its attempts."""
    step, parent = tasks.alias("step"), tasks.alias("parent")
    agent_attempt = func.coalesce(step.c.notes[AGENT_ATTEMPT_NOTE].as_integer(), parent.c.attempt)
    query = (
        select(
            evidence.c.id,
            evidence.c.task_id,
            evidence.c.entity,
            evidence.c.attempt,
            evidence.c.quote,
            evidence.c.status,
            entities.c.value,
            agent_attempt.label("agent_attempt"),
        )
        .join(step, (step.c.job_id == evidence.c.job_id) & (step.c.id == evidence.c.task_id))
        .join(parent, (parent.c.job_id == evidence.c.job_id) & (parent.c.id == task_id))
        .outerjoin(entities, ENTITY_OF_EVIDENCE)
        .where(evidence.c.job_id == write.job_id)
        .where((step.c.id == task_id) | (step.c.parent == task_id))
        .order_by(evidence.c.id)
    )
    rows = (await write.connection.execute(query)).all()
    return [
        _StoredEvidence(
            AttemptEvidence(
                id=row.id,
                attempt=row.attempt if row.task_id == task_id else row.agent_attempt,
                entity=row.entity,
                value=row.value,
                is_of_step=row.task_id != task_id,
                quote=row.quote,
            ),
            is_active=row.status == EvidenceStatus.ACTIVE.value,
        )
        for row in rows
    ]
