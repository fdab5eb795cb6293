"""What is asked of a model and what comes back: one exchange, whichever model plays the role."""

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal

from pydantic import Field

from models.base import Frozen


class Message(Frozen):
    """One turn of the exchange."""

    role: Literal["system", "user", "assistant"]
    content: str


class ModelRequest(Frozen):
    """The exact request; its hash is the ledger's key.

    The first user message is the role's typed task as JSON, so whatever came from outside is a
    JSON string in it and cannot pose as an instruction.
    """

    model: str
    role: str
    messages: tuple[Message, ...]
    answer_schema: Mapping[str, Any] = Field(default_factory=dict)
    """JSON Schema of the answer that the role expects."""

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the request as canonical JSON."""
        return canonical_hash(self.model_dump(mode="json"))


class Completion(Frozen):
    """A model's reply with what it cost, in tokens."""

    text: str
    model: str
    finish: str = "stop"
    refusal: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    is_estimated: bool = False
    """Whether the endpoint gave no usage and the counts are our estimate."""


def canonical_hash(value: object) -> str:
    """SHA-256 (hex) of a JSON value, independent of key order."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
