"""Implement `holdfast models`: list the models of an installation, and check what they can do."""

import asyncio
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

import typer

from holdfast.capabilities.model_lines import ModelLine, model_lines
from holdfast.cli.options.command_settings import load_command_settings
from holdfast.cli.render.amount_text import format_money
from holdfast.cli.render.plain_table import plain_table
from holdfast.cli.render.terminal_output import console, print_json, print_progress, print_text
from holdfast.configuration.json_logs import configure_quiet_logs
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


def list_models_command(*, json_output: bool) -> None:
    """Print the models; exit code 1 if one of them cannot be used."""
    settings = load_command_settings()
    lines = model_lines(settings)
    currency = read_prices(settings.config_file).currency
    if json_output:
        print_json(lines)
    else:
        rows = [_row(line, currency) for line in lines]
        columns = ("model", "endpoint", "key", "parameters", "price", "roles")
        console().print(plain_table(columns, rows))
        for line in lines:
            if line.fault:
                print_progress(f"note: {line.fault}")
    if any(line.fault for line in lines):
        raise typer.Exit(1)


def _row(line: ModelLine, currency: str) -> tuple[str, ...]:
    parameters = ", ".join(f"{name}={value}" for name, value in line.parameters.items())
    price = line.price and f"{line.price.input:g} / {line.price.output:g} {currency}"
    known_as = "" if line.id == line.name else f" as {line.id}"
    roles = [*(["all others"] if line.is_default else []), *line.roles]
    return (
        line.name,
        f"{line.address}{known_as}" if line.address else "built in",
        _key_text(line),
        parameters,
        price or "unknown",
        ", ".join(roles),
    )


def _key_text(line: ModelLine) -> str:
    if line.key_variable is None:
        return "none"
    return f"{line.key_variable} ({'set' if line.is_key_set else 'not set'})"


def check_models_command(names: Sequence[str], *, json_output: bool) -> None:
    """Ask each model in each way; exit code 1 if one of them cannot be used."""
    settings = load_command_settings()
    configure_quiet_logs()
    chosen = _checked_names(names, settings)
    prices = read_prices(settings.config_file)
    known = known_models(settings)
    _say_what_it_costs((name for name in chosen if not known.fault(name)), prices)
    checks = asyncio.run(_check_all(chosen, settings, prices))
    if json_output:
        print_json(checks)
    else:
        for check in checks:
            _print_check(check)
    if not all(check.is_usable for check in checks):
        raise typer.Exit(1)


def _checked_names(names: Sequence[str], settings: Settings) -> list[str]:
    """The models to check.

    Raises:
        BadInput: there is none.
    """
    if names:
        return list(dict.fromkeys(checked_model_name(name) for name in names))
    found = [line.name for line in model_lines(settings) if line.name != EXTRACTIVE_MODEL]
    if not found:
        raise BadInput(
            "there is no model to check: name one, or write [models.NAME] in holdfast.toml"
        )
    return found


def _say_what_it_costs(names: Iterable[str], prices: PriceList) -> None:
    from holdfast.roles.endpoints.capability_check import CHECKED_RUNGS, expected_tokens

    for name in names:
        asked, told = expected_tokens(name)
        cost = _cost(prices.of(name), asked, told, 0)
        print_progress(
            f"{name}: {len(CHECKED_RUNGS)} calls with about {asked:,} tokens of input and "
            f"{told:,} of output, {format_money(cost, prices.currency)}"
        )


async def _check_all(
    names: Sequence[str], settings: Settings, prices: PriceList
) -> list[ModelCheck]:
    from holdfast.configuration.known_secrets import known_secrets
    from holdfast.configuration.opened_models import open_models
    from holdfast.models.text.secret_mask import SecretMask

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
    cost = _cost(prices.of(name), asked, told, cached)
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


def _cost(price: Price | None, asked: int, told: int, cached: int) -> Decimal | None:
    if price is None:
        return None
    return price.of(input_tokens=asked, output_tokens=told, cached_tokens=cached)


def _print_check(check: ModelCheck) -> None:
    print_text(f"{check.name}: {'can be used' if check.is_usable else 'cannot be used'}")
    if check.fault:
        print_text(f"  {check.fault}")
        if not check.is_usable:
            return
    for rung in check.rungs:
        detail = f": {rung.detail}" if rung.detail else ""
        came = ", streamed" if rung.is_streamed else ""
        came = ", in the background" if rung.is_in_background else came
        print_text(f"  {rung.rung}: {rung.state.value}{came}{detail}")
    if check.rungs:
        counted = "counted by the endpoint" if check.counts_tokens else "estimated"
        print_text(
            f"  tokens: {check.input_tokens:,} in, {check.output_tokens:,} out, {counted}; "
            f"cost: {format_money(check.cost, check.currency)}"
        )
