"""Define the plan: a graph of tasks with inputs, dependencies and promised entities.

Names are the field's; `models.plans.kpi_chain_format` reads and writes the names of Listing 1 of
KPI-Chain (docs/method.md), which had the idea of stating each task's result as typed entities.
"""

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from functools import cached_property
from typing import Self

from pydantic import Field, JsonValue, field_validator

from holdfast.models.frozen_model import Frozen
from holdfast.models.text.reference_marks import has_reference
from holdfast.models.text.terminal_text import shorten_text

FINAL_ANSWER = "final_answer"
"""The one entity that the last task of every plan yields."""
MAX_TASKS = 500
"""The tasks of the largest plan, and of the largest addition to one."""


class TaskKind(StrEnum):
    """How a task gets its result."""

    TOOL = "tool"
    REASONING = "reasoning"
    AGENT = "agent"
    """An agent task, which an agent resolves in steps."""


class TaskStatus(StrEnum):
    """The status of a task; the last four are final."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    SUPERSEDED = "superseded"
    CANCELLED = "cancelled"

    @property
    def is_open(self) -> bool:
        """True while the task waits or runs."""
        return self in (TaskStatus.PENDING, TaskStatus.RUNNING)

    @property
    def is_final(self) -> bool:
        """True once the task is done, failed, superseded or cancelled."""
        return not self.is_open

    @property
    def has_run(self) -> bool:
        """True if the last attempt came to its end: it is done or failed."""
        return self in (TaskStatus.DONE, TaskStatus.FAILED)

    @property
    def needs_attempt(self) -> bool:
        """True if the task has no result and no running attempt: it is pending or failed."""
        return self in (TaskStatus.PENDING, TaskStatus.FAILED)

    @property
    def is_discarded(self) -> bool:
        """True if the plan does not count the task any more: superseded or cancelled."""
        return self in (TaskStatus.SUPERSEDED, TaskStatus.CANCELLED)


class EntityType(StrEnum):
    """The types an entity can promise; KPI-Chain's four and two narrower numbers."""

    STRING = "string"
    NUMBER = "number"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    ARRAY = "array"
    DICT = "dict"


class TaskInput(Frozen):
    """One parameter of a task: a literal, or text that holds `<JSON_PATH>` references."""

    name: str = Field(min_length=1)
    type: EntityType = EntityType.STRING
    value: JsonValue = None
    is_reference: bool = False

    def with_value(self, value: JsonValue) -> Self:
        return self.model_copy(update={"value": value})

    def with_reference_flag(self) -> Self:
        """Return this input with `is_reference` set if its value holds a reference."""
        return self.model_copy(update={"is_reference": has_reference(self.value)})


class ExpectedEntity(Frozen):
    """A KPI: an entity that the task promises to yield."""

    name: str = Field(min_length=1)
    type: EntityType = EntityType.STRING
    description: str = ""
    required: bool = True


FINDINGS_ENTITY = ExpectedEntity(name="findings", description="what was found out, as an account")
"""The entity of an agent task that promises no values: its findings as text."""

FIRST_QUERIES = "first_queries"
"""The input of an agent task with the searches that its agent begins with, as its plan has them."""
MAX_FIRST_QUERIES = 4
"""The first searches of an agent; a turn of a cited loop has as many."""

OPENING_TASK = "T0"
"""The id of the cited loop that a job begins with; planners number their tasks from T1."""
OPENING_FINDINGS = ExpectedEntity(
    name="proven_sentences", description="what the cited loop proved before the plan was made"
)
"""The entity of the cited loop that a job begins with."""


class Task(Frozen):
    """One task of the plan; `priority` 10 goes first.

    Only tool tasks have a `tool`; only agent tasks have an `agent` (a profile's name). A step of
    the agent task `T3` is `T3.1`, with the `parent` `T3`.
    """

    id: str = Field(min_length=1, max_length=64)
    kind: TaskKind
    description: str
    criteria: str = ""
    tool: str = ""
    agent: str = ""
    parent: str = ""
    inputs: tuple[TaskInput, ...] = ()
    expects: tuple[ExpectedEntity, ...] = ()
    depends_on: tuple[str, ...] = ()
    priority: int = Field(default=5, ge=1, le=10)
    include_context: bool = False
    status: TaskStatus = TaskStatus.PENDING
    result: Mapping[str, JsonValue] = Field(default_factory=dict)

    @field_validator("depends_on")
    @classmethod
    def _once_each(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(names))

    @property
    def is_final(self) -> bool:
        """True if the task yields exactly the final answer."""
        return [entity.name for entity in self.expects] == [FINAL_ANSWER]

    @property
    def is_opening(self) -> bool:
        """True if the task is the cited loop that the job begins with."""
        return self.id == OPENING_TASK and self.expects == (OPENING_FINDINGS,)

    @property
    def answers_whole_question(self) -> bool:
        """True if the task's question is the job's own; else it promises values for other tasks."""
        return self.is_final or self.is_opening

    @property
    def promised_values(self) -> tuple[ExpectedEntity, ...]:
        """Return the entities with a value of their own; none if the result is an account."""
        is_account = [entity.name for entity in self.expects] == [FINDINGS_ENTITY.name]
        return () if is_account or self.answers_whole_question else self.expects

    @property
    def first_queries(self) -> tuple[TaskInput, ...]:
        """Return the input with the searches that an agent begins with; none if it has none."""
        return tuple(each for each in self.inputs if self.agent and each.name == FIRST_QUERIES)

    @property
    def label(self) -> str:
        """The beginning of the description, for the Temporal UI and for lists."""
        return shorten_text(" ".join(self.description.split()), 72)

    def superseded(self) -> Self:
        return self.with_status(TaskStatus.SUPERSEDED)

    def with_status(self, status: TaskStatus) -> Self:
        return self.model_copy(update={"status": status})

    def with_id(self, task_id: str) -> Self:
        return self.model_copy(update={"id": task_id})

    def with_parent(self, parent: str) -> Self:
        return self.model_copy(update={"parent": parent})

    def with_tool(self, tool: str) -> Self:
        return self.model_copy(update={"tool": tool})

    def with_agent(self, agent: str) -> Self:
        return self.model_copy(update={"agent": agent})

    def with_inputs(self, inputs: tuple[TaskInput, ...]) -> Self:
        return self.model_copy(update={"inputs": inputs})

    def with_dependencies(self, names: Iterable[str]) -> Self:
        return self.model_copy(update={"depends_on": tuple(dict.fromkeys(names))})

    def with_description(self, description: str, criteria: str) -> Self:
        return self.model_copy(update={"description": description, "criteria": criteria})

    def without_result(self) -> Self:
        return self.model_copy(update={"result": {}})

    def with_fields(self, values: Mapping[str, JsonValue]) -> Self:
        """Return this task with the fields of a stored plan change.

        Raises:
            pydantic.ValidationError: a name is no field, or a value does not have its type.
        """
        return type(self).model_validate({**self.model_dump(), **values})


class Plan(Frozen):
    """Tasks in the order the planner gave them."""

    tasks: tuple[Task, ...] = ()

    @cached_property
    def by_id(self) -> dict[str, Task]:
        return {task.id: task for task in self.tasks}

    @property
    def live(self) -> tuple[Task, ...]:
        """Return all tasks but the superseded and cancelled ones and their steps."""
        gone = {task.id for task in self.tasks if task.status.is_discarded}
        return tuple(t for t in self.tasks if t.id not in gone and t.parent not in gone)

    @property
    def is_graph(self) -> bool:
        """True if the plan has only agent tasks."""
        return all(task.kind is TaskKind.AGENT for task in self.tasks)

    @property
    def reported_tasks(self) -> tuple[Task, ...]:
        """Return the tasks whose results a report gives or names as gaps, without steps.

        The plan has tasks for what an opening loop left open: the loop counts only where it is
        alone.
        """
        own = tuple(task for task in self.tasks if not task.parent)
        planned = tuple(task for task in own if not task.is_opening)
        return planned or own

    def with_superseded(self, ids: Collection[str]) -> Self:
        """Return this plan with the tasks of these ids superseded."""
        return type(self)(
            tasks=tuple(task.superseded() if task.id in ids else task for task in self.tasks)
        )

    def with_started(self, ids: Collection[str]) -> Self:
        """Return this plan with the pending tasks among `ids` as running.

        The workflow starts a task before a worker has a slot for it, and PostgreSQL learns of the
        start from the worker's first write. Until then the task must not be replaced.
        """
        return type(self)(
            tasks=tuple(
                task.with_status(TaskStatus.RUNNING)
                if task.id in ids and task.status is TaskStatus.PENDING
                else task
                for task in self.tasks
            )
        )

    def of(self, parent: str) -> Self:
        """Return the plan's own tasks, or the steps of one agent task."""
        return type(self)(tasks=tuple(task for task in self.tasks if task.parent == parent))
