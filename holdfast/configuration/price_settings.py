"""Read and check the prices of models in `holdfast.toml`: `[prices]` and `[models.NAME]`."""

from pathlib import Path
from typing import Any

from pydantic_core import ErrorDetails

from holdfast.configuration.model_settings import read_models
from holdfast.models.budget.token_prices import Price, PriceList
from holdfast.models.errors import BadConfiguration
from holdfast.planning.text.nearest_values import nearest_names
from holdfast.tools.holdfast_toml import read_toml, validated

_EXAMPLE = '[prices."model-name"] with input = 0.15 and output = 0.60 (per million tokens)'
_CURRENCY = "currency"


def read_prices(path: Path | None) -> PriceList:
    """Return the prices in the file at `path`; none if the file or its table is missing.

    Raises:
        BadConfiguration: an entry is wrong; the message names file, model and key, and an example.
    """
    if path is None or not path.exists():
        return PriceList()
    content = read_toml(path)
    _check_top(path, content)
    tables = content.get("prices", {})
    if not isinstance(tables, dict):
        raise BadConfiguration(f"{path}: 'prices' must be tables; write {_EXAMPLE}")
    entries = {name: entry for name, entry in tables.items() if name != _CURRENCY}
    models = {name: _price(path, name, entry) for name, entry in entries.items()}
    own = {name: each.price for name, each in read_models(path).items() if each.price is not None}
    if twice := sorted(models.keys() & own.keys()):
        raise BadConfiguration(
            f"{path}: the model {twice[0]!r} has a price in [prices] and in [models.{twice[0]}]; "
            "keep one of them"
        )
    return PriceList(currency=_currency(path, tables), models=models | own)


def _check_top(path: Path, content: dict[str, Any]) -> None:
    if _CURRENCY in content:
        raise BadConfiguration(f"{path}: write 'currency' below [prices], as it belongs to them")
    for key in content:
        if key != "prices" and nearest_names(key.lower(), ["prices"], min_similarity=0.8):
            raise BadConfiguration(f"{path}: unknown table {key!r}; write {_EXAMPLE}")


def _currency(path: Path, tables: dict[str, Any]) -> str:
    currency = tables.get(_CURRENCY, "USD")
    if not isinstance(currency, str) or not currency.strip():
        raise BadConfiguration(
            f'{path}: prices.currency must be a name such as "USD", not {currency!r}; a model '
            "cannot be called 'currency'"
        )
    return currency.strip()


def _price(path: Path, model: str, entry: object) -> Price:
    where = f"{path}: prices.{model!r}"
    if not isinstance(entry, dict):
        # TOML reads an unquoted name with a dot as a table in a table.
        raise BadConfiguration(f"{where} must be a table; write {_EXAMPLE}")
    if any(isinstance(value, dict) for value in entry.values()):
        raise BadConfiguration(f"{where}: put a name with dots in quotes; write {_EXAMPLE}")
    return validated(Price, entry, lambda detail: _complaint(where, detail))


def _complaint(where: str, detail: ErrorDetails) -> str:
    key = str(detail["loc"][0])
    if detail["type"] == "extra_forbidden":
        return f"{where}.{key} is not a known key; known here: cached, input, output"
    if detail["type"] == "missing":
        return f"{where} has no {key!r} price; write {_EXAMPLE}"
    return f"{where}.{key}: {detail['msg'].lower()}; write for example {key} = 0.15"
