"""Check code before a run, and convert the result of the run to bounded JSON."""

import json
import math
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from keyword import iskeyword

from pydantic import JsonValue

from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen
from holdfast.models.text.storable_text import storable_text

MAX_RESULT_CHARS = 200_000
MAX_PRINTED_CHARS = 20_000
MAX_CODE_CHARS = 100_000
_MAX_DEPTH = 60


class CodeResult(Frozen):
    """`result` is the variable of that name, or the value of the last expression."""

    result: JsonValue
    printed: str
    is_cut: bool = False
    """True if the printed text was cut."""


def check_code(code: str, inputs: Mapping[str, JsonValue]) -> None:
    """Check code and inputs before a run.

    Raises:
        BadInput: the code is too long, or the name of an input is not a valid variable name.
    """
    if not code.strip():
        raise BadInput("the code is empty")
    if len(code) > MAX_CODE_CHARS:
        raise BadInput(f"the code has {len(code)} characters; the most is {MAX_CODE_CHARS}")
    for name in inputs:
        if not name.isidentifier() or iskeyword(name) or name.startswith("__"):
            raise BadInput(
                f"input {name[:80]!r} cannot be a variable: name it with letters, digits and _"
            )


def result_as_json(value: object) -> JsonValue:
    """Return the value as JSON of bounded size.

    Raises:
        BadInput: the value is too long, too deep, not finite, or of a type that JSON lacks.
    """
    json_value = _as_json(value, _MAX_DEPTH)
    try:
        size = len(json.dumps(json_value, ensure_ascii=False))
    except ValueError as odd:  # an integer of thousands of digits
        raise BadInput(f"the result cannot be written: {odd}") from odd
    if size > MAX_RESULT_CHARS:
        raise BadInput(
            f"the result has {size:,} characters; the most is {MAX_RESULT_CHARS:,}: give back "
            "less, such as sums or the first rows"
        )
    if isinstance(value, float) and not math.isfinite(value):
        raise BadInput(f"the result is {value}, which is no number")
    return json_value


def _as_json(value: object, deep: int) -> JsonValue:  # noqa: C901 - a case for each kind
    if not deep:
        raise BadInput(f"the result is nested more than {_MAX_DEPTH} deep; give back less")
    match value:
        case None | bool() | int():
            return value
        case str():
            return storable_text(value)
        case float():
            return value if math.isfinite(value) else None
        case Decimal():
            return _as_json(float(value), deep)
        case datetime() | date() | time():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case Mapping():
            return {_key(key): _as_json(item, deep - 1) for key, item in value.items()}
        case set() | frozenset():
            return _in_order(_as_json(item, deep - 1) for item in value)
        case list() | tuple():
            return [_as_json(item, deep - 1) for item in value]
        case _:
            raise BadInput(
                f"the result holds a {type(value).__name__}; give back numbers, text, lists and "
                "dicts"
            )


def _key(key: object) -> str:
    return storable_text(key if isinstance(key, str) else str(_as_json(key, 2)))


def _in_order(items: Iterable[JsonValue]) -> list[JsonValue]:
    return sorted(items, key=lambda item: (str(type(item)), repr(item)))
