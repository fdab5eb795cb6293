"""Step planner role: plan the steps of one agent task, set and repair its objectives.

Task-Decoupled Planning (docs/method.md): the planner gets the specification of its agent task, the
results of the tasks it depends on, and the agent's own steps; never the global history.
"""

from pydantic import Field

from holdfast.models.answer_draft import Draft
from holdfast.models.plans.plan_drafts import PlanDraft
from holdfast.models.tasks.agent_role_task import AgentRoleTask, SupervisorTask
from holdfast.models.wire.role_names import RoleName
from holdfast.roles.agents.sub_question_fields import SUB_QUESTION_FIELDS
from holdfast.roles.dialogue.role_definition import Role
from holdfast.roles.planning.planner import TASK_INSTRUCTIONS

STEP_INSTRUCTIONS = """\
- Ids begin with the sub-question's own: the steps of T3 are T3.1, T3.2 and so on, and a reference
  to one is <JSON_PATH>T3.1.name</JSON_PATH>.
- What is in `given` may be written into values as it stands there.
- The last task yields exactly the entities in `expects`, with these names and types, from the
  entities it takes as inputs. A single call that finds them all may be the only task.
"""

STEP_PLANNER = Role(
    name=RoleName.STEP_PLANNER.value,
    instructions=(
        "You are an agent that works one sub-question. Answer with all the steps, calls of your\n"
        "`tools` and deductions, that will resolve it. Where there is a `trace`, those steps were\n"
        "taken: continue behind them, with ids that are not in `used_ids`, and follow\n"
        "`guidance`.\n" + SUB_QUESTION_FIELDS + "\n" + TASK_INSTRUCTIONS + STEP_INSTRUCTIONS
    ),
    foreign_fields=("collection", "given", "tools", "trace", "earlier", "answers", "hints"),
    task=AgentRoleTask,
    answer=PlanDraft,
)


class Objectives(Draft):
    """What an agent means to reach, one after the other."""

    objectives: list[str] = Field(description="two to five, each a state of knowledge to reach")


OBJECTIVES = Role(
    name=RoleName.OBJECTIVES.value,
    instructions=(
        """\
You are an agent that works one sub-question, one call at a time. Before the first call, write down
the intermediate objectives: two to five states of knowledge to reach with your `tools`, in order,
each of which can be checked. Do not choose calls yet.
"""
        + SUB_QUESTION_FIELDS
    ),
    foreign_fields=("collection", "given", "tools", "trace", "earlier", "answers", "hints"),
    task=SupervisorTask,
    answer=Objectives,
)

REPAIRER = Role(
    name=RoleName.REPAIRER.value,
    instructions=(
        """\
You are an agent that works one sub-question, one call at a time. What was observed conflicts with
your `objectives`: `deviation` says how. Write the objectives that lead from here to the end, given
the `trace` of the steps so far: keep what was reached, drop what cannot be, find another way with
your `tools`. Only this sub-question is yours to change.
"""
        + SUB_QUESTION_FIELDS
    ),
    foreign_fields=(
        "collection",
        "given",
        "tools",
        "trace",
        "earlier",
        "deviation",
        "answers",
        "hints",
    ),
    task=SupervisorTask,
    answer=Objectives,
)
