"""Estimate what a plan will cost, and store the estimate with the plan and its edits."""

import json
from datetime import datetime

from sqlalchemy import func, or_, select

from holdfast.models.budget.cost_estimates import PlanEstimate
from holdfast.models.budget.spend_breakdown import Tokens
from holdfast.models.budget.token_prices import PriceList
from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.plans.plan_change_cause import PlanChangeCause
from holdfast.models.plans.research_plan import Plan
from holdfast.models.wire.role_names import RoleName
from holdfast.planning.budget.estimate_calculation import estimate_plan
from holdfast.planning.budget.spend_totals import spend_breakdown
from holdfast.storage.core.database import Database, JobTransaction
from holdfast.storage.core.tables.job_tables import jobs
from holdfast.storage.core.tables.plan_tables import plan_changes
from holdfast.storage.ledger.spending_queries import bills_of
from holdfast.storage.ledger.usage_medians import load_usage_medians


class StoredEstimate(Frozen):
    """An estimate, and the time when its plan was stored."""

    estimate: PlanEstimate
    at: datetime


async def estimate_job(
    db: Database, job_id: str, request: JobRequest, plan: Plan, prices: PriceList
) -> PlanEstimate:
    """Return the estimate of the plan's pending tasks, and the job's spend so far."""
    typical = await load_usage_medians(db, request.model)
    async with db.reading() as connection:
        spent = spend_breakdown(await bills_of(connection, job_id)).total
    roles = {role.value: request.strategy.model_of_role(role, request.model) for role in RoleName}
    return estimate_plan(
        plan,
        request.strategy,
        typical,
        Tokens(input=spent.input_tokens, output=spent.output_tokens),
        pricing={role: prices.of(model) for role, model in roles.items()},
        spent_cost=spent.cost,
    )


async def store_estimate(write: JobTransaction, told: PlanEstimate) -> None:
    """Store the estimate on the job; computed fields are left out."""
    derived = set(PlanEstimate.model_computed_fields)
    await write.set(estimate=told.model_dump(mode="json", exclude=derived))


async def load_estimate(db: Database, job_id: str) -> StoredEstimate | None:
    """Return the estimate that was stored with the first plan, or with its last edit; or None.

    An edited plan has an estimate of its own. The time that a plan waits for its editor does not
    count for the edited plan.
    """
    is_estimated = or_(
        plan_changes.c.number == 1, plan_changes.c.cause == PlanChangeCause.EDITED.value
    )
    query = (
        select(jobs.c.estimate, func.max(plan_changes.c.created_at))
        .join(plan_changes, plan_changes.c.job_id == jobs.c.id)
        .where(jobs.c.id == job_id, jobs.c.estimate.is_not(None), is_estimated)
        .group_by(jobs.c.id)
    )
    async with db.reading() as connection:
        row = (await connection.execute(query)).one_or_none()
    if row is None:
        return None
    return StoredEstimate(estimate=PlanEstimate.model_validate_json(json.dumps(row[0])), at=row[1])
