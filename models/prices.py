"""What models cost: prices per million tokens, in one currency; an unknown price is never 0."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated

from pydantic import Field, PlainSerializer

from models.base import Frozen
from models.jobs import EXTRACTIVE

Money = Annotated[Decimal, PlainSerializer(float, return_type=float, when_used="json")]
"""An amount in the installation's currency: summed exactly, a plain number in JSON."""

PER_TOKENS = Decimal(1_000_000)


class Price(Frozen):
    """One model's prices per million tokens."""

    input: Decimal = Field(ge=0, allow_inf_nan=False)
    output: Decimal = Field(ge=0, allow_inf_nan=False)
    cached: Decimal | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Of input that the endpoint had read before; none: as any other input."""

    def of(self, *, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> Decimal:
        """What so many tokens cost; `cached_tokens` are some of the input."""
        cached = min(cached_tokens, input_tokens)
        read_anew = (input_tokens - cached) * self.input
        read_before = cached * (self.input if self.cached is None else self.cached)
        return (read_anew + read_before + output_tokens * self.output) / PER_TOKENS


FREE = Price(input=Decimal(0), output=Decimal(0))


class Prices(Frozen):
    """The prices of an installation, by the name that jobs ask for."""

    currency: str = "USD"
    models: Mapping[str, Price] = Field(default_factory=dict)

    def of(self, model: str) -> Price | None:
        """The model's price; none where nobody has named it. The built-in model is free."""
        return FREE if model == EXTRACTIVE else self.models.get(model)
