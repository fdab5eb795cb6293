"""Replanner role: replace a failed task and the tasks that depend on it with new tasks."""

from pydantic import Field

from holdfast.models.loop.loop_handover import LoopFindings
from holdfast.models.plans.plan_drafts import AgentPlanDraft, PlanDraft
from holdfast.models.tasks.replanner_input import ReplannerTask
from holdfast.models.wire.role_names import RoleName
from holdfast.roles.dialogue.role_definition import Role
from holdfast.roles.planning.agent_steps_planner import STEP_INSTRUCTIONS
from holdfast.roles.planning.planner import (
    AGENT_PLAN_INSTRUCTIONS,
    TASK_INSTRUCTIONS,
)

_CONTINUATION_INSTRUCTIONS = (
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

_CONCLUSION_INSTRUCTIONS = """\
- If `replaced` holds the task that yields `final_answer`, the last of yours yields it, and nothing
  else, from the entities it takes as inputs; it is of kind `reasoning`. Else none does.
"""

REPLANNER = Role(
    name=RoleName.REPLANNER.value,
    instructions=(
        "You repair a research plan that is being worked. A task failed. You get the question,\n"
        "the tools, the plan with what each task yielded, and what exactly went wrong. First\n"
        "find the cause; then "
        + _CONTINUATION_INSTRUCTIONS
        + TASK_INSTRUCTIONS
        + _CONCLUSION_INSTRUCTIONS
    ),
    foreign_fields=("tools", "current_plan", "feedback", "given"),
    task=ReplannerTask,
    answer=PlanDraft,
)

STEP_REPLANNER = Role(
    name=RoleName.REPLANNER.value,
    instructions=(
        "You repair the plan of one agent that works one sub-question. A step failed. You get\n"
        "the sub-question as `question`, the agent's tools, its steps with what each yielded,\n"
        "and what exactly went wrong. First find the cause; then "
        + _CONTINUATION_INSTRUCTIONS
        + TASK_INSTRUCTIONS
        + STEP_INSTRUCTIONS
    ),
    foreign_fields=("tools", "current_plan", "feedback", "given"),
    task=ReplannerTask,
    answer=PlanDraft,
)

AGENT_TASK_REPLANNER = Role(
    name=RoleName.REPLANNER.value,
    instructions=(
        "You repair a graph of sub-questions that agents work. One failed. You get the\n"
        "question, the agents, the graph with what each sub-question yielded, and what exactly\n"
        "went wrong. First find the cause; then answer with new sub-questions in the place of\n"
        "those in `replaced`: other words, another agent, or smaller questions. Finished ones\n"
        "stay and may be depended on. New ids, none from `used_ids`: what replaces T2 is T2a.\n"
        "If `replaced` holds the one that yields `final_answer`, so does the last of yours;\n"
        "else none does.\n\n" + AGENT_PLAN_INSTRUCTIONS
    ),
    foreign_fields=("tools", "current_plan", "feedback", "given"),
    task=ReplannerTask,
    answer=AgentPlanDraft,
)


class LoopReplannerTask(ReplannerTask):
    """What the replanner is given after an agent failed that worked as a cited loop."""

    found: LoopFindings | None = Field(
        default=None, description="what the agent that failed has proven, tried and left open"
    )


LOOP_TASK_REPLANNER = Role(
    name=RoleName.REPLANNER.value,
    instructions=(
        AGENT_TASK_REPLANNER.instructions
        + """
The agent that failed has left what `found` has: what it proved, what is open, the calls that it
made (`tried`), and how the passages begin that it read without need (`read`). Your sub-questions
get what is `proven` with its quotes: ask for what is `open`, in other words than were `tried`, and
let each sub-question expect every value that is still promised. If further searches promise
nothing, `tasks` is empty: then the report names what is open as not found.
"""
    ),
    foreign_fields=(*AGENT_TASK_REPLANNER.foreign_fields, "found"),
    task=LoopReplannerTask,
    answer=AgentPlanDraft,
)
