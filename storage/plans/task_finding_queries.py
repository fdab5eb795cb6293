"""Load the entities, quotes and tools of the current attempt at each task of the plan."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, and_, case, func, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from holdfast.models.evidence.evidence import EvidenceStatus
from holdfast.models.plans.research_plan import TaskKind
from holdfast.models.tasks.attempt_results import EntityValue
from holdfast.models.tasks.task_finding import QuotedPassage, TaskFinding
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.evidence_tables import entities, evidence, sources
from holdfast.storage.core.tables.plan_tables import attempt_results, tasks
from holdfast.storage.plans.task_queries import AGENT_ATTEMPT_NOTE

_MOST_PASSAGES = 12
_LONGEST_QUOTE = 600


async def findings_of(db: Database, job_id: str) -> Mapping[str, TaskFinding]:
    """Return the findings of the current attempt at each task of the plan."""
    async with db.reading() as connection:
        rows = await _tasks(connection, job_id)
        values = await _values(connection, job_id)
        passages = await _passages(connection, job_id)
        tools = await _tools(connection, job_id)
    return {
        row.id: TaskFinding(
            entities=_entities(row, values.get(row.id, ())),
            passages=tuple(passages.get(row.id, ())[:_MOST_PASSAGES]),
            tools=tools.get(row.id, frozenset()),
            notes=row.notes or {},
        )
        for row in rows
    }


async def _tasks(connection: AsyncConnection, job_id: str) -> list[Any]:
    """Return the plan's tasks with the stored result of their current attempt, if there is one."""
    query = (
        select(tasks.c.id, tasks.c.kind, tasks.c.attempt, tasks.c.notes, attempt_results.c.entities)
        .outerjoin(
            attempt_results,
            and_(
                attempt_results.c.job_id == tasks.c.job_id,
                attempt_results.c.task_id == tasks.c.id,
                attempt_results.c.attempt == tasks.c.attempt,
            ),
        )
        .where(tasks.c.job_id == job_id, tasks.c.parent == "")
        .order_by(tasks.c.position)
    )
    return list((await connection.execute(query)).all())


def _entities(row: Any, current: tuple[EntityValue, ...]) -> tuple[EntityValue, ...]:  # noqa: ANN401 - a row
    if row.entities is not None:
        return tuple(EntityValue.model_validate(each) for each in row.entities)
    # A later attempt of an agent has no result yet: the entities are those of earlier attempts.
    is_older = row.kind == TaskKind.AGENT.value and row.attempt > 1
    return () if is_older else current


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


async def _passages(connection: AsyncConnection, job_id: str) -> dict[str, list[QuotedPassage]]:
    """Return quotes by task of the plan; quotes of steps count as their agent's."""
    owner = case((tasks.c.parent == "", tasks.c.id), else_=tasks.c.parent).label("owner")
    query = (
        select(
            owner,
            evidence.c.entity,
            evidence.c.quote,
            sources.c.title,
            sources.c.address,
            sources.c.fetched_at,
            sources.c.published,
        )
        .join(tasks, and_(tasks.c.job_id == evidence.c.job_id, tasks.c.id == evidence.c.task_id))
        .join(sources, sources.c.id == evidence.c.source_id)
        .where(evidence.c.job_id == job_id, is_of_present_attempt())
        .where(evidence.c.status == EvidenceStatus.ACTIVE.value)
        .order_by(evidence.c.id)
    )
    found: defaultdict[str, list[QuotedPassage]] = defaultdict(list)
    for row in (await connection.execute(query)).all():
        found[row.owner].append(
            QuotedPassage(
                entity=row.entity,
                quote=row.quote[:_LONGEST_QUOTE],
                title=row.title,
                address=row.address,
                published=row.published,
                read_at=row.fetched_at,
            )
        )
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
