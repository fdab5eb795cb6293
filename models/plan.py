"""The plan: a graph of tasks that promise typed entities.

Names are the field's; `models.listing` reads and writes the names of Listing 1 of KPI-Chain
(seed 000), where the idea of stating each task's result as typed entities comes from.
"""

from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from typing import Self

from pydantic import Field, JsonValue, field_validator

from models.base import Frozen

FINAL_ANSWER = "final_answer"
"""The one entity that the last task of every plan yields."""


class TaskKind(StrEnum):
    """How a task gets its result."""

    TOOL = "tool"
    REASONING = "reasoning"
    AGENT = "agent"
    """A sub-question that opens into steps of its own: a node of the graph."""


class TaskStatus(StrEnum):
    """Where a task stands; the last four are final."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    SUPERSEDED = "superseded"
    CANCELLED = "cancelled"


class EntityType(StrEnum):
    """The types an entity can promise; KPI-Chain's four and two narrower numbers."""

    STRING = "string"
    NUMBER = "number"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    ARRAY = "array"
    DICT = "dict"


class Input(Frozen):
    """One parameter of a task: a literal, or text that holds `<JSON_PATH>` references."""

    name: str = Field(min_length=1)
    type: EntityType = EntityType.STRING
    value: JsonValue = None
    is_reference: bool = False


class Expected(Frozen):
    """A KPI: an entity that the task promises to yield."""

    name: str = Field(min_length=1)
    type: EntityType = EntityType.STRING
    description: str = ""
    required: bool = True


FINDINGS = Expected(name="findings", description="what was found out, as an account")
"""What an agent yields that was not asked for certain values."""


class Task(Frozen):
    """One task of the plan; `priority` 10 goes first.

    `tool` is of tool tasks alone, `agent` (a profile's name) of agent tasks alone. A step of an
    agent task `T3` is `T3.1`, with the `parent` `T3`.
    """

    id: str = Field(min_length=1, max_length=64)
    kind: TaskKind
    description: str
    criteria: str = ""
    tool: str = ""
    agent: str = ""
    parent: str = ""
    inputs: tuple[Input, ...] = ()
    expects: tuple[Expected, ...] = ()
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
        """Whether this task yields exactly the final answer."""
        return [entity.name for entity in self.expects] == [FINAL_ANSWER]


_GONE = (TaskStatus.SUPERSEDED, TaskStatus.CANCELLED)


class Plan(Frozen):
    """Tasks in the order the planner gave them."""

    tasks: tuple[Task, ...] = ()

    @cached_property
    def by_id(self) -> dict[str, Task]:
        return {task.id: task for task in self.tasks}

    @property
    def live(self) -> tuple[Task, ...]:
        """The tasks that still count: all but the superseded and cancelled, and their steps."""
        gone = {task.id for task in self.tasks if task.status in _GONE}
        return tuple(t for t in self.tasks if t.id not in gone and t.parent not in gone)

    @property
    def is_graph(self) -> bool:
        """Whether it is made of sub-questions alone."""
        return all(task.kind is TaskKind.AGENT for task in self.tasks)

    def of(self, parent: str) -> Self:
        """The plan's own tasks, or the steps of one agent."""
        return type(self)(tasks=tuple(task for task in self.tasks if task.parent == parent))
