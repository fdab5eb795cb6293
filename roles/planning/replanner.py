"""Replanner role: replace a failed task and the tasks that depend on it with new tasks."""

from pydantic import Field

from holdfast.models.loop.loop_handover import LoopFindings
from holdfast.models.plans.plan_drafts import AgentContinuationDraft, ContinuationDraft
from holdfast.models.tasks.replanner_input import ReplannerTask
from holdfast.models.wire.role_names import RoleName
from holdfast.roles.dialogue.role_definition import Role
from holdfast.roles.planning.agent_steps_planner import STEP_INSTRUCTIONS
from holdfast.roles.planning.planner import (
    AGENT_PLAN_INSTRUCTIONS,
    TASK_INSTRUCTIONS,
)

_CONTINUATION_INSTRUCTIONS = """\
First find the cause: `failed_task_id` and `feedback` say what went wrong. Then answer with a
continuation: new tasks that replace those in `replaced` and reach the same end. `collection` says
what can be searched, `today` is the date. Rules for the continuation:
- Finished tasks stay. Take what they found by reference; do not do them again.
- New ids, none from `used_ids`: a task that replaces T2 is T2a, then T2b, and so on.
- Waiting tasks in `replaced` that need no change go into `keep`, by id, and not into `tasks`: what
  they take from a replaced task comes from yours that yields it.
- Change something that matters: nothing fit was found - another query, with words from what was
  learnt, or a more exact description; wrong tool - another tool; a missing value - a task before
  it that finds it; a tool error - another tool or other arguments; a failed deduction - smaller
  steps or more inputs. Do not promise less than was asked for only to pass.
- If the feedback shows that no value exists, and that answers the question, continue with what
  remains and let the last task say so.

"""

_CONCLUSION_INSTRUCTIONS = """\
- If `replaced` holds the task that yields `final_answer`, keep it, or the last of yours yields it,
  and nothing else, from the entities it takes as inputs; it is of kind `reasoning`. Otherwise none
  of yours does.
"""

REPLANNER = Role(
    name=RoleName.REPLANNER.value,
    instructions=(
        "You repair a research plan under way: a task failed. You get the `question`, the `tools`\n"
        "and `current_plan`, with the status and result of each task.\n"
        + _CONTINUATION_INSTRUCTIONS
        + TASK_INSTRUCTIONS
        + _CONCLUSION_INSTRUCTIONS
    ),
    foreign_fields=("collection", "tools", "current_plan", "feedback", "given"),
    task=ReplannerTask,
    answer=ContinuationDraft,
)

STEP_REPLANNER = Role(
    name=RoleName.REPLANNER.value,
    instructions=(
        "You repair the plan of one agent that works one sub-question: a step failed. You get the\n"
        "sub-question as `question`, the agent's `tools`, and its steps as `current_plan`, with\n"
        "the status and result of each.\n"
        + _CONTINUATION_INSTRUCTIONS
        + TASK_INSTRUCTIONS
        + STEP_INSTRUCTIONS
    ),
    foreign_fields=("collection", "tools", "current_plan", "feedback", "given"),
    task=ReplannerTask,
    answer=ContinuationDraft,
)

AGENT_TASK_REPLANNER = Role(
    name=RoleName.REPLANNER.value,
    instructions=(
        """\
You repair a graph of sub-questions that agents work. One failed: `failed_task_id` and `feedback`
say which, and what went wrong. You get the `question`, the `agents`, the documents in the
`collection`, the date (`today`) and `current_plan`, with the status and result of each
sub-question. First find the cause; then answer with new sub-questions in the place of those in
`replaced`: other words, another agent, or smaller questions. Finished ones stay and may be depended
on. New ids, none from `used_ids`: what replaces T2 is T2a. Waiting ones in `replaced` that need no
change go into `keep`, by id, and not into `tasks`. If `replaced` holds the one that yields
`final_answer`, the last of yours, or one that you keep, yields it; otherwise none of yours does.

"""
        + AGENT_PLAN_INSTRUCTIONS
    ),
    foreign_fields=("collection", "tools", "current_plan", "feedback", "given"),
    task=ReplannerTask,
    answer=AgentContinuationDraft,
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
    answer=AgentContinuationDraft,
)
