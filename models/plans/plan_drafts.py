"""Define the plan drafts that models write.

The common subset of JSON Schema that endpoints enforce has no free dicts and no recursion, so a
draft is narrower than `models.plans.research_plan.Task`. The names of KPI-Chain's Listing 1 are
read as well.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, TypeVar

from pydantic import (
    AliasChoices,
    BeforeValidator,
    Field,
    JsonValue,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from holdfast.models.answer_draft import AS_JSON_TEXT, Draft, DraftValue
from holdfast.models.plans.research_plan import (
    FINDINGS_ENTITY,
    FIRST_QUERIES,
    MAX_TASKS,
    OPENING_TASK,
    EntityType,
    ExpectedEntity,
    Plan,
    Task,
    TaskInput,
    TaskKind,
)
from holdfast.models.text.meant_ids import meant_id
from holdfast.models.text.reference_marks import has_reference

_TaskT = TypeVar("_TaskT")
_DRAFTED = (TaskKind.TOOL, TaskKind.REASONING)
_KINDS = {"tool call": "tool", "toolcall": "tool", "tool_call": "tool"}
_TYPES = {
    "str": "string",
    "text": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "list": "array",
    "object": "dict",
    "date": "string",
}


def _kind(value: object) -> TaskKind:
    text = str(getattr(value, "value", value)).strip().lower()
    kind = next((kind for kind in _DRAFTED if kind.value == _KINDS.get(text, text)), None)
    if kind is None:
        raise PydanticCustomError("kind", "Input should be 'tool' or 'reasoning'")
    return kind


def _type(value: object) -> object:
    text = str(getattr(value, "value", value)).strip().lower()
    return _TYPES.get(text, text)


def _no_more_than_a_plan_takes(value: object) -> object:
    """The list as it is; checked before its tasks are read, because each could have faults."""
    if isinstance(value, list) and len(value) > MAX_TASKS:
        raise PydanticCustomError(
            "tasks", f"the plan has {len(value)} tasks; the limit is {MAX_TASKS}"
        )
    return value


DraftKind = Annotated[
    TaskKind,
    BeforeValidator(_kind),
    WithJsonSchema({"type": "string", "enum": [kind.value for kind in _DRAFTED]}),
]
"""The kind of a tool or reasoning task; agent tasks are drafted as `DraftNode`."""
DraftTasks = Annotated[list[_TaskT], BeforeValidator(_no_more_than_a_plan_takes)]
"""The tasks of a plan, which are refused unread if they are too many."""
DraftType = Annotated[EntityType, BeforeValidator(_type)]


class DraftInput(Draft):
    """One parameter of the task."""

    name: str
    type: DraftType = EntityType.STRING
    value: DraftValue = Field(
        description="a literal, or text with <JSON_PATH>task_id.entity</JSON_PATH> references; "
        + AS_JSON_TEXT
    )


class DraftExpected(Draft):
    """An entity the task must yield."""

    name: str
    type: DraftType = EntityType.STRING
    description: str = ""
    required: bool = True


class DraftTask(Draft):
    """One task of the plan."""

    id: str = Field(validation_alias=AliasChoices("id", "task_id"))
    kind: DraftKind = Field(validation_alias=AliasChoices("kind", "task_type"))
    description: str = Field(validation_alias=AliasChoices("description", "task_description"))
    tool: str | None = Field(
        default="",
        validation_alias=AliasChoices("tool", "tool_name"),
        description="the tool's name; empty for reasoning",
    )
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
            id=self.id,
            kind=self.kind,
            description=self.description,
            tool=self.tool or "",
            inputs=tuple(task_input(each) for each in self.inputs),
            expects=tuple(ExpectedEntity(**each.model_dump()) for each in self.expects),
            depends_on=tuple(self.depends_on),
            priority=self.priority,
            include_context=self.include_context,
        )


class PlanDraft(Draft):
    """The answer of the planner and the replanner."""

    explanation: str = Field(default="", description="one or two sentences: why this plan")
    tasks: DraftTasks[DraftTask]

    def to_plan(self) -> Plan:
        """The plan it stands for; every task is pending."""
        return _plan_of([task.to_task() for task in self.tasks])


class ContinuationDraft(PlanDraft):
    """The answer of the replanner."""

    keep: list[str] = Field(
        default_factory=list, description="ids in `replaced` of tasks that stay as they are"
    )

    def to_plan(self) -> Plan:
        """The new tasks; ids are read as they stand, since `t1` may be a task that stays."""
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
    first_queries: list[str] = Field(
        default_factory=list,
        validation_alias=AliasChoices("first_queries", "queries"),
        description="what the agent searches for first; may hold references",
    )
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
        found = tuple(ExpectedEntity(**each.model_dump()) for each in self.expects)
        return Task(
            id=self.id,
            kind=TaskKind.AGENT,
            description=self.description,
            agent=self.agent,
            criteria=self.criteria,
            depends_on=tuple(self.depends_on),
            priority=self.priority,
            include_context=self.include_context,
            expects=found or (FINDINGS_ENTITY,),
            inputs=first_query_inputs(self.first_queries),
        )


class AgentPlanDraft(Draft):
    """The answer of the planner and the replanner where plans are made of sub-questions."""

    explanation: str = Field(default="", description="one or two sentences: why this plan")
    tasks: DraftTasks[DraftNode] = Field(validation_alias=AliasChoices("tasks", "sub_questions"))

    def to_plan(self) -> Plan:
        """The plan it stands for; every task is pending."""
        return _plan_of([task.to_task() for task in self.tasks])


class AgentContinuationDraft(AgentPlanDraft):
    """The answer of the replanner where plans are made of sub-questions."""

    keep: list[str] = Field(
        default_factory=list, description="ids in `replaced` of sub-questions that stay as they are"
    )

    def to_plan(self) -> Plan:
        """The new tasks; ids are read as they stand, since `t1` may be a task that stays."""
        return Plan(tasks=tuple(task.to_task() for task in self.tasks))


def _plan_of(tasks: Sequence[Task]) -> Plan:
    """The plan of these tasks; `t1` among the dependencies is T1 if there is no other t1."""
    ids = [OPENING_TASK, *(task.id for task in tasks)]
    needs = ({"depends_on": tuple(meant_id(each, ids) for each in t.depends_on)} for t in tasks)
    return Plan(tasks=tuple(t.model_copy(update=new) for t, new in zip(tasks, needs, strict=True)))


def task_input(draft: DraftInput) -> TaskInput:
    """The input it stands for."""
    return TaskInput(
        name=draft.name,
        type=draft.type,
        value=draft.value,
        is_reference=has_reference(draft.value),
    )


def first_query_inputs(queries: Iterable[str]) -> tuple[TaskInput, ...]:
    """The input with the searches that an agent begins with; none without a query."""
    told: list[JsonValue] = [each for each in queries if each.strip()]
    if not told:
        return ()
    return (task_input(DraftInput(name=FIRST_QUERIES, type=EntityType.ARRAY, value=told)),)
