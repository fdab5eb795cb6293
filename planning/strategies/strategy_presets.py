"""Load the presets (named strategies), and change single settings of a strategy."""

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any, get_args

from pydantic import JsonValue, ValidationError

from holdfast.models.errors import BadInput, NotFound
from holdfast.models.frozen_model import Frozen
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.planning.text.nearest_values import nearest_names

_DESCRIPTION_KEYS = frozenset({"title", "source"})
_NONE = "none"


class Preset(Frozen):
    """A named strategy with its description and origin."""

    name: str
    title: str
    source: str
    strategy: Strategy


@lru_cache
def all_presets() -> Mapping[str, Preset]:
    """Return all presets by name."""
    file = files("holdfast.planning.strategies").joinpath("presets.toml")
    tables = tomllib.loads(file.read_text("utf-8"))
    return {name: _preset(name, table) for name, table in tables.items()}


def _preset(name: str, table: dict[str, Any]) -> Preset:
    settings = {
        key: _setting_value(key, value)
        for key, value in table.items()
        if key not in _DESCRIPTION_KEYS
    }
    strategy = Strategy.model_validate(settings)
    return Preset(name=name, title=table["title"], source=table["source"], strategy=strategy)


def preset(name: str) -> Preset:
    """Return the preset of that name.

    Raises:
        NotFound: there is no such preset; the message lists all presets.
    """
    known = all_presets()
    if name not in known:
        raise NotFound(f"there is no preset {name!r}; presets: {', '.join(sorted(known))}")
    return known[name]


def with_settings(strategy: Strategy, changes: Mapping[str, JsonValue]) -> Strategy:
    """Return the strategy with some settings changed; the error names every fault.

    Raises:
        BadInput: a setting does not exist or does not take the value; `field` is its name.
    """
    for name in changes:
        if name not in Strategy.model_fields:
            near = nearest_names(name, tuple(Strategy.model_fields), 1)
            hint = f"; did you mean {near[0]!r}?" if near else "."
            names = ", ".join(sorted(Strategy.model_fields))
            raise BadInput(f"there is no setting {name!r}{hint} Settings: {names}", field=name)
    content = strategy.model_dump() | {
        name: _setting_value(name, value) for name, value in changes.items()
    }
    try:
        return Strategy.model_validate(content)
    except ValidationError as error:
        faults = [f"setting {e['loc'][0]!r}: {e['msg'].lower()}" for e in error.errors()]
        field = str(error.errors()[0]["loc"][0])
        raise BadInput("; ".join(faults), field=field) from None


def _setting_value(name: str, value: JsonValue) -> JsonValue:
    """Parse a setting: `none` switches it off if that is allowed; pydantic reads other values."""
    can_be_off = type(None) in get_args(Strategy.model_fields[name].annotation)
    return None if value == _NONE and can_be_off else value
