"""Find plans of answered jobs with similar questions, as examples for the planner."""

from collections.abc import Iterable
from itertools import groupby

from sqlalchemy import select, text

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


class SimilarPlan(Frozen):
    """An answered question and its plan, without results."""

    job_id: str
    question: str
    plan: Plan


async def find_similar_plans(
    db: Database, job_id: str, request: JobRequest, limit: int
) -> tuple[SimilarPlan, ...]:
    """Return plans that answered similar questions, the most similar question first.

    Each plan has its done tasks with their ids. A plan with a task that depends on an unfinished
    task is left out, so there may be fewer than `limit`.
    """
    asked = {
        "job_id": job_id,
        "question": storable_text(request.question[:_MOST_CHARACTERS]),
        "owner": request.owner,
        "extraction": request.strategy.extraction,
        "limit": limit,
    }
    async with db.reading() as connection:
        found = (await connection.execute(SIMILAR_QUESTIONS, asked)).all()
        of_these = tasks.c.job_id.in_([row.id for row in found])
        # Steps are left out: planners write the tasks of the plan.
        is_planned = (tasks.c.status == TaskStatus.DONE.value) & (tasks.c.parent == "")
        query = select(tasks).where(of_these, is_planned)
        rows = (await connection.execute(query.order_by(tasks.c.job_id, tasks.c.position))).all()
    worked = {
        name: Plan(tasks=tuple(task_from_row(row) for row in group))
        for name, group in groupby(rows, key=lambda row: row.job_id)
    }
    return tuple(
        SimilarPlan(job_id=row.id, question=row.question, plan=worked[row.id])
        for row in found
        if row.id in worked and _is_whole(worked[row.id])
    )


def _is_whole(plan: Plan) -> bool:
    needed: Iterable[str] = (name for task in plan.tasks for name in task.depends_on)
    return all(name in plan.by_id for name in needed)
