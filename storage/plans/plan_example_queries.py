"""Find plans of answered jobs with similar questions, as examples for the planner."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import TextClause, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.plans.research_plan import Plan, TaskStatus
from holdfast.models.text.storable_text import storable_text
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.plan_tables import tasks
from holdfast.storage.plans.task_queries import task_from_row

_MOST_CHARACTERS = 2000
"""The maximum length of a question in the search; the end of a long one matters little."""

# Summed rarity (idf, relative to the commonest word) of the words that two questions share. Only
# jobs of the same owner: what one user asks is not shown to another. No imported job: a foreign
# bundle must not put text into prompts of other jobs. A question counts once, with
# the plan that needed the fewest replans. 30 words, because each costs a scan of the index.
# Conditions outside the index come afterwards: next to it, PostgreSQL would not use the index.
SIMILAR_QUESTIONS = text("""
with words as materialized (
    select cast(quote_literal(lexeme) as tsquery) as word, row_number() over () as number
    from unnest(to_tsvector('english', :question))
    where strpos(lexeme, '\\') = 0 order by positions[1] limit 30),
found as materialized (
    select number, jobs.id, owner, imported, strategy -> 'extraction' as extraction from words
    join jobs on to_tsvector('english', jobs.question) @@ word
        and status = 'done' and stop_reason = 'answered'),
ours as materialized (
    select id, count(*) over (partition by number) as times from found
    where id <> :job_id and owner = :owner and imported is null
        and extraction = to_jsonb(cast(:extraction as boolean))),
alike as materialized (
    select id, sum(ln(1 + cast((select max(times) from ours) as float8) / times)) as idf
    from ours group by id order by idf desc limit 1000),
best as (
    select distinct on (md5(question)) id, question, idf, plan_changes, created_at
    from alike join jobs using (id) order by md5(question), plan_changes, created_at desc, id)
select id, question from best
order by idf desc, plan_changes, created_at desc, id limit :limit
""")

_MOST_BY_WORDS = 50
_LATEST = 200
"""Questions whose meaning is compared, next to those that share a word."""
LATEST_QUESTIONS = text("""
with latest as materialized (
    select id, question, plan_changes, created_at from jobs
    where owner = :owner and imported is null and id <> :job_id
        and status = 'done' and stop_reason = 'answered'
        and strategy -> 'extraction' = to_jsonb(cast(:extraction as boolean))
    order by created_at desc, id limit :limit)
select distinct on (md5(question)) id, question from latest
order by md5(question), plan_changes, created_at desc, id
""")

OrderByMeaning: TypeAlias = Callable[[Sequence[str]], Awaitable[Sequence[int] | None]]
"""Gives the places of questions, the most similar first; None if that is not known."""


class SimilarPlan(Frozen):
    """An answered question and its plan, without results."""

    job_id: str
    question: str
    plan: Plan


class _Answered(NamedTuple):
    id: str
    question: str


async def find_similar_plans(
    db: Database,
    job_id: str,
    request: JobRequest,
    limit: int,
    by_meaning: OrderByMeaning | None = None,
) -> tuple[SimilarPlan, ...]:
    """Return plans that answered similar questions, the most similar question first.

    Each plan has its done tasks with their ids. A plan with a task that depends on an unfinished
    task is left out, so there may be fewer than `limit`. With `by_meaning` the questions that share
    a word and the latest ones are ordered by it; it is not asked if there is no question.
    """
    asked = {
        "job_id": job_id,
        "question": storable_text(request.question[:_MOST_CHARACTERS]),
        "owner": request.owner,
        "extraction": request.strategy.extraction,
    }
    async with db.reading() as connection:
        most = max(limit, _MOST_BY_WORDS) if by_meaning else limit
        found = await _answered(connection, SIMILAR_QUESTIONS, asked | {"limit": most})
        if by_meaning is not None:
            latest = await _answered(connection, LATEST_QUESTIONS, asked | {"limit": _LATEST})
            by_question = {each.question: each for each in (*latest, *found)}
            others = [each for each in by_question.values() if each not in found]
    if by_meaning is not None and (either := [*found, *others]):
        # Outside the transaction: a model may take seconds.
        places = await by_meaning([each.question[:_MOST_CHARACTERS] for each in either])
        found = found if places is None else [either[place] for place in places]
    return await _plans_of(db, found[:limit])


async def _answered(
    connection: AsyncConnection, statement: TextClause, asked: dict[str, Any]
) -> list[_Answered]:
    return [_Answered(*row) for row in (await connection.execute(statement, asked)).all()]


async def _plans_of(db: Database, found: Sequence[_Answered]) -> tuple[SimilarPlan, ...]:
    of_these = tasks.c.job_id.in_([each.id for each in found])
    # Steps are left out: planners write the tasks of the plan.
    is_planned = (tasks.c.status == TaskStatus.DONE.value) & (tasks.c.parent == "")
    query = select(tasks).where(of_these, is_planned).order_by(tasks.c.job_id, tasks.c.position)
    async with db.reading() as connection:
        rows = (await connection.execute(query)).all()
    worked = {
        name: Plan(tasks=tuple(task_from_row(row) for row in group))
        for name, group in groupby(rows, key=lambda row: row.job_id)
    }
    return tuple(
        SimilarPlan(job_id=each.id, question=each.question, plan=worked[each.id])
        for each in found
        if each.id in worked and _is_whole(worked[each.id])
    )


def _is_whole(plan: Plan) -> bool:
    needed: Iterable[str] = (name for task in plan.tasks for name in task.depends_on)
    return all(name in plan.by_id for name in needed)
