"""Define a task as it is stored, with what only the database knows of it."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from pydantic import Field, JsonValue

from holdfast.models.frozen_model import Frozen
from holdfast.models.plans.research_plan import Plan, Task
from holdfast.models.tasks.task_failure import Failure


class StoredTask(Frozen):
    """A task with its stored state."""

    task: Task
    position: int
    attempt: int
    root: str
    added_by_change: int
    confidence: float | None = None
    failure: Failure | None = None
    notes: Mapping[str, JsonValue] = Field(default_factory=dict)
    """An agent's objectives, hints and guidance."""
    note: str = ""
    """What its call met: replaced arguments, or the same call before; in words."""
    summary: str = ""
    """What the extractor read, in its words."""
    started_at: datetime | None = None
    finished_at: datetime | None = None


def plan_of(stored: Iterable[StoredTask]) -> Plan:
    """The plan that these tasks make up."""
    return Plan(tasks=tuple(each.task for each in stored))
