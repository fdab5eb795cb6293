"""Ask a model once for values of the promised types."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from holdfast.models.plans.research_plan import ExpectedEntity
from holdfast.planning.results.value_types import convert_to_promise, has_type, is_missing


@dataclass
class EntityTypeCheck:
    """Checks the values in the answers of one dialogue against the promised types."""

    expects: Sequence[ExpectedEntity]
    field: str
    """Where the task that the model was given lists the entities, for messages."""
    _has_asked: bool = False

    def faults(self, values: Mapping[str, JsonValue]) -> list[str]:
        """Return the values of another type, the first time; a second time, they are its answer.

        Values that can be converted without loss, and null, have no fault.
        """
        if self._has_asked:
            return []
        wrong = [each for each in self.expects if self._is_of_another_type(each, values)]
        self._has_asked = bool(wrong)
        return [
            f"{each.name!r} in `{self.field}` must be of the type {each.type.value}: write it so, "
            "or the value null if it cannot be concluded"
            for each in wrong
        ]

    def _is_of_another_type(self, entity: ExpectedEntity, values: Mapping[str, JsonValue]) -> bool:
        value = convert_to_promise(values.get(entity.name), entity)
        return not is_missing(value) and not has_type(value, entity.type)
