"""Define a model request with its hash, and the completion that a model returns."""

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal

from pydantic import Field

from holdfast.models.frozen_model import Frozen


class Message(Frozen):
    """One message of the conversation with a model."""

    role: Literal["system", "user", "assistant"]
    content: str


class FunctionOffer(Frozen):
    """A function that the model may call; `parameters` and `strict_parameters` are JSON Schemas."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    strict_parameters: Mapping[str, Any]
    """The same schema with every property required, for endpoints that enforce a schema."""


class ModelRequest(Frozen):
    """The exact request; its hash is the ledger's key.

    The first user message is the role's typed task as JSON, so foreign text is a JSON string in
    it and cannot look like an instruction.
    """

    model: str
    role: str
    messages: tuple[Message, ...]
    answer_schema: Mapping[str, Any] = Field(default_factory=dict)
    """The JSON Schema of the role's answer."""
    task: Any = Field(default=None, exclude=True, repr=False)
    """The typed task behind the first user message, for a model that runs in this process.

    It is no part of the request: it is neither hashed nor recorded.
    """
    functions: tuple[FunctionOffer, ...] = ()
    """The functions that the model may call; its reply is then a `FunctionCalls` as JSON."""

    @cached_property
    def hash(self) -> str:
        """Return the SHA-256 of the request as canonical JSON."""
        return canonical_hash(self.model_dump(mode="json"))


class Completion(Frozen):
    """A model's reply with its token counts."""

    text: str
    model: str
    finish: str = "stop"
    refusal: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    is_estimated: bool = False
    """True if the endpoint sent no usage and the counts are estimates."""


def canonical_hash(value: object) -> str:
    """Return the SHA-256 (hex) of a JSON value, independent of key order."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
