"""Check the keywords of JSON Schema about types, fixed values, numbers and sizes."""

import operator
from collections.abc import Callable, Sequence
from typing import TypeGuard

from holdfast.planning.schemas.canonical_json import canonical_json
from holdfast.planning.schemas.keyword_check import Check, KeywordCheck, Keywords, Schema
from holdfast.planning.schemas.value_faults import Fault, Place, shown

_SHOWN_CHOICES = 10


def is_number(value: object) -> TypeGuard[float]:
    """Return True if JSON calls the value a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _check_type(check: Check, schema: Schema, value: object, place: Place | None) -> Fault | None:
    wanted = schema["type"]
    names = [wanted] if isinstance(wanted, str) else wanted
    check.steps.take(len(names) - 1)
    if any(_has_type(value, name) for name in names):
        return None
    return Fault(f"{shown(value)} is not of type {_listed(names)}", place)


def _has_type(value: object, name: object) -> bool:
    match name:
        case "string":
            return isinstance(value, str)
        case "object":
            return isinstance(value, dict)
        case "array":
            return isinstance(value, list)
        case "number":
            return is_number(value)
        case "integer":
            return is_number(value) and (isinstance(value, int) or value.is_integer())
        case "boolean":
            return isinstance(value, bool)
    return name == "null" and value is None


def _check_enum(check: Check, schema: Schema, value: object, place: Place | None) -> Fault | None:
    allowed = check.canonical_texts(schema["enum"])
    if canonical_json(value, check.steps) in allowed:
        return None
    return Fault(f"{shown(value)} is not one of {_listed(schema['enum'])}", place)


def _check_const(check: Check, schema: Schema, value: object, place: Place | None) -> Fault | None:
    wanted = schema["const"]
    if canonical_json(value, check.steps) == canonical_json(wanted, check.steps):
        return None
    return Fault(f"{shown(value)} is not {shown(wanted)}", place)


def _check_factor(_: Check, schema: Schema, value: object, place: Place | None) -> Fault | None:
    factor = schema["multipleOf"]
    if not is_number(value) or not factor or _is_multiple(value, factor):
        return None
    return Fault(f"{shown(value)} is not a multiple of {shown(factor)}", place)


def _is_multiple(value: float, factor: float) -> bool:
    if isinstance(value, int) and isinstance(factor, int):
        return value % factor == 0
    try:
        return (value / factor).is_integer()
    except OverflowError:  # the quotient is beyond what a float can hold
        return True


def _limit(
    keyword: str, is_outside: Callable[[float, float], bool], words: str, strict: str = ""
) -> KeywordCheck:
    """Return the check of a limit of numbers; in draft 4 the flag `strict` excludes it itself."""

    def check(_: Check, schema: Schema, value: object, place: Place | None) -> Fault | None:
        limit = schema[keyword]
        if not is_number(value):
            return None
        if is_outside(value, limit) or (schema.get(strict) is True and value == limit):
            return Fault(f"{shown(value)} is {words} {shown(limit)}", place)
        return None

    return check


def _size(
    keyword: str, kind: type, is_outside: Callable[[float, float], bool], words: str
) -> KeywordCheck:
    """Return the check of how many characters, items or members a value has."""

    def check(_: Check, schema: Schema, value: object, place: Place | None) -> Fault | None:
        limit = schema[keyword]
        if isinstance(value, kind) and is_outside(len(value), limit):  # type: ignore[arg-type]
            return Fault(f"{shown(value)} has {words} {limit}", place)
        return None

    return check


def _listed(values: Sequence[object]) -> str:
    listed = ", ".join(shown(value) for value in values[:_SHOWN_CHOICES])
    return f"{listed} and others" if len(values) > _SHOWN_CHOICES else listed


SCALAR_KEYWORDS: Keywords = {
    "type": ((str, list), _check_type),
    "enum": (list, _check_enum),
    "const": (object, _check_const),
    "multipleOf": ((int, float), _check_factor),
    "minimum": ((int, float), _limit("minimum", operator.lt, "less than", "exclusiveMinimum")),
    "maximum": ((int, float), _limit("maximum", operator.gt, "greater than", "exclusiveMaximum")),
    "exclusiveMinimum": ((int, float), _limit("exclusiveMinimum", operator.le, "not greater than")),
    "exclusiveMaximum": ((int, float), _limit("exclusiveMaximum", operator.ge, "not less than")),
    "minLength": ((int, float), _size("minLength", str, operator.lt, "fewer characters than")),
    "maxLength": ((int, float), _size("maxLength", str, operator.gt, "more characters than")),
    "minItems": ((int, float), _size("minItems", list, operator.lt, "fewer items than")),
    "maxItems": ((int, float), _size("maxItems", list, operator.gt, "more items than")),
    "minProperties": (
        (int, float),
        _size("minProperties", dict, operator.lt, "fewer members than"),
    ),
    "maxProperties": ((int, float), _size("maxProperties", dict, operator.gt, "more members than")),
}
