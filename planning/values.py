"""Whether a value has the type that was promised, and the plain conversions that keep its sense."""

import math
import re

from pydantic import JsonValue

from models.plan import EntityType

_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")


def has_type(value: JsonValue, kind: EntityType) -> bool:
    """Whether `value` is of `kind`; true and false are no numbers, and nothing is of any type."""
    match kind:
        case EntityType.STRING:
            return isinstance(value, str)
        case EntityType.BOOLEAN:
            return isinstance(value, bool)
        case EntityType.INTEGER:
            return _is_integer(value)
        case EntityType.NUMBER:
            return _is_number(value)
        case EntityType.ARRAY:
            return isinstance(value, list)
        case EntityType.DICT:
            return isinstance(value, dict)


def fitted(value: JsonValue, kind: EntityType) -> JsonValue:
    """The value in the promised type where that loses nothing, else the value as it is.

    Models answer "1945" for a number and 1945 for a string; both mean what was asked.
    """
    if has_type(value, kind):
        return value
    if kind is EntityType.STRING and _is_number(value):
        return str(value)
    if kind in (EntityType.NUMBER, EntityType.INTEGER) and isinstance(value, str):
        return _number(value, kind, value)
    if kind is EntityType.INTEGER and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def is_missing(value: JsonValue) -> bool:
    """Whether nothing was found: null, or a text of nothing but space."""
    return value is None or (isinstance(value, str) and not value.strip())


def storable_text(text: str) -> str:
    """The text without what PostgreSQL cannot hold: NUL and lone surrogates."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()


def storable(value: JsonValue) -> JsonValue:
    """The value without what PostgreSQL's JSON cannot hold: NUL and lone surrogates."""
    if isinstance(value, str):
        return storable_text(value)
    if isinstance(value, list):
        return [storable(each) for each in value]
    if isinstance(value, dict):
        return {str(storable(name)): storable(each) for name, each in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _number(text: str, kind: EntityType, otherwise: JsonValue) -> JsonValue:
    if not _NUMBER.fullmatch(text.strip()):
        return otherwise
    number = float(text.replace(",", ""))
    if number.is_integer() and "." not in text:
        return int(text.replace(",", ""))
    return otherwise if kind is EntityType.INTEGER else number


def _is_integer(value: JsonValue) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: JsonValue) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return _is_integer(value)
