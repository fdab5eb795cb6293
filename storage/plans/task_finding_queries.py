"""Load the entities, quotes and tools of each task of the plan, over all its attempts."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, and_, case, func, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from holdfast.models.evidence.evidence import EvidenceStatus
from holdfast.models.plans.research_plan import TaskKind
from holdfast.models.tasks.attempt_results import (
    AttemptEvidence,
    AttemptResult,
    EntityValue,
    KeptEntity,
)
from holdfast.models.tasks.task_finding import QuotedPassage, TaskFinding
from holdfast.planning.results.attempt_merge import is_evidence_for_kept, merge_attempts
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.evidence_tables import entities, evidence, sources
from holdfast.storage.core.tables.plan_tables import attempt_results, tasks
from holdfast.storage.evidence.evidence_rows import ENTITY_OF_EVIDENCE
from holdfast.storage.plans.task_queries import AGENT_ATTEMPT_NOTE

_MOST_PASSAGES = 12
_LONGEST_QUOTE = 600


class _SeenPassage(NamedTuple):
    """A quote, with the attempt and the value that it shows."""

    key: AttemptEvidence
    passage: QuotedPassage


async def findings_of(db: Database, job_id: str) -> Mapping[str, TaskFinding]:
    """Return the finding of each task of the plan.

    The present attempt counts, and what it lacks is taken from earlier attempts, with the quotes:
    so the verifier judges what the task's result will be.
    """
    async with db.reading() as connection:
        rows = await _tasks(connection, job_id)
        results = await _attempt_results(connection, job_id)
        values = await _values(connection, job_id)
        passages = await _passages(connection, job_id)
        tools = await _tools(connection, job_id)
    found = {}
    for row in rows:
        seen = passages.get(row.id, ())
        chosen = _merged(row, results.get(row.id, ()), values.get(row.id, ()), seen)
        found[row.id] = TaskFinding(
            entities=tuple(each.entity for each in chosen),
            passages=_supporting(row.attempt, chosen, seen),
            tools=tools.get(row.id, frozenset()),
            notes=row.notes or {},
        )
    return found


async def _tasks(connection: AsyncConnection, job_id: str) -> list[Any]:
    query = (
        select(tasks.c.id, tasks.c.kind, tasks.c.attempt, tasks.c.notes)
        .where(tasks.c.job_id == job_id, tasks.c.parent == "")
        .order_by(tasks.c.position)
    )
    return list((await connection.execute(query)).all())


async def _attempt_results(
    connection: AsyncConnection, job_id: str
) -> dict[str, tuple[AttemptResult, ...]]:
    query = (
        select(attempt_results.c.task_id, attempt_results.c.attempt, attempt_results.c.entities)
        .where(attempt_results.c.job_id == job_id)
        .order_by(attempt_results.c.task_id, attempt_results.c.attempt)
    )
    found: defaultdict[str, tuple[AttemptResult, ...]] = defaultdict(tuple)
    for row in (await connection.execute(query)).all():
        entities_ = tuple(EntityValue.model_validate(each) for each in row.entities)
        result = AttemptResult(attempt=row.attempt, entities=entities_)
        found[row.task_id] = (*found[row.task_id], result)
    return found


def _merged(
    row: Any,  # noqa: ANN401 - a row
    results: Sequence[AttemptResult],
    current: tuple[EntityValue, ...],
    seen: Sequence[_SeenPassage],
) -> tuple[KeptEntity, ...]:
    """Return the entities of the present attempt, completed from the attempts before it."""
    known = [each for each in results if each.attempt <= row.attempt]
    # A later attempt of an agent without a result: the entities are those of earlier attempts.
    is_older = row.kind == TaskKind.AGENT.value and row.attempt > 1
    if not is_older and row.attempt not in {each.attempt for each in known}:
        known.append(AttemptResult(attempt=row.attempt, entities=current))
    return merge_attempts(row.attempt, known, [each.key for each in seen])


def _supporting(
    attempt: int, chosen: Sequence[KeptEntity], seen: Sequence[_SeenPassage]
) -> tuple[QuotedPassage, ...]:
    """Return the quotes of the present attempt, then those of values from earlier attempts."""
    counting = [
        each
        for each in seen
        if each.key.attempt == attempt or is_evidence_for_kept(each.key, attempt, chosen)
    ]
    counting.sort(key=lambda each: each.key.attempt != attempt)
    return tuple(each.passage for each in counting[:_MOST_PASSAGES])


async def _values(connection: AsyncConnection, job_id: str) -> dict[str, tuple[EntityValue, ...]]:
    names = EntityValue.model_fields
    query = (
        select(entities.c.task_id, *(entities.c[name] for name in names))
        .where(entities.c.job_id == job_id)
        .order_by(entities.c.task_id, entities.c.name)
    )
    found: defaultdict[str, tuple[EntityValue, ...]] = defaultdict(tuple)
    for row in (await connection.execute(query)).mappings().all():
        entity = EntityValue.model_validate({name: row[name] for name in names})
        found[row["task_id"]] = (*found[row["task_id"]], entity)
    return found


async def _passages(connection: AsyncConnection, job_id: str) -> dict[str, list[_SeenPassage]]:
    """Return active quotes by task of the plan; quotes of steps count as their agent's."""
    parent = tasks.alias("parent")
    owner = case((tasks.c.parent == "", tasks.c.id), else_=tasks.c.parent).label("owner")
    of_step = func.coalesce(tasks.c.notes[AGENT_ATTEMPT_NOTE].as_integer(), parent.c.attempt)
    query = (
        select(
            owner,
            evidence.c.id,
            evidence.c.entity,
            evidence.c.quote,
            entities.c.value,
            sources.c.title,
            sources.c.address,
            sources.c.fetched_at,
            sources.c.published,
            (tasks.c.parent != "").label("is_of_step"),
            case((tasks.c.parent == "", evidence.c.attempt), else_=of_step).label("attempt"),
        )
        .join(tasks, and_(tasks.c.job_id == evidence.c.job_id, tasks.c.id == evidence.c.task_id))
        .join(sources, sources.c.id == evidence.c.source_id)
        .outerjoin(parent, and_(parent.c.job_id == tasks.c.job_id, parent.c.id == tasks.c.parent))
        .outerjoin(entities, ENTITY_OF_EVIDENCE)
        .where(evidence.c.job_id == job_id)
        .where(evidence.c.status == EvidenceStatus.ACTIVE.value)
        .order_by(evidence.c.id)
    )
    found: defaultdict[str, list[_SeenPassage]] = defaultdict(list)
    for row in (await connection.execute(query)).all():
        passage = QuotedPassage(
            entity=row.entity,
            quote=row.quote[:_LONGEST_QUOTE],
            title=row.title,
            address=row.address,
            published=row.published,
            read_at=row.fetched_at,
        )
        key = AttemptEvidence(
            id=row.id,
            attempt=row.attempt,
            entity=row.entity,
            value=row.value,
            is_of_step=row.is_of_step,
            quote=row.quote,
        )
        found[row.owner].append(_SeenPassage(key, passage))
    return found


def is_of_present_attempt() -> ColumnElement[bool]:
    """Return the condition that evidence joined with its task is of the task's present attempt."""
    has_later_attempt = func.jsonb_exists(tasks.c.notes, AGENT_ATTEMPT_NOTE)
    return or_(
        and_(tasks.c.parent == "", evidence.c.attempt == tasks.c.attempt),
        and_(tasks.c.parent != "", func.coalesce(has_later_attempt, False).is_(False)),
    )


async def _tools(connection: AsyncConnection, job_id: str) -> dict[str, frozenset[str]]:
    owner = case((tasks.c.parent == "", tasks.c.id), else_=tasks.c.parent).label("owner")
    query = select(owner, tasks.c.tool).where(tasks.c.job_id == job_id, tasks.c.tool != "")
    found: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
    for row in (await connection.execute(query)).all():
        found[row.owner] |= {row.tool}
    return found
