"""Implement `holdfast models`: list the models of an installation, and check what they can do."""

import asyncio
from collections.abc import Iterable, Sequence

import typer

from holdfast.capabilities.model_checks import (
    ModelCheck,
    check_each_model,
    cost_of,
    models_to_check,
)
from holdfast.capabilities.model_lines import ModelLine, model_lines
from holdfast.cli.options.command_settings import load_command_settings
from holdfast.cli.render.plain_table import plain_table
from holdfast.cli.render.terminal_output import console, print_json, print_progress, print_text
from holdfast.configuration.json_logs import configure_quiet_logs
from holdfast.configuration.known_models import known_models
from holdfast.configuration.price_settings import read_prices
from holdfast.models.budget.money_text import format_money
from holdfast.models.budget.token_prices import PriceList


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
    chosen = models_to_check(names, settings)
    prices = read_prices(settings.config_file)
    known = known_models(settings)
    _say_what_it_costs((name for name in chosen if not known.fault(name)), prices)
    checks = asyncio.run(check_each_model(chosen, settings))
    if json_output:
        print_json(checks)
    else:
        for check in checks:
            _print_check(check)
    if not all(check.is_usable for check in checks):
        raise typer.Exit(1)


def _say_what_it_costs(names: Iterable[str], prices: PriceList) -> None:
    from holdfast.roles.endpoints.capability_check import CHECKED_RUNGS, expected_tokens

    for name in names:
        asked, told = expected_tokens(name)
        cost = cost_of(prices.of(name), asked, told, 0)
        print_progress(
            f"{name}: {len(CHECKED_RUNGS)} calls with about {asked:,} tokens of input and "
            f"{told:,} of output, {format_money(cost, prices.currency)}"
        )


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
