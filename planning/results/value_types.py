"""Check and convert the types of values."""

import json
import math
import re

from pydantic import JsonValue

from holdfast.models.plans.research_plan import FINAL_ANSWER, EntityType, ExpectedEntity
from holdfast.models.text.storable_text import storable_value
from holdfast.models.text.value_text import value_in_words

_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")


def has_type(value: JsonValue, kind: EntityType) -> bool:
    """True if `value` has the type `kind`; booleans are no numbers, and null has no type."""
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


def convert_to_type(value: JsonValue, kind: EntityType) -> JsonValue:
    """Return the value converted to the promised type if nothing is lost, else unchanged.

    Models answer "1945" for a number and 1945 for a string; both are accepted. Under a strict
    schema they write an object, or a list of objects, as JSON text.
    """
    if has_type(value, kind):
        return value
    if kind in (EntityType.ARRAY, EntityType.DICT) and isinstance(value, str):
        container = parse_container(value)
        return container if has_type(container, kind) else value
    if kind is EntityType.STRING and _is_number(value):
        return str(value)
    if kind in (EntityType.NUMBER, EntityType.INTEGER) and isinstance(value, str):
        return _number(value, kind, value)
    if kind is EntityType.INTEGER and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def convert_to_promise(value: JsonValue, entity: ExpectedEntity) -> JsonValue:
    """Return the value converted to the type of the promised entity if nothing is lost.

    A final answer is read by people and by no other task, so a list of texts and numbers becomes
    the text of its elements. A later task may need the elements of any other list.
    """
    is_read_as_text = entity.name == FINAL_ANSWER and entity.type is EntityType.STRING
    if is_read_as_text and isinstance(value, list) and all(map(_is_text_or_number, value)):
        return value_in_words(value) if value else None
    return convert_to_type(value, entity.type)


def parse_container(text: str) -> JsonValue:
    """Return the object or list that the text is in JSON, storable; other text unchanged."""
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        # Line breaks inside strings are common and harmless.
        return storable_value(json.loads(text, strict=False))
    except (ValueError, RecursionError):
        return text


def is_missing(value: JsonValue) -> bool:
    """True if the value is null or a blank text."""
    return value is None or (isinstance(value, str) and not value.strip())


def _is_text_or_number(value: JsonValue) -> bool:
    return not is_missing(value) and (isinstance(value, str) or _is_number(value))


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
