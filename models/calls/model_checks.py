"""Define what a check of a model found out about each way of structured output."""

from enum import StrEnum

from holdfast.models.frozen_model import Frozen


class RungState(StrEnum):
    """What an endpoint does with one way of asking."""

    WORKS = "works"
    IGNORED = "ignored"
    """Taken without an error, and the reply does not keep to it."""
    REFUSED = "refused"
    """An error, a refusal, or no text at all."""


class RungCheck(Frozen):
    """What a model did when it was asked in one way."""

    rung: str
    state: RungState
    detail: str = ""
    """The error, or the beginning of a reply that does not keep to the schema."""
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    counts_tokens: bool = False
    """True if the endpoint reported its usage."""
    is_streamed: bool = False
    """True if the endpoint sent the reply as it was written."""
    is_in_background: bool = False
    """True if the endpoint made the reply in the background, where a crash does not lose it."""
