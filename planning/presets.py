"""Presets: named strategies, and the settings that a user changes on top of one."""

import difflib
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any, get_args

from pydantic import JsonValue, ValidationError

from models.base import Frozen
from models.errors import BadInput, NotFound
from models.strategy import Strategy

_SHOWN = frozenset({"title", "source"})
_NONE = "none"


class Preset(Frozen):
    """A strategy with what it is called and where it comes from."""

    name: str
    title: str
    source: str
    strategy: Strategy


@lru_cache
def presets() -> Mapping[str, Preset]:
    """All presets by name."""
    tables = tomllib.loads(files("planning").joinpath("presets.toml").read_text("utf-8"))
    return {name: _preset(name, table) for name, table in tables.items()}


def _preset(name: str, table: dict[str, Any]) -> Preset:
    settings = {key: _read(key, value) for key, value in table.items() if key not in _SHOWN}
    strategy = Strategy.model_validate(settings)
    return Preset(name=name, title=table["title"], source=table["source"], strategy=strategy)


def preset(name: str) -> Preset:
    """The preset of that name.

    Raises:
        NotFound: there is none; the message lists those there are.
    """
    known = presets()
    if name not in known:
        raise NotFound(f"there is no preset {name!r}; presets: {', '.join(sorted(known))}")
    return known[name]


def with_settings(strategy: Strategy, changes: Mapping[str, JsonValue]) -> Strategy:
    """The strategy with some settings changed, every fault named.

    Raises:
        BadInput: a setting does not exist or does not take the value.
    """
    for name in changes:
        if name not in Strategy.model_fields:
            near = difflib.get_close_matches(name, Strategy.model_fields, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else "."
            names = ", ".join(sorted(Strategy.model_fields))
            raise BadInput(f"there is no setting {name!r}{hint} Settings: {names}")
    content = strategy.model_dump() | {name: _read(name, value) for name, value in changes.items()}
    try:
        return Strategy.model_validate(content)
    except ValidationError as error:
        faults = [f"setting {e['loc'][0]!r}: {e['msg'].lower()}" for e in error.errors()]
        raise BadInput("; ".join(faults)) from None


def _read(name: str, value: JsonValue) -> JsonValue:
    """`none` switches off what may be off; all else pydantic reads by the setting's type."""
    can_be_off = type(None) in get_args(Strategy.model_fields[name].annotation)
    return None if value == _NONE and can_be_off else value
