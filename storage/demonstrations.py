"""Plans that worked: those of earlier answered jobs whose questions are most like this one's."""

from collections.abc import Iterable
from itertools import groupby

from sqlalchemy import select, text

from models.base import Frozen
from models.jobs import JobRequest
from models.plan import Plan, TaskStatus
from models.tables import tasks
from planning.values import storable_text
from storage.database import Database
from storage.plans import task_of

_MOST_CHARACTERS = 2000
"""Of a question that is looked for; what comes later in a long one says little of its plan."""

# Summed rarity (idf, beside the commonest word) of the words that two questions share. Only jobs of
# the same owner: what one user asks is not shown to another. A question counts once, with the plan
# that needed the fewest replans. 30 words, because each costs a scan of the index.
# What the index cannot tell is asked afterwards: beside it, the planner takes the index for dear.
SIMILAR = text("""
with words as materialized (
    select cast(quote_literal(lexeme) as tsquery) as word, row_number() over () as number
    from unnest(to_tsvector('english', :question))
    where strpos(lexeme, '\\') = 0 order by positions[1] limit 30),
found as materialized (
    select number, jobs.id, owner, strategy -> 'extraction' as extraction from words
    join jobs on to_tsvector('english', jobs.question) @@ word
        and status = 'done' and stop_reason = 'answered'),
ours as materialized (
    select id, count(*) over (partition by number) as times from found
    where id <> :job_id and owner = :owner
        and extraction = to_jsonb(cast(:extraction as boolean))),
alike as materialized (
    select id, sum(ln(1 + cast((select max(times) from ours) as float8) / times)) as idf
    from ours group by id order by idf desc limit 1000),
best as (
    select distinct on (md5(question)) id, question, idf, revision, created_at
    from alike join jobs using (id) order by md5(question), revision, created_at desc, id)
select id, question from best
order by idf desc, revision, created_at desc, id limit :limit
""")


class Demonstration(Frozen):
    """A question that was answered, and the plan that answered it, without its results."""

    job_id: str
    question: str
    plan: Plan


async def similar(
    db: Database, job_id: str, request: JobRequest, limit: int
) -> tuple[Demonstration, ...]:
    """The plans that answered questions like this job's, the most similar question first.

    Each holds the tasks that were done, under the ids they had. A plan with a task that waits for
    one that was not done is left out, so there may be fewer than `limit`.
    """
    asked = {
        "job_id": job_id, "question": storable_text(request.question[:_MOST_CHARACTERS]),
        "owner": request.owner, "extraction": request.strategy.extraction, "limit": limit,
    }  # fmt: skip
    async with db.reading() as connection:
        found = (await connection.execute(SIMILAR, asked)).all()
        of_these = tasks.c.job_id.in_([row.id for row in found])
        # An agent's steps are its own affair; the plan is what a planner writes.
        is_planned = (tasks.c.status == TaskStatus.DONE.value) & (tasks.c.parent == "")
        query = select(tasks).where(of_these, is_planned)
        rows = (await connection.execute(query.order_by(tasks.c.job_id, tasks.c.position))).all()
    worked = {
        name: Plan(tasks=tuple(task_of(row) for row in group))
        for name, group in groupby(rows, key=lambda row: row.job_id)
    }
    return tuple(
        Demonstration(job_id=row.id, question=row.question, plan=worked[row.id])
        for row in found
        if row.id in worked and _is_whole(worked[row.id])
    )


def _is_whole(plan: Plan) -> bool:
    needed: Iterable[str] = (name for task in plan.tasks for name in task.depends_on)
    return all(name in plan.by_id for name in needed)
