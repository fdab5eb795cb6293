"""Find out what models can do, with a few short paid calls each."""

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from holdfast.capabilities.model_lines import model_lines
from holdfast.configuration.known_models import KnownModels, known_models
from holdfast.configuration.price_settings import read_prices
from holdfast.jobs.model_checks import checked_model_name
from holdfast.models.budget.token_prices import Price, PriceList
from holdfast.models.calls.model_checks import RungCheck, RungState
from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen
from holdfast.models.strategies.job_strategy import EXTRACTIVE_MODEL
from holdfast.settings import Settings

if TYPE_CHECKING:
    from holdfast.activities.runtime.activity_services import ModelRegistry


class ModelCheck(Frozen):
    """What a model can do, and what it cost to find out."""

    name: str
    is_usable: bool
    """True if the model answered in at least one way that jobs can use."""
    counts_tokens: bool
    fault: str
    rungs: tuple[RungCheck, ...]
    input_tokens: int
    output_tokens: int
    cost: float | None
    """In the currency of the prices; None if the price is unknown."""
    currency: str


def models_to_check(names: Sequence[str], settings: Settings) -> list[str]:
    """The models to check.

    Raises:
        BadInput: there is none.
    """
    if names:
        return list(dict.fromkeys(checked_model_name(name) for name in names))
    found = [line.name for line in model_lines(settings) if line.name != EXTRACTIVE_MODEL]
    if not found:
        raise BadInput(
            "there is no model to check: name one, or write [models.NAME] in holdfast.toml",
            field="names",
        )
    return found


async def check_each_model(names: Sequence[str], settings: Settings) -> list[ModelCheck]:
    """Ask each model in each way that jobs ask; these are short paid calls."""
    from holdfast.configuration.known_secrets import known_secrets
    from holdfast.configuration.opened_models import open_models
    from holdfast.models.text.secret_mask import SecretMask

    prices = read_prices(settings.config_file)
    mask = SecretMask(known_secrets(settings, "", {}))
    known = known_models(settings)
    async with open_models(settings, mask) as models:
        return [await _check(name, known, models, prices) for name in names]


async def _check(
    name: str,
    known: KnownModels,
    models: "ModelRegistry",
    prices: PriceList,
) -> ModelCheck:
    from holdfast.roles.endpoints.capability_check import CHECKED_RUNGS, check_rung
    from holdfast.roles.endpoints.chat_endpoint import EndpointModel

    rungs: list[RungCheck] = []
    fault = known.fault(name)
    if name == EXTRACTIVE_MODEL:
        fault = f"{name} is built in: there is nothing to ask"
    elif not fault:
        endpoint = models.named(name)
        assert isinstance(endpoint, EndpointModel), "a model without a fault has an endpoint"
        rungs = [await check_rung(endpoint, name, rung) for rung in CHECKED_RUNGS]
    asked, told, cached = (
        sum(getattr(rung, key) for rung in rungs)
        for key in ("input_tokens", "output_tokens", "cached_tokens")
    )
    answered = [rung for rung in rungs if rung.state is not RungState.REFUSED]
    cost = cost_of(prices.of(name), asked, told, cached)
    return ModelCheck(
        name=name,
        is_usable=bool(answered) or name == EXTRACTIVE_MODEL,
        counts_tokens=bool(answered) and all(rung.counts_tokens for rung in answered),
        fault=fault or ("" if answered else rungs[-1].detail),
        rungs=tuple(rungs),
        input_tokens=asked,
        output_tokens=told,
        cost=None if cost is None else float(cost),
        currency=prices.currency,
    )


def cost_of(price: Price | None, asked: int, told: int, cached: int) -> Decimal | None:
    """What calls with these tokens cost; None if the price is unknown."""
    if price is None:
        return None
    return price.of(input_tokens=asked, output_tokens=told, cached_tokens=cached)
