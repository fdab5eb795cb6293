"""The replanner: continues a plan from a task that did not keep its promise."""

from pydantic import Field, JsonValue

from models.agents import AgentBrief
from models.base import Frozen
from models.plan import Expected
from models.tools import ToolSignature
from roles.base import Role
from roles.drafts import GraphDraft, PlanDraft
from roles.node_planner import NODE_CLOSING
from roles.planner import GRAPH_RULES, PLAN_RULES, TASK_RULES
from roles.reasoner import Given


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
    agents: tuple[AgentBrief, ...] = Field(
        default=(), description="who resolves sub-questions, where the plan is made of these"
    )
    expects: tuple[Expected, ...] = Field(
        default=(), description="what the last task must yield; where there is none: final_answer"
    )
    given: tuple[Given, ...] = Field(
        default=(), description="what is known from elsewhere and may be used"
    )
    guidance: tuple[str, ...] = Field(
        default=(), description="what the person who asked has said since; heed it"
    )


_CONTINUE = (
    "answer with a continuation: new tasks that replace the ones listed in\n"
    "`replaced` and reach the same end. Rules for the continuation:\n"
    "- Finished tasks stay. Take what they found by reference; do not do them again.\n"
    "- New ids, none from `used_ids`: a task that replaces T2 is T2a, then T2b, and so on.\n"
    "- Change something that matters: nothing fit was found - another query, with words\n"
    "  from what was learnt, or a more exact description; wrong tool - another tool; a\n"
    "  missing value - a task before it that finds it; a tool error - another tool or other\n"
    "  arguments; a failed deduction - smaller steps or more inputs.\n"
    "- If the feedback shows that no value exists, and that answers the question, continue\n"
    "  with what remains and let the last task say so.\n\n"
)

REPLANNER = Role(
    name="replanner",
    instructions=(
        "You repair a research plan that is being worked. A task failed. You get the question,\n"
        "the tools, the plan with what each task yielded, and what exactly went wrong. First\n"
        "find the cause; then " + _CONTINUE + PLAN_RULES
    ),
    foreign=("tools", "current_plan", "feedback", "given"),
    task=ReplannerTask,
    answer=PlanDraft,
)

NODE_REPLANNER = Role(
    name="replanner",
    instructions=(
        "You repair the plan of one agent that works one sub-question. A step failed. You get\n"
        "the sub-question as `question`, the agent's tools, its steps with what each yielded,\n"
        "and what exactly went wrong. First find the cause; then "
        + _CONTINUE
        + TASK_RULES
        + NODE_CLOSING
    ),
    foreign=("tools", "current_plan", "feedback", "given"),
    task=ReplannerTask,
    answer=PlanDraft,
)

GRAPH_REPLANNER = Role(
    name="replanner",
    instructions=(
        "You repair a graph of sub-questions that agents work. One failed. You get the\n"
        "question, the agents, the graph with what each sub-question yielded, and what exactly\n"
        "went wrong. First find the cause; then answer with new sub-questions in the place of\n"
        "those in `replaced`: other words, another agent, or smaller questions. Finished ones\n"
        "stay and may be depended on. New ids, none from `used_ids`: what replaces T2 is T2a.\n"
        "If `replaced` holds the one that yields `final_answer`, so does the last of yours;\n"
        "else none does.\n\n" + GRAPH_RULES
    ),
    foreign=("tools", "current_plan", "feedback", "given"),
    task=ReplannerTask,
    answer=GraphDraft,
)
