"""The results of each attempt at a task: all are kept, the best one is what the task found."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from models.attempts import AttemptResult, FoundEntity, KeptEntity, SeenEvidence
from models.plan import TaskStatus
from models.tables import attempt_results, entities, evidence, tasks
from planning.attempts import merged, supports
from storage.database import JobWrite
from storage.evidence import IS_SHOWN
from storage.plans import OF_ATTEMPT


async def keep_attempt(
    write: JobWrite,
    task_id: str,
    attempt: int,
    found: Iterable[FoundEntity],
    confidence: float | None = None,
) -> None:
    """Store what one attempt found; stored before, it stays as it was."""
    row = {
        "job_id": write.job_id,
        "task_id": task_id,
        "attempt": attempt,
        "entities": [each.model_dump(mode="json") for each in found],
        "confidence": confidence,
    }
    await write.connection.execute(upsert(attempt_results).values(row).on_conflict_do_nothing())


async def snapshot(write: JobWrite, names: Sequence[str]) -> None:
    """Keep what these tasks have as their present attempt's, where nobody has stored that yet."""
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
        found = [_found(row) for row in rows if row.id == name and row.name is not None]
        await keep_attempt(write, name, attempt, found, confidence)


_ENTITY = tuple(
    entities.c[name].label(label)
    for name, label in (
        ("name", "name"), ("type", "type"), ("description", "description"), ("value", "value"),
        ("confidence", "sure"),
    )
)  # fmt: skip


def _found(row: Any) -> FoundEntity:  # noqa: ANN401 - a row
    return FoundEntity(
        name=row.name, type=row.type, description=row.description, value=row.value,
        confidence=row.sure,
    )  # fmt: skip


async def choose(write: JobWrite, task_id: str, kept: int) -> tuple[KeptEntity, ...]:
    """Make attempt `kept` what the task found, its holes filled from the other attempts.

    The task's entities are set to that, and evidence counts where it is for one of them. Nothing
    changes where `kept` left nothing behind.
    """
    known = await _attempts(write, task_id)
    if kept not in {each.attempt for each in known}:
        return ()
    chosen = merged(kept, known)
    await _set_entities(write, task_id, chosen)
    is_kept = attempt_results.c.attempt == kept
    mine = (attempt_results.c.job_id == write.job_id, attempt_results.c.task_id == task_id)
    await write.connection.execute(update(attempt_results).where(*mine).values(is_kept=is_kept))
    confidence = next(each.confidence for each in known if each.attempt == kept)
    await write.connection.execute(
        update(tasks)
        .where(tasks.c.job_id == write.job_id, tasks.c.id == task_id)
        .values(confidence=confidence)
    )
    await _weigh_evidence(write, task_id, kept, chosen)
    return chosen


async def _attempts(write: JobWrite, task_id: str) -> list[AttemptResult]:
    query = (
        select(attempt_results)
        .where(attempt_results.c.job_id == write.job_id, attempt_results.c.task_id == task_id)
        .order_by(attempt_results.c.attempt)
    )
    rows = (await write.connection.execute(query)).all()
    return [
        AttemptResult(
            attempt=row.attempt,
            entities=tuple(FoundEntity.model_validate(each) for each in row.entities),
            confidence=row.confidence,
            is_kept=row.is_kept,
        )
        for row in rows
    ]


async def _set_entities(write: JobWrite, task_id: str, chosen: Iterable[KeptEntity]) -> None:
    mine = (entities.c.job_id == write.job_id, entities.c.task_id == task_id)
    await write.connection.execute(delete(entities).where(*mine))
    place = {"job_id": write.job_id, "task_id": task_id}
    rows = [place | each.entity.model_dump(mode="json") for each in chosen]
    if rows:
        await write.connection.execute(insert(entities), rows)


async def _weigh_evidence(
    write: JobWrite, task_id: str, kept: int, chosen: Sequence[KeptEntity]
) -> None:
    """Evidence for what counts is active, the rest superseded; what was retracted stays so."""
    seen = await _evidence(write, task_id)
    counting = [each.id for each in seen if supports(each, kept, chosen)]
    for status, other, names in (
        ("active", "superseded", counting),
        ("superseded", "active", [each.id for each in seen if each.id not in set(counting)]),
    ):
        await write.connection.execute(
            update(evidence)
            .where(evidence.c.id.in_(names), evidence.c.status == other)
            .values(status=status)
        )


async def _evidence(write: JobWrite, task_id: str) -> list[SeenEvidence]:
    """The evidence of a task and of the steps of all its attempts."""
    step, parent = tasks.alias("step"), tasks.alias("parent")
    of_attempt = func.coalesce(step.c.notes[OF_ATTEMPT].as_integer(), parent.c.attempt)
    query = (
        select(
            evidence.c.id, evidence.c.task_id, evidence.c.entity, evidence.c.attempt,
            entities.c.value, of_attempt.label("of_attempt"),
        )
        .join(step, (step.c.job_id == evidence.c.job_id) & (step.c.id == evidence.c.task_id))
        .join(parent, (parent.c.job_id == evidence.c.job_id) & (parent.c.id == task_id))
        .outerjoin(entities, IS_SHOWN)
        .where(evidence.c.job_id == write.job_id)
        .where((step.c.id == task_id) | (step.c.parent == task_id))
        .order_by(evidence.c.id)
    )  # fmt: skip
    rows = (await write.connection.execute(query)).all()
    return [
        SeenEvidence(
            id=row.id,
            attempt=row.attempt if row.task_id == task_id else row.of_attempt,
            entity=row.entity,
            value=row.value,
            is_of_step=row.task_id != task_id,
        )
        for row in rows
    ]
