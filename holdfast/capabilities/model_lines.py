"""List the models of an installation, with their endpoints, keys, prices and roles."""

from collections.abc import Iterable, Mapping

from pydantic import JsonValue

from holdfast.configuration.known_models import KnownModels, known_models
from holdfast.configuration.price_settings import read_prices
from holdfast.configuration.role_settings import RoleTables, read_role_tables
from holdfast.models.budget.token_prices import Price, PriceList
from holdfast.models.calls.model_config import ModelConfig
from holdfast.models.frozen_model import Frozen
from holdfast.models.strategies.job_strategy import EXTRACTIVE_MODEL
from holdfast.roles.endpoints.endpoint_address import address_without_secrets
from holdfast.settings import Settings

_PARAMETERS = {
    "temperature",
    "top_p",
    "seed",
    "reasoning_effort",
    "max_output_tokens",
    "context_tokens",
    "requests_per_minute",
    "tokens_per_minute",
    "calls_at_once",
    "timeout_s",
    "api",
    "background",
    "stream",
    "first_byte_s",
    "silence_s",
}


class ModelLine(Frozen):
    """A model of the installation."""

    name: str
    """The name that jobs use."""
    id: str
    """The name at the endpoint."""
    address: str
    """The endpoint; empty for the built-in model."""
    key_variable: str | None
    is_key_set: bool
    parameters: Mapping[str, JsonValue]
    price: Price | None
    roles: tuple[str, ...]
    """The roles that `holdfast.toml` gives to the model; `vmao: planner` for one preset."""
    is_default: bool
    """True for the model of jobs that name none."""
    fault: str
    """Why no job can use the model, and what to do; empty if one can."""


def model_lines(settings: Settings) -> list[ModelLine]:
    """Return the built-in model, the models with a table, and the model of jobs that name none.

    Raises:
        BadConfiguration: `holdfast.toml` is wrong.
    """
    known = known_models(settings)
    prices = read_prices(settings.config_file)
    tables = read_role_tables(settings.config_file)
    names = [EXTRACTIVE_MODEL, *known.configured, settings.model, *sorted(tables.models)]
    return [_line(name, known, prices, tables) for name in dict.fromkeys(names)]


def _line(name: str, known: KnownModels, prices: PriceList, tables: RoleTables) -> ModelLine:
    config = known.configured.get(name, ModelConfig())
    is_built_in = name == EXTRACTIVE_MODEL
    set_here = config.model_dump(include=_PARAMETERS, exclude_unset=True)
    return ModelLine(
        name=name,
        id=config.id or name,
        address="" if is_built_in else address_without_secrets(known.url(config)),
        key_variable=None if is_built_in else config.key_variable,
        is_key_set=not is_built_in and known.key(config) is not None,
        parameters=set_here | dict(config.extra_body),
        price=prices.of(name),
        roles=tuple(_roles(name, tables)),
        is_default=name == known.settings.model,
        fault=known.fault(name),
    )


def _roles(name: str, tables: RoleTables) -> Iterable[str]:
    yield from (role.value for role, model in tables.installation.items() if model == name)
    for preset, roles in tables.presets.items():
        yield from (f"{preset}: {role.value}" for role, model in roles.items() if model == name)
