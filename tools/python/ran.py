"""What a run of code came to, and its result as JSON."""

import json
import math
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from keyword import iskeyword

from pydantic import JsonValue

from models.base import Frozen
from models.errors import BadInput
from tools.plain import plain_text

MOST_RESULT_CHARS = 200_000
MOST_PRINTED_CHARS = 20_000
MOST_CODE_CHARS = 100_000
_DEEPEST = 60


class Ran(Frozen):
    """`result` is the variable of that name, or the value of the last expression."""

    result: JsonValue
    printed: str
    is_cut: bool = False
    """Whether more was printed than is kept."""


def check_run(code: str, inputs: Mapping[str, JsonValue]) -> None:
    """Before anything is run.

    Raises:
        BadInput: the code is too long, or an input has a name that no variable can have.
    """
    if not code.strip():
        raise BadInput("the code is empty")
    if len(code) > MOST_CODE_CHARS:
        raise BadInput(f"the code has {len(code)} characters; the most is {MOST_CODE_CHARS}")
    for name in inputs:
        if not name.isidentifier() or iskeyword(name) or name.startswith("__"):
            raise BadInput(
                f"input {name[:80]!r} cannot be a variable: name it with letters, digits and _"
            )


def checked_result(value: object) -> JsonValue:
    """The value as JSON, of bounded size.

    Raises:
        BadInput: it is too long, too deep, not finite, or of a kind that JSON has nothing for.
    """
    found = _as_json(value, _DEEPEST)
    try:
        size = len(json.dumps(found, ensure_ascii=False))
    except ValueError as odd:  # an integer of thousands of digits
        raise BadInput(f"the result cannot be written: {odd}") from odd
    if size > MOST_RESULT_CHARS:
        raise BadInput(
            f"the result has {size:,} characters; the most is {MOST_RESULT_CHARS:,}: give back "
            "less, such as sums or the first rows"
        )
    if isinstance(value, float) and not math.isfinite(value):
        raise BadInput(f"the result is {value}, which is no number")
    return found


def _as_json(value: object, deep: int) -> JsonValue:  # noqa: C901 - a case for each kind
    if not deep:
        raise BadInput(f"the result is nested more than {_DEEPEST} deep; give back less")
    match value:
        case None | bool() | int():
            return value
        case str():
            return plain_text(value)
        case float():
            return value if math.isfinite(value) else None
        case Decimal():
            return _as_json(float(value), deep)
        case datetime() | date() | time():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case Mapping():
            return {_key(key): _as_json(each, deep - 1) for key, each in value.items()}
        case set() | frozenset():
            return _in_order(_as_json(each, deep - 1) for each in value)
        case list() | tuple():
            return [_as_json(each, deep - 1) for each in value]
        case _:
            raise BadInput(
                f"the result holds a {type(value).__name__}; give back numbers, text, lists and "
                "dicts"
            )


def _key(key: object) -> str:
    return plain_text(key if isinstance(key, str) else str(_as_json(key, 2)))


def _in_order(items: Iterable[JsonValue]) -> list[JsonValue]:
    return sorted(items, key=lambda each: (str(type(each)), repr(each)))
