"""Define the finding of a task, with the passages that support the finding."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Any

from pydantic import (
    BeforeValidator,
    Field,
    JsonValue,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from holdfast.models.calls.release_fields import FromRelease
from holdfast.models.frozen_model import Frozen
from holdfast.models.tasks.attempt_results import EntityValue
from holdfast.models.text.document_title import without_repeated_title

TIE_BREAKER_NOTE = "tie_breaker_for"
DISPUTED_CLAIMS_NOTE = "tie_breaker_claims"
"""The notes of a tie-breaker: the tasks that contradict each other, and their two claims."""


def _day(value: object) -> object:
    """The day of a time; earlier releases recorded the time as well."""
    if isinstance(value, datetime):
        return value.date()
    return value[:10] if isinstance(value, str) else value


class QuotedPassage(Frozen):
    """A quote that supports a result, with its source and time."""

    entity: str = ""
    quote: str
    title: FromRelease[str] = ""
    """In a prompt only if it tells more than the address does."""
    address: str
    published: str = ""
    """The date as the tool reported it, ISO 8601; empty if unknown."""
    read_at: Annotated[date | None, BeforeValidator(_day)] = None

    @model_serializer(mode="wrap")
    def _without_repeated_title(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without_repeated_title(self, handler)


class TaskFinding(Frozen):
    """A task's result for verification: the present attempt's, completed from earlier ones."""

    entities: tuple[EntityValue, ...] = ()
    passages: tuple[QuotedPassage, ...] = ()
    tools: frozenset[str] = frozenset()
    """The tools that the task or its steps called, in any attempt."""
    notes: Mapping[str, JsonValue] = Field(default_factory=dict)

    @property
    def tie_breaker_for(self) -> tuple[str, ...]:
        """Return the tasks whose contradiction this tie-breaker decides; empty for other tasks."""
        names = self.notes.get(TIE_BREAKER_NOTE)
        return tuple(str(each) for each in names) if isinstance(names, list) else ()

    @property
    def disputed_claims(self) -> tuple[str, str]:
        """Return the two claims that this tie-breaker decides between.

        Both are empty for other tasks, and for tie-breakers of earlier releases.
        """
        claims = self.notes.get(DISPUTED_CLAIMS_NOTE)
        if not isinstance(claims, list) or len(claims) != 2:
            return "", ""
        return str(claims[0]), str(claims[1])
