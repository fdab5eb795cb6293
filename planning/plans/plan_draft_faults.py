"""Return the faults of a drafted plan in words that its author can act on."""

from collections.abc import Sequence

from pydantic import ValidationError

from holdfast.models.plans.plan_drafts import (
    AgentContinuationDraft,
    AgentPlanDraft,
    ContinuationDraft,
    PlanDraft,
)
from holdfast.models.plans.research_plan import Plan
from holdfast.planning.plans.own_marks import read_own_marks
from holdfast.planning.plans.plan_validation import PlanRules, plan_faults
from holdfast.planning.plans.tool_fitting import fit_to_tools


def draft_faults(
    draft: PlanDraft | AgentPlanDraft | Plan, ground: PlanRules, prompt: str | None = None
) -> Sequence[str]:
    """What is wrong with the draft where it is to stand; nothing when it may run.

    Marks of the author's own are read as references if the `prompt` is given that it answers.
    """
    plan = draft if isinstance(draft, Plan) else draft_as_plan(draft)
    if not isinstance(plan, Plan):
        return plan
    if prompt is not None:
        plan = read_own_marks(plan, prompt)
    return plan_faults(fit_to_tools(plan, ground.tools, ground.agents), ground)


def draft_as_plan(draft: PlanDraft | AgentPlanDraft) -> Plan | Sequence[str]:
    """The plan that the draft stands for, or why its values cannot be used."""
    try:
        return draft.to_plan()
    except ValidationError as error:
        return [f"{each['loc']}: {each['msg']}" for each in error.errors(include_url=False)]


def kept_ids(draft: PlanDraft | AgentPlanDraft) -> Sequence[str]:
    """The ids of the waiting tasks that a continuation keeps."""
    return draft.keep if isinstance(draft, ContinuationDraft | AgentContinuationDraft) else ()
