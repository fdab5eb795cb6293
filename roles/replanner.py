"""The replanner: continues a plan from a task that did not keep its promise."""

from pydantic import Field, JsonValue

from models.base import Frozen
from models.tools import ToolSignature
from roles.base import Role
from roles.drafts import PlanDraft
from roles.planner import PLAN_RULES


class ReplannerTask(Frozen):
    """What the replanner is given."""

    question: str
    tools: tuple[ToolSignature, ...]
    current_plan: tuple[dict[str, JsonValue], ...] = Field(
        description="every task with its status and, when done, the entities it yielded"
    )
    failed_task_id: str
    feedback: str = Field(description="what exactly failed: entities, confidences, reasons, errors")
    replaced: tuple[str, ...] = Field(
        description="the tasks that your continuation replaces: the failed one and what needs it"
    )
    used_ids: tuple[str, ...] = Field(description="ids that are taken")
    guidance: tuple[str, ...] = Field(
        default=(), description="what the person who asked has said since; heed it"
    )


REPLANNER = Role(
    name="replanner",
    instructions=(
        "You repair a research plan that is being worked. A task failed. You get the question,\n"
        "the tools, the plan with what each task yielded, and what exactly went wrong. First find\n"
        "the cause; then answer with a continuation: new tasks that replace the ones listed in\n"
        "`replaced` and reach the same final answer. Rules for the continuation:\n"
        "- Finished tasks stay. Take what they found by reference; do not do them again.\n"
        "- New ids, none from `used_ids`: a task that replaces T2 is T2a, then T2b, and so on.\n"
        "- Change something that matters: nothing fit was found - another query, with words\n"
        "  from what was learnt, or a more exact description; wrong tool - another tool; a\n"
        "  missing value - a task before it that finds it; a tool error - another tool or other\n"
        "  arguments; a failed deduction - smaller steps or more inputs.\n"
        "- If the feedback shows that no value exists, and that answers the question, continue\n"
        "  with what remains and let the final answer say so.\n\n" + PLAN_RULES
    ),
    task=ReplannerTask,
    answer=PlanDraft,
)
