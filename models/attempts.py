"""What each attempt at a task found: all of it is kept, and the best of it counts."""

from pydantic import Field, JsonValue

from models.base import Frozen


class FoundEntity(Frozen):
    """An entity as one attempt found it."""

    name: str
    type: str = "string"
    description: str = ""
    value: JsonValue = None
    confidence: float | None = Field(default=None, ge=0, le=1)

    @property
    def is_empty(self) -> bool:
        """Whether it is a hole: something that was promised and not found."""
        return self.value is None or self.value in ("", [], {})


class AttemptResult(Frozen):
    """The entities of one attempt, and nothing of any other."""

    attempt: int
    entities: tuple[FoundEntity, ...] = ()
    confidence: float | None = None
    is_kept: bool = True


class KeptEntity(Frozen):
    """An entity that counts, with the attempt that found it."""

    attempt: int
    entity: FoundEntity


class SeenEvidence(Frozen):
    """A piece of evidence of a task or of one of its steps, as far as it is to be told apart."""

    id: int
    attempt: int
    """Of the task itself, also where a step of it found the quote."""
    entity: str
    value: JsonValue = None
    """Of the step's entity."""
    is_of_step: bool = False
