"""Define the replanner's input: the current plan, the failed task and its failure."""

from pydantic import Field

from holdfast.models.calls.job_setting import Collection, Today
from holdfast.models.calls.prompt_tools import CallableTools
from holdfast.models.calls.release_fields import FromRelease
from holdfast.models.frozen_model import Frozen
from holdfast.models.plans.research_plan import ExpectedEntity
from holdfast.models.plans.shown_plan import ShownPlan
from holdfast.models.strategies.agent_profiles import AgentBrief
from holdfast.models.tasks.named_value import NamedValue


class ReplannerTask(Frozen):
    """What the replanner is given."""

    tools: CallableTools
    agents: FromRelease[tuple[AgentBrief, ...]] = Field(
        default=(), description="who resolves sub-questions, where the plan is made of these"
    )
    collection: Collection = ""
    today: Today = ""
    question: str
    current_plan: ShownPlan = Field(
        description="every task with its status and, when done, the entities it yielded"
    )
    failed_task_id: str
    feedback: str = Field(description="what exactly failed: entities, confidences, reasons, errors")
    replaced: tuple[str, ...] = Field(
        description="the tasks that your continuation replaces: the failed one and what needs it"
    )
    used_ids: tuple[str, ...] = Field(description="ids that are taken")
    expects: tuple[ExpectedEntity, ...] = Field(
        default=(), description="what the last task must yield; where there is none: final_answer"
    )
    given: tuple[NamedValue, ...] = Field(
        default=(), description="what is known from elsewhere and may be used"
    )
    guidance: tuple[str, ...] = Field(
        default=(), description="what the person who asked has said since; heed it"
    )
