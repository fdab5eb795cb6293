"""The faults of a drafted plan, in words that its author can act on."""

from collections.abc import Sequence

from pydantic import ValidationError

from models.plan import Plan
from planning.tool_names import with_full_tool_names
from planning.validation import Ground, plan_faults
from roles.drafts import GraphDraft, PlanDraft


def draft_faults(draft: PlanDraft | GraphDraft | Plan, ground: Ground) -> Sequence[str]:
    """What is wrong with the draft where it is to stand; nothing when it may run."""
    try:
        plan = draft if isinstance(draft, Plan) else draft.to_plan()
    except ValidationError as error:
        return [f"{each['loc']}: {each['msg']}" for each in error.errors(include_url=False)]
    return plan_faults(with_full_tool_names(plan, ground.tools), ground)
