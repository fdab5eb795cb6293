"""Load the quotes that show the results of tasks and steps, for agents that build on them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Row, Select, and_, func, or_, select

from holdfast.models.calls.tool_signatures import SourcePassage
from holdfast.models.evidence.evidence import EvidenceStatus
from holdfast.models.plans.research_plan import TaskStatus
from holdfast.models.tasks.agent_role_task import TraceQuote
from holdfast.models.tasks.stored_task import StoredTask
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.evidence_tables import evidence, sources
from holdfast.storage.core.tables.loop_tables import loop_passages
from holdfast.storage.core.tables.plan_tables import tasks
from holdfast.storage.evidence.evidence_rows import load_report
from holdfast.storage.evidence.reading_steps import (
    PASSAGE_OF_EVIDENCE,
    READING_ATTEMPT,
    READING_STEP,
)
from holdfast.storage.evidence.source_passages import PASSAGE_COLUMNS, passage_of_row
from holdfast.storage.plans.task_finding_queries import is_of_present_attempt

_MOST_QUOTES = 60


class GivenQuote(NamedTuple):
    """A quote of another task: `passage.text[start:end]`, and the step that read the passage."""

    passage: SourcePassage
    start: int
    end: int
    step_id: str
    step_attempt: int


async def quotes_of_tasks(db: Database, job_id: str, names: Sequence[str]) -> list[GivenQuote]:
    """Return the active quotes of the present attempts at these tasks, each once.

    They come in the order of the tasks: tasks that ran side by side found theirs in any order.
    """
    query = (
        _quotes(job_id)
        .where(is_of_present_attempt())
        .where(or_(tasks.c.id.in_(names), tasks.c.parent.in_(names)))
    )
    rows = await _rows(db, query)
    return _each_once(sorted(rows, key=lambda row: names.index(row.owner)))


async def quotes_of_earlier_attempts(db: Database, job_id: str, name: str) -> list[GivenQuote]:
    """Return the active quotes of the earlier attempts at this agent task, each once."""
    query = (
        _quotes(job_id)
        .where(or_(tasks.c.id == name, tasks.c.parent == name))
        .where(is_of_present_attempt().is_(False))
    )
    return _each_once(await _rows(db, query))


async def quotes_of_report(db: Database, job_id: str) -> list[GivenQuote]:
    """Return the active quotes that the job's report cites, in the order of their marks.

    None if the job has no report, or was removed.
    """
    report = await load_report(db, job_id)
    cited = [each.evidence_id for each in report.citations] if report else []
    rows = await _rows(db, _quotes(job_id).where(evidence.c.id.in_(cited)))
    return _each_once(sorted(rows, key=lambda row: cited.index(row.evidence_id)))


def _quotes(job_id: str) -> Select[Any]:
    return (
        select(
            evidence.c.id.label("evidence_id"),
            evidence.c.start_char,
            evidence.c.end_char,
            func.coalesce(func.nullif(tasks.c.parent, ""), tasks.c.id).label("owner"),
            READING_STEP,
            READING_ATTEMPT,
            *PASSAGE_COLUMNS,
        )
        .join(tasks, and_(tasks.c.job_id == evidence.c.job_id, tasks.c.id == evidence.c.task_id))
        .join(sources, sources.c.id == evidence.c.source_id)
        .outerjoin(loop_passages, PASSAGE_OF_EVIDENCE)
        .where(evidence.c.job_id == job_id, evidence.c.status == EvidenceStatus.ACTIVE.value)
        .order_by(evidence.c.id)
        .limit(_MOST_QUOTES)
    )


async def _rows(db: Database, query: Select[Any]) -> list[Row[Any]]:
    async with db.reading() as connection:
        return list((await connection.execute(query)).all())


def _each_once(rows: Sequence[Row[Any]]) -> list[GivenQuote]:
    found = {(row.address, row.source_start, row.start_char, row.end_char): row for row in rows}
    return [
        GivenQuote(
            passage=passage_of_row(row),
            start=row.start_char,
            end=row.end_char,
            step_id=row.reading_step,
            step_attempt=row.reading_attempt,
        )
        for row in found.values()
    ]


async def quotes_of_steps(
    db: Database, job_id: str, task_id: str
) -> dict[str, tuple[TraceQuote, ...]]:
    """Return the active quotes of an agent's present steps, by step; the last ones if too many.

    What is judged next is what the last steps found.
    """
    query = (
        select(
            evidence.c.task_id,
            evidence.c.entity,
            evidence.c.quote,
            sources.c.address,
            sources.c.title,
        )
        .join(tasks, and_(tasks.c.job_id == evidence.c.job_id, tasks.c.id == evidence.c.task_id))
        .join(sources, sources.c.id == evidence.c.source_id)
        .where(evidence.c.job_id == job_id, is_of_present_attempt())
        .where(tasks.c.parent == task_id)
        .where(evidence.c.status == EvidenceStatus.ACTIVE.value)
        .order_by(evidence.c.id.desc())
        .limit(_MOST_QUOTES)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).all()
    found: defaultdict[str, dict[tuple[str, str], list[str]]] = defaultdict(dict)
    for row in reversed(rows):
        place = row.quote, row.address or row.title
        found[row.task_id].setdefault(place, []).append(row.entity)
    return {step: tuple(_trace_quotes(quotes)) for step, quotes in found.items()}


def _trace_quotes(quotes: Mapping[tuple[str, str], Sequence[str]]) -> Iterator[TraceQuote]:
    """Each quote once, with the names of all values that it shows."""
    for (quote, source), names in quotes.items():
        yield TraceQuote(name=", ".join(dict.fromkeys(names)), quote=quote, source=source)


async def replaced_tasks_of(db: Database, job_id: str, stored: StoredTask) -> list[str]:
    """Return the earlier tasks of this task's lineage, which it replaces; oldest first."""
    query = (
        select(tasks.c.id)
        .where(tasks.c.job_id == job_id, tasks.c.root == stored.root, tasks.c.parent == "")
        .where(tasks.c.position < stored.position)
        .where(tasks.c.status == TaskStatus.SUPERSEDED.value)
        .order_by(tasks.c.position)
    )
    async with db.reading() as connection:
        return list((await connection.execute(query)).scalars())
