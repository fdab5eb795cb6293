"""Name a value that a role is given."""

from pydantic import JsonValue

from holdfast.models.calls.release_fields import FromRelease
from holdfast.models.frozen_model import Frozen


class NamedValue(Frozen):
    """A resolved input, or an entity of a task this one depends on."""

    name: str
    value: JsonValue
    description: FromRelease[str] = ""
    confidence: FromRelease[float | None] = None
    """How sure the value is, 0 to 1; None if nobody said."""
