"""What the present attempt at a task found, with the passages it rests on."""

from collections.abc import Mapping
from datetime import datetime

from pydantic import Field, JsonValue

from models.attempts import FoundEntity
from models.base import Frozen


class Passage(Frozen):
    """A quote that a result rests on, with where and when it was read."""

    entity: str = ""
    quote: str
    title: str
    address: str
    published: str = ""
    """As the tool said it, ISO 8601; empty: unknown."""
    read_at: datetime | None = None


class Finding(Frozen):
    """A task's result as it is verified; nothing of earlier attempts."""

    entities: tuple[FoundEntity, ...] = ()
    passages: tuple[Passage, ...] = ()
    tools: frozenset[str] = frozenset()
    """What the task or its steps called, in any attempt."""
    notes: Mapping[str, JsonValue] = Field(default_factory=dict)

    @property
    def settles(self) -> tuple[str, ...]:
        """The tasks whose contradiction it looks into; empty for all others."""
        names = self.notes.get("settles")
        return tuple(str(each) for each in names) if isinstance(names, list) else ()
