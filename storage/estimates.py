"""What a job was to take: told from the installation's own calls, kept when its plan is stored."""

import json
from datetime import datetime

from sqlalchemy import select

from models.base import Frozen
from models.estimates import Estimate
from models.jobs import JobRequest
from models.plan import Plan
from models.prices import Prices
from models.spending import Tokens
from models.tables import jobs, plan_revisions
from planning.estimates import estimate
from planning.spending import breakdown
from storage.database import Database, JobWrite
from storage.spending import bills_of
from storage.typical import typical_work


class Told(Frozen):
    """An estimate, and when the plan was stored that it is of."""

    estimate: Estimate
    at: datetime


async def estimate_of(
    db: Database, job_id: str, request: JobRequest, plan: Plan, prices: Prices
) -> Estimate:
    """What the plan's waiting tasks would take, and what the job has spent so far."""
    typical = await typical_work(db, request.model)
    async with db.reading() as connection:
        spent = breakdown(await bills_of(connection, job_id)).total
    price = prices.of(request.model)
    verifier = request.strategy.verifier_model
    return estimate(
        plan,
        request.strategy,
        typical,
        Tokens(input=spent.input_tokens, output=spent.output_tokens),
        pricing={"": price, "verifier": prices.of(verifier) if verifier else price},
        spent_cost=spent.cost,
    )


async def keep_estimate(write: JobWrite, told: Estimate) -> None:
    """Store it on the job, with the plan; what follows from the rest of it is left out."""
    derived = set(Estimate.model_computed_fields)
    await write.set(estimate=told.model_dump(mode="json", exclude=derived))


async def kept_estimate(db: Database, job_id: str) -> Told | None:
    """The estimate that was stored with the job's first plan, if there was one."""
    first = (plan_revisions.c.job_id == jobs.c.id) & (plan_revisions.c.revision == 1)
    query = (
        select(jobs.c.estimate, plan_revisions.c.created_at)
        .join(plan_revisions, first)
        .where(jobs.c.id == job_id, jobs.c.estimate.is_not(None))
    )
    async with db.reading() as connection:
        row = (await connection.execute(query)).one_or_none()
    if row is None:
        return None
    return Told(estimate=Estimate.model_validate_json(json.dumps(row[0])), at=row[1])
