"""Stepper role: choose an agent's next tool calls, or end with outputs or a question."""

from pydantic import AliasChoices, Field

from holdfast.models.answer_draft import AS_JSON_TEXT, Confidence, Draft, DraftValue
from holdfast.models.plans.plan_drafts import DraftExpected, DraftInput
from holdfast.models.tasks.agent_role_task import AgentRoleTask
from holdfast.models.wire.role_names import RoleName
from holdfast.roles.agents.sub_question_fields import SUB_QUESTION_FIELDS
from holdfast.roles.dialogue.role_definition import Role


class Output(Draft):
    """A value that the sub-question is to yield."""

    name: str
    value: DraftValue = Field(
        description="the value, or a <JSON_PATH>T1.2.name</JSON_PATH> reference to a step's; "
        + AS_JSON_TEXT
    )
    confidence: Confidence | None = Field(default=None, description="0 to 1")


class DraftCall(Draft):
    """A call to make next."""

    tool: str = Field(validation_alias=AliasChoices("tool", "tool_name", "name"))
    description: str = Field(default="", description="what this call is to find out")
    inputs: list[DraftInput] = Field(
        default_factory=list, validation_alias=AliasChoices("inputs", "input_parameters")
    )
    expects: list[DraftExpected] = Field(
        default_factory=list, description="the values to read out of the answer"
    )


class StepperAnswer(Draft):
    """Exactly one of: calls, outputs, a question, giving up."""

    thought: str = Field(default="", description="what the last observation means; one sentence")
    calls: list[DraftCall] = Field(default_factory=list)
    outputs: list[Output] = Field(default_factory=list)
    question: str = Field(default="", description="what nobody but others can tell; rarely")
    default: str = Field(default="", description="what is assumed if nobody answers the question")
    give_up: str = Field(default="", description="why it cannot be resolved")


STEPPER = Role(
    name=RoleName.STEPPER.value,
    instructions=(
        """\
You are an agent that works one sub-question, one step at a time, with your `tools`. `trace` has the
steps so far and what each found. Answer with exactly one of these, and leave the others empty:
- `calls`: the next call of a tool, or several that do not need each other. `inputs` are exactly
  the tool's parameters; a value is a literal, or takes what a step found by reference:
  <JSON_PATH>T1.2.name</JSON_PATH>. `expects` names the values to read out of the answer.
- `outputs`: the sub-question is resolved. Every entity in `expects` with its name and type, as a
  value or as a reference, and how sure you are. Use only what was found or given.
- `question`: something only the user or another agent can know, and nothing can go on without it;
  with the `default` that is assumed if nobody answers.
- `give_up`: why it cannot be resolved with these tools.
Do not repeat a call of the trace with the same arguments: its answer would be the same. After a
failed step change the query, the tool or the way. `objectives` are what to reach on the way. Follow
`guidance`. If `must_end` is set, no call is possible any more: give the outputs that what was found
supports, or give up.
"""
        + SUB_QUESTION_FIELDS
    ),
    foreign_fields=("collection", "given", "tools", "trace", "earlier", "answers", "hints"),
    task=AgentRoleTask,
    answer=StepperAnswer,
)
