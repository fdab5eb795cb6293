"""Define the prices of models per million tokens, in one currency; an unknown price is never 0."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated

from pydantic import Field, PlainSerializer

from holdfast.models.frozen_model import Frozen
from holdfast.models.strategies.job_strategy import EXTRACTIVE_MODEL

Money = Annotated[Decimal, PlainSerializer(float, return_type=float, when_used="json")]
"""An amount in the installation's currency: summed exactly, a plain number in JSON."""

COST_NOT_KEPT = "max_cost cannot be kept"
"""What the message of a paused job says if its model has no price and its cost has a limit."""
TOKENS_PER_PRICE = Decimal(1_000_000)


class Price(Frozen):
    """One model's prices per million tokens."""

    input: Decimal = Field(ge=0, allow_inf_nan=False)
    output: Decimal = Field(ge=0, allow_inf_nan=False)
    cached: Decimal | None = Field(default=None, ge=0, allow_inf_nan=False)
    """The price of cached input; None means the price of other input."""

    def of(self, *, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> Decimal:
        """Return the cost of these tokens; `cached_tokens` are part of the input."""
        cached = min(cached_tokens, input_tokens)
        uncached = (input_tokens - cached) * self.input
        read_before = cached * (self.input if self.cached is None else self.cached)
        return (uncached + read_before + output_tokens * self.output) / TOKENS_PER_PRICE


FREE_PRICE = Price(input=Decimal(0), output=Decimal(0))


class PriceList(Frozen):
    """The prices of an installation, by the name that jobs ask for."""

    currency: str = "USD"
    models: Mapping[str, Price] = Field(default_factory=dict)

    def of(self, model: str) -> Price | None:
        """Return the price of a model, or None if it is unknown; the built-in model is free."""
        return FREE_PRICE if model == EXTRACTIVE_MODEL else self.models.get(model)
