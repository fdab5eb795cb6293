"""Define the results of task attempts: the found entities, and the entities that are kept."""

from pydantic import Field, JsonValue

from holdfast.models.frozen_model import Frozen
from holdfast.models.plans.research_plan import ExpectedEntity


class EntityValue(Frozen):
    """An entity with its value and confidence, as one attempt found it."""

    name: str
    type: str = "string"
    description: str = ""
    value: JsonValue = None
    confidence: float | None = Field(default=None, ge=0, le=1)

    @classmethod
    def of_promise(
        cls, entity: ExpectedEntity, value: JsonValue, confidence: float
    ) -> "EntityValue":
        """The value of a promised entity; the confidence is brought between 0 and 1."""
        return cls(
            name=entity.name,
            type=entity.type.value,
            description=entity.description,
            value=value,
            confidence=min(max(confidence, 0.0), 1.0),
        )

    @property
    def is_empty(self) -> bool:
        """True if the entity was promised and not found."""
        return self.value is None or self.value in ("", [], {})


class AttemptResult(Frozen):
    """The entities of one attempt."""

    attempt: int
    entities: tuple[EntityValue, ...] = ()
    confidence: float | None = None
    is_chosen: bool = True


class KeptEntity(Frozen):
    """An entity that counts, with the attempt that found it."""

    attempt: int
    entity: EntityValue
    others: tuple[int, ...] = ()
    """Further attempts whose sentences are in it, if it is an account."""

    def is_from(self, attempt: int) -> bool:
        """Return whether the attempt found the entity, or a part of it."""
        return attempt == self.attempt or attempt in self.others


class AttemptEvidence(Frozen):
    """The key of a piece of evidence of a task or of one of its steps."""

    id: int
    attempt: int
    """The attempt of the task, also if a step found the quote."""
    entity: str
    value: JsonValue = None
    """The step's entity."""
    is_of_step: bool = False
    quote: str = ""
