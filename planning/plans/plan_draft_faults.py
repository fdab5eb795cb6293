"""Return the faults of a drafted plan in words that its author can act on."""

from collections.abc import Sequence

from pydantic import ValidationError

from holdfast.models.plans.plan_drafts import AgentPlanDraft, PlanDraft
from holdfast.models.plans.research_plan import Plan
from holdfast.planning.plans.plan_validation import PlanRules, plan_faults
from holdfast.planning.plans.tool_fitting import fit_to_tools


def draft_faults(draft: PlanDraft | AgentPlanDraft | Plan, ground: PlanRules) -> Sequence[str]:
    """What is wrong with the draft where it is to stand; nothing when it may run."""
    try:
        plan = draft if isinstance(draft, Plan) else draft.to_plan()
    except ValidationError as error:
        return [f"{each['loc']}: {each['msg']}" for each in error.errors(include_url=False)]
    return plan_faults(fit_to_tools(plan, ground.tools, ground.agents), ground)
