"""Planner role: turn a question and the available tools or agents into a plan."""

from typing import Self

from pydantic import Field

from holdfast.models.calls.job_setting import Collection, Today
from holdfast.models.calls.prompt_tools import CallableTools
from holdfast.models.calls.release_fields import FromRelease
from holdfast.models.frozen_model import Frozen
from holdfast.models.loop.loop_handover import LoopFindings
from holdfast.models.plans.plan_drafts import AgentPlanDraft, PlanDraft
from holdfast.models.plans.research_plan import Plan
from holdfast.models.strategies.agent_profiles import AgentBrief
from holdfast.models.wire.role_names import RoleName
from holdfast.roles.dialogue.role_definition import Role

TASK_INSTRUCTIONS = """\
Each task is of kind `tool` (one call of one tool; entities are then read from its answer) or
`reasoning` (one deduction from its inputs alone). Rules:
- Ids are T1, T2, T3 and so on. `depends_on` lists every task that a value is taken from, and no
  other: the rest run at the same time.
- `inputs` of a `tool` task are exactly the tool's parameters: every required one, none invented,
  names and types as in its signature.
- A value is a literal, or an entity of an earlier task by reference, also inside a text:
  <JSON_PATH>T1.actor_name</JSON_PATH>; of a whole array with [*] at its end.
- `expects` names what the task must find: a snake_case name that says what the value is, a type
  (string, number, integer, boolean, array, dict), and a description precise enough to tell the
  right value from a near miss. A unit that is not known yet, such as a currency, is an entity of
  its own.
- Descriptions are in plain words and use entity names, not references.
- Values hold no knowledge of yours.
- Follow `guidance`: it is from the person who asked.
"""

_TASK_EXAMPLE = """\
Example: T1 finds the `architect` of a tower and its `opening_year`, and then
{"id":"T2","kind":"tool","description":"Find when the architect was born.","tool":"lib.find",
"inputs":[{"name":"query","value":"<JSON_PATH>T1.architect</JSON_PATH> born"}],"expects":[{"name":
"birth_year","type":"integer","description":"the architect's year of birth"}],"depends_on":["T1"]}
{"id":"T3","kind":"reasoning","description":"Give the architect's age at the opening.","inputs":
[{"name":"born","value":"<JSON_PATH>T2.birth_year</JSON_PATH>"},{"name":"opened","value":
"<JSON_PATH>T1.opening_year</JSON_PATH>"}],"expects":[{"name":"final_answer","type":"integer"}],
"depends_on":["T1","T2"]}
"""

PLAN_INSTRUCTIONS = (
    TASK_INSTRUCTIONS
    + """\
- Unless `concludes` is false, the last task is of kind `reasoning` and yields exactly one entity,
  `final_answer`, from the entities it takes as inputs: short, complete, in the form the question
  asks for. Where it is false, no task yields it: a report is written from all of them.
"""
    + _TASK_EXAMPLE
)

AGENT_PLAN_INSTRUCTIONS = """\
Each task is a sub-question that one agent resolves by itself, with several calls of its tools.
- Ids are T1, T2, T3 and so on; three to eight sub-questions do for most questions.
- `description` stands alone: a reader of nothing else knows what to find out. No "as above", no
  "the company", no ids of other tasks.
- `agent` is the agent that fits best. Ask the user's own documents first, or at the
  same time as other places.
- `criteria` says when the answer is complete: which facts, which period, what kind of source.
- `depends_on` names the sub-questions whose results it needs, and no others: the rest run at the
  same time. `include_context` shows these results to the agent.
- `expects` names the values to find: snake_case names, a type (string, number, integer, boolean,
  array, dict), a precise description. Leave it empty if the result is an account.
- `first_queries` are one or two searches to begin with, each of the few words that a page on it
  would use; a found name by reference: "<JSON_PATH>T1.winner</JSON_PATH> tower".
- `priority` is 1 to 10, 10 for what much else waits for.
- Follow `guidance`: it is from the person who asked.
"""

_AGENT_TASK_EXAMPLE = """\
Example of one: {"id":"T2","description":"When did Halm Tower, designed by the winner of the 1920
Vehl competition, open?","agent":"rag","criteria":"The year, from a passage on the tower.",
"expects":[{"name":"opening_year","type":"integer","description":"year in which Halm Tower opened
to the public"}],"first_queries":["Halm Tower opened"],"depends_on":["T1"],"priority":5,
"include_context":true}
"""

CONCLUSION_INSTRUCTIONS = """\
- Unless `concludes` is false, the last sub-question puts the others together: it depends on what
  it needs and expects exactly one entity, `final_answer`: short, complete, in the form the
  question asks for. Where it is false, none does so: a report is written.
"""


class PlanExample(Frozen):
    """An earlier question and its plan, in the planner's own answer format."""

    question: str
    plan: PlanDraft | AgentPlanDraft

    @classmethod
    def of(cls, question: str, plan: Plan) -> Self:
        """The example; `plan` is one of sub-questions alone, or has none."""
        tasks = [task.model_dump(mode="json") for task in plan.tasks]
        form = AgentPlanDraft if plan.is_graph else PlanDraft
        return cls(question=question, plan=form.model_validate({"tasks": tasks}))


class PlannerTask(Frozen):
    """What the planner is given."""

    tools: CallableTools = Field(description="the tools that tasks may call")
    agents: FromRelease[tuple[AgentBrief, ...]] = Field(
        default=(), description="who resolves sub-questions, where the plan is made of these"
    )
    collection: Collection = ""
    today: Today = ""
    question: str
    concludes: bool = Field(
        default=True, description="whether the last task yields `final_answer`; else none does"
    )
    guidance: tuple[str, ...] = Field(
        default=(), description="what the person who asked wants the plan to heed"
    )
    examples: tuple[PlanExample, ...] = Field(
        default=(), description="plans that answered other, similar questions; best first"
    )


class ContinuedPlannerTask(PlannerTask):
    """What the planner is given after a cited loop that did not answer the whole question."""

    found: LoopFindings | None = Field(
        default=None, description="what one agent has proven, tried and left open"
    )


PLANNER = Role(
    name=RoleName.PLANNER.value,
    instructions=(
        "You plan research. You get a `question`, the signatures of `tools`, the documents in\n"
        "the `collection` and the date (`today`), and answer with the complete plan that will\n"
        "find the answer. You do not answer the question yourself. `examples` show how other\n"
        "questions were taken apart; their values belong to those.\n\n" + PLAN_INSTRUCTIONS
    ),
    foreign_fields=("collection", "tools", "examples"),
    task=PlannerTask,
    answer=PlanDraft,
)

AGENT_TASK_PLANNER = Role(
    name=RoleName.PLANNER.value,
    instructions=(
        "You direct research. You get a `question`, the `agents` at hand, the documents in the\n"
        "`collection` and the date (`today`), and answer with the graph of sub-questions that\n"
        "together answer it. You do not answer it yourself. `examples` show how other questions\n"
        "were taken apart.\n\n"
        + AGENT_PLAN_INSTRUCTIONS
        + CONCLUSION_INSTRUCTIONS
        + _AGENT_TASK_EXAMPLE
    ),
    foreign_fields=("collection", "tools", "examples"),
    task=PlannerTask,
    answer=AgentPlanDraft,
)

CONTINUED_PLANNER = Role(
    name=RoleName.PLANNER.value,
    instructions=(
        AGENT_TASK_PLANNER.instructions
        + """
One agent has worked on the question already. `found` has why it stopped, what it proved (`proven`),
what is `open`, its calls (`tried`), and how the other passages that it read begin (`read`).
- Plan only what is `open`. The report already has what is `proven`: plan no task that looks for it
  again. A task that needs it lists the agent's `task` in `depends_on`.
- Do not repeat a call of `tried`: use other words, other documents, or another way round.
- One or two sub-questions are enough for one open link.
- If further searches promise nothing, `tasks` is empty: then the report gives the agent's answer,
  weak link included, and names what is open.
"""
    ),
    foreign_fields=(*AGENT_TASK_PLANNER.foreign_fields, "found"),
    task=ContinuedPlannerTask,
    answer=AgentPlanDraft,
)
