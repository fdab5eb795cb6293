"""Find the tasks that a continuation replaces, and make the plan change from the continuation."""

from holdfast.models.plans.plan_change import PlanChange
from holdfast.models.plans.plan_change_cause import PlanChangeCause
from holdfast.models.plans.research_plan import Plan
from holdfast.models.strategies.job_strategy import ReplanScope
from holdfast.planning.plans.plan_graph import dependents, known_dependencies


def replaced_tasks(plan: Plan, failed: str, scope: ReplanScope) -> tuple[str, ...]:
    """The tasks that a continuation of `failed` replaces, in plan order.

    `DEPENDENTS`: the failed task and everything that waits for it (KPI-Chain, section 3.5.2).
    `REMAINING`: also all that has not started or has failed (the planning-horizon paper's lazy
    replanning, which plans everything that remains).
    Finished and running tasks are never among them.
    """
    waiting = dependents(known_dependencies(plan), failed)
    chosen = [
        task.id
        for task in plan.live
        if task.id == failed
        or (task.status.needs_attempt and (scope is ReplanScope.REMAINING or task.id in waiting))
    ]
    return tuple(chosen)


def continuation_change(
    plan: Plan, failed: str, continuation: Plan, scope: ReplanScope, explanation: str = ""
) -> PlanChange:
    """Return the change that puts `continuation` in the place of the failed task.

    An empty continuation changes no task: the failed one is given up, and stays as a gap.
    """
    if not continuation.tasks:
        return PlanChange(
            cause=PlanChangeCause.REPLANNED,
            scope=plan.by_id[failed].parent,
            explanation=explanation,
            failed_task=failed,
        )
    return PlanChange(
        cause=PlanChangeCause.REPLANNED,
        scope=plan.by_id[failed].parent,
        added=continuation.tasks,
        superseded=replaced_tasks(plan, failed, scope),
        explanation=explanation,
        failed_task=failed,
    )
