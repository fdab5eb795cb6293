"""A plan as a model writes it: a shape every structured-output endpoint accepts.

The common subset of JSON Schema that endpoints enforce has no free dicts and no recursion, so a
draft is narrower than `models.plan.Task`. The names of KPI-Chain's Listing 1 are read as well.
"""

from typing import Annotated

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from models.plan import FINDINGS, EntityType, Expected, Input, Plan, Task, TaskKind

_SCALARS = [{"type": name} for name in ("string", "number", "integer", "boolean")]
_LISTS = [{"type": "array", "items": {"type": name}} for name in ("string", "number")]
DraftValue = Annotated[JsonValue, WithJsonSchema({"anyOf": [*_SCALARS, *_LISTS, {"type": "null"}]})]
"""Any JSON value is read; the schema names those that strict endpoints can enforce."""

_DRAFTED = (TaskKind.TOOL, TaskKind.REASONING)
_KINDS = {"tool call": "tool", "toolcall": "tool", "tool_call": "tool"}
_TYPES = {
    "str": "string", "text": "string", "int": "integer", "float": "number", "bool": "boolean",
    "list": "array", "object": "dict", "date": "string",
}  # fmt: skip


def _kind(value: object) -> TaskKind:
    text = str(getattr(value, "value", value)).strip().lower()
    kind = next((kind for kind in _DRAFTED if kind.value == _KINDS.get(text, text)), None)
    if kind is None:
        raise PydanticCustomError("kind", "Input should be 'tool' or 'reasoning'")
    return kind


def _type(value: object) -> object:
    text = str(getattr(value, "value", value)).strip().lower()
    return _TYPES.get(text, text)


Kind = Annotated[
    TaskKind,
    BeforeValidator(_kind),
    WithJsonSchema({"type": "string", "enum": [kind.value for kind in _DRAFTED]}),
]
"""Of a call or a deduction; sub-questions are drafted as `DraftNode`."""
Type = Annotated[EntityType, BeforeValidator(_type)]


class Draft(BaseModel):
    """Open to fields nobody asked for: models add some, and they are dropped."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)


class DraftInput(Draft):
    """One parameter of the task."""

    name: str
    type: Type = EntityType.STRING
    value: DraftValue = Field(
        description="a literal, or text with <JSON_PATH>task_id.entity</JSON_PATH> references"
    )


class DraftExpected(Draft):
    """An entity the task must yield."""

    name: str
    type: Type = EntityType.STRING
    description: str = ""
    required: bool = True


class DraftTask(Draft):
    """One task of the plan."""

    id: str = Field(validation_alias=AliasChoices("id", "task_id"))
    kind: Kind = Field(validation_alias=AliasChoices("kind", "task_type"))
    description: str = Field(validation_alias=AliasChoices("description", "task_description"))
    tool: str | None = Field(
        default="", validation_alias=AliasChoices("tool", "tool_name"),
        description="the tool's name; empty for reasoning",
    )  # fmt: skip
    inputs: list[DraftInput] = Field(
        default_factory=list, validation_alias=AliasChoices("inputs", "input_parameters")
    )
    expects: list[DraftExpected] = Field(
        default_factory=list,
        validation_alias=AliasChoices(
            "expects", "expected_output_entities", "expected_output_parameters"
        ),
    )
    depends_on: list[str] = Field(
        default_factory=list, validation_alias=AliasChoices("depends_on", "dependencies")
    )
    priority: int = Field(default=5, description="1 to 10, 10 goes first")
    include_context: bool = Field(
        default=False,
        validation_alias=AliasChoices("include_context", "context_from_deps"),
        description="whether all results of the dependencies are shown to this task",
    )

    def to_task(self) -> Task:
        """The task it stands for, pending.

        Raises:
            pydantic.ValidationError: a value is out of its range.
        """
        return Task(
            id=self.id, kind=self.kind, description=self.description, tool=self.tool or "",
            inputs=tuple(input_of(each) for each in self.inputs),
            expects=tuple(Expected(**each.model_dump()) for each in self.expects),
            depends_on=tuple(self.depends_on), priority=self.priority,
            include_context=self.include_context,
        )  # fmt: skip


class PlanDraft(Draft):
    """The answer of the planner and the replanner."""

    explanation: str = Field(default="", description="one or two sentences: why this plan")
    tasks: list[DraftTask]

    def to_plan(self) -> Plan:
        """The plan it stands for; every task is pending."""
        return Plan(tasks=tuple(task.to_task() for task in self.tasks))


class DraftNode(Draft):
    """A sub-question for an agent (VMAO's sub-question, TDP's node)."""

    id: str = Field(validation_alias=AliasChoices("id", "task_id"))
    description: str = Field(
        validation_alias=AliasChoices("description", "question", "specification")
    )
    agent: str = Field(validation_alias=AliasChoices("agent", "agent_type"))
    criteria: str = Field(
        default="", validation_alias=AliasChoices("criteria", "verification_criteria")
    )
    depends_on: list[str] = Field(
        default_factory=list, validation_alias=AliasChoices("depends_on", "dependencies")
    )
    expects: list[DraftExpected] = Field(default_factory=list)
    priority: int = Field(default=5, description="1 to 10, 10 goes first")
    include_context: bool = Field(
        default=True,
        validation_alias=AliasChoices("include_context", "context_from_deps"),
        description="whether all results of the dependencies are shown to the agent",
    )

    def to_task(self) -> Task:
        """The agent task it stands for, pending.

        Raises:
            pydantic.ValidationError: a value is out of its range.
        """
        found = tuple(Expected(**each.model_dump()) for each in self.expects)
        return Task(
            id=self.id, kind=TaskKind.AGENT, description=self.description, agent=self.agent,
            criteria=self.criteria, depends_on=tuple(self.depends_on), priority=self.priority,
            include_context=self.include_context, expects=found or (FINDINGS,),
        )  # fmt: skip


class GraphDraft(Draft):
    """The answer of the planner and the replanner where plans are made of sub-questions."""

    explanation: str = Field(default="", description="one or two sentences: why this plan")
    tasks: list[DraftNode] = Field(validation_alias=AliasChoices("tasks", "sub_questions"))

    def to_plan(self) -> Plan:
        """The plan it stands for; every task is pending."""
        return Plan(tasks=tuple(task.to_task() for task in self.tasks))


def input_of(draft: DraftInput) -> Input:
    """The input it stands for."""
    is_reference = "<JSON_PATH>" in str(draft.value)
    return Input(name=draft.name, type=draft.type, value=draft.value, is_reference=is_reference)
