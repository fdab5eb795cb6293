"""Define a reply that calls functions, in one form for every endpoint."""

import json

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator, model_validator


class FunctionCall(BaseModel):
    """One call: the function's name and its arguments."""

    model_config = ConfigDict(extra="ignore")

    name: str
    arguments: dict[str, JsonValue] = Field(default_factory=dict)

    @field_validator("arguments", mode="before")
    @classmethod
    def _from_text(cls, value: object) -> object:
        """Endpoints give the arguments as JSON text."""
        return json.loads(value or "{}", strict=False) if isinstance(value, str) else value


class FunctionCalls(BaseModel):
    """The calls of one reply, in their order."""

    model_config = ConfigDict(extra="ignore")

    calls: list[FunctionCall] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _from_one_call(cls, value: object) -> object:
        """A model that makes one call often writes it without the list."""
        if isinstance(value, dict) and "calls" not in value and "name" in value:
            return {"calls": [value]}
        return value
