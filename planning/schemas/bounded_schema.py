"""Check a value against a JSON schema that a foreign server wrote, in bounded time.

A hostile schema of a few hundred characters can keep a usual check of one small value busy for
hours: with references that double at each step, with items that are compared in pairs, or with a
regular expression that backtracks. Therefore all work is counted, and some keywords are not
evaluated: `pattern`, `patternProperties`, `format`, `unevaluatedItems`, `unevaluatedProperties`
and dynamic references. The server checks these itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.planning.schemas.counted_steps import Steps, UncheckableSchema
from holdfast.planning.schemas.schema_index import SchemaIndex
from holdfast.planning.schemas.value_faults import Fault, Place

MAX_STEPS = 250_000
"""At most 0.3 s, and usually 0.1 s; 10,000 objects with five fields each need 240,000."""
_STEPS_PER_FAULT = 4


class BoundedSchema:
    """A JSON schema whose checks fetch nothing and have bounded cost; it must not change."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = schema
        self._index = SchemaIndex(schema)

    def fault(
        self, value: object, *, at: Sequence[str] = (), steps: Steps | None = None
    ) -> Fault | None:
        """Return the first fault of the value; None if it is valid.

        `at` leads to the part of the schema that the value is checked against. Checks that are
        given the same `steps` share one limit.

        Raises:
            UncheckableSchema: a reference has no target, or the check takes too many steps.
        """
        schema: Any = self._schema
        for name in at:
            schema = schema[name]
        try:
            return _ValueCheck(self._index, steps or Steps(MAX_STEPS)).fault(schema, value, None)
        except RecursionError:
            raise UncheckableSchema("it is nested too deeply") from None


@dataclass(slots=True)
class _ValueCheck:
    """The check of one value under way."""

    index: SchemaIndex
    steps: Steps
    unevaluated: int = 0

    def fault(self, schema: object, value: object, place: Place | None) -> Fault | None:
        self.steps.take()
        if schema is False:
            return Fault("it is not allowed here", place)
        if not isinstance(schema, dict):
            return None
        for check in self.index.checks_of(schema, self.steps):
            self.steps.take()
            if fault := check(self, schema, value, place):
                self.steps.take(_STEPS_PER_FAULT)
                return fault
        return None

    def referenced(self, reference: str) -> object:
        return self.index.target(reference, self.steps)

    def canonical_texts(self, values: list[object]) -> frozenset[str]:
        return self.index.canonical_texts(values, self.steps)
