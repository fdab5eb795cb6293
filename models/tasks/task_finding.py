"""Define the finding of a task's present attempt, with the passages that support the finding."""

from collections.abc import Mapping
from datetime import datetime

from pydantic import Field, JsonValue

from holdfast.models.frozen_model import Frozen
from holdfast.models.tasks.attempt_results import EntityValue


class QuotedPassage(Frozen):
    """A quote that supports a result, with its source and time."""

    entity: str = ""
    quote: str
    title: str
    address: str
    published: str = ""
    """The date as the tool reported it, ISO 8601; empty if unknown."""
    read_at: datetime | None = None


class TaskFinding(Frozen):
    """A task's result for verification, without earlier attempts."""

    entities: tuple[EntityValue, ...] = ()
    passages: tuple[QuotedPassage, ...] = ()
    tools: frozenset[str] = frozenset()
    """The tools that the task or its steps called, in any attempt."""
    notes: Mapping[str, JsonValue] = Field(default_factory=dict)

    @property
    def tie_breaker_for(self) -> tuple[str, ...]:
        """Return the tasks whose contradiction this tie-breaker decides; empty for other tasks."""
        names = self.notes.get("tie_breaker_for")
        return tuple(str(each) for each in names) if isinstance(names, list) else ()
