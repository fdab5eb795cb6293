"""Define what the check of one keyword gets and returns."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

from holdfast.planning.schemas.counted_steps import Steps
from holdfast.planning.schemas.value_faults import Fault, Place

Schema: TypeAlias = Mapping[str, Any]
Kinds: TypeAlias = type | tuple[type, ...]


class Check(Protocol):
    """The check of one value under way, as its keywords see it."""

    steps: Steps
    unevaluated: int
    """How many keywords were met that are not evaluated; a value may break what they say."""

    def fault(self, schema: object, value: object, place: Place | None) -> Fault | None:
        """Return the first fault of the value at `place`."""
        ...

    def referenced(self, reference: str) -> object:
        """Return the schema that a `$ref` names."""
        ...

    def canonical_texts(self, values: list[object]) -> frozenset[str]:
        """Return the canonical texts of the values of an `enum`."""
        ...


KeywordCheck: TypeAlias = Callable[[Check, Schema, object, Place | None], Fault | None]
"""Gets the check, the schema that has the keyword, the value, and the value's place."""
Keywords: TypeAlias = dict[str, tuple[Kinds, KeywordCheck]]
"""By keyword: the types of its argument, and its check. Other arguments restrict nothing."""
