"""Define the base type of all answers of models, and the values that an answer may hold."""

from typing import Annotated

from pydantic import (
    BaseModel,
    ConfigDict,
    JsonValue,
    WithJsonSchema,
)

_SCALARS = [{"type": name} for name in ("string", "number", "integer", "boolean")]

_LISTS = [{"type": "array", "items": {"type": name}} for name in ("string", "number")]

DraftValue = Annotated[JsonValue, WithJsonSchema({"anyOf": [*_SCALARS, *_LISTS, {"type": "null"}]})]
"""Any JSON value is read; the schema names those that strict endpoints can enforce."""


class Draft(BaseModel):
    """The base of all answers; fields that the answer does not define are dropped."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)
