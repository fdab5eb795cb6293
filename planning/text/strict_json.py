"""Load JSON whose numbers are finite and whose nesting is bounded."""

import json
from math import isfinite
from typing import NoReturn

from pydantic import JsonValue

from holdfast.planning.text.strict_yaml import MAX_DEPTH

_QUOTED_CHARS = 40


def load_strict_json(text: str) -> JsonValue:
    """The value that the text is in JSON.

    Raises:
        ValueError: the text is not JSON, has a number that JSON or a float cannot hold, or is
            nested too deep.
    """
    try:
        value: JsonValue = json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        raise ValueError("the text is nested too deep") from None
    if _is_deeper(value, MAX_DEPTH):
        raise ValueError("the text is nested too deep")
    return value


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number in JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text[:_QUOTED_CHARS]!r} is too large a number")
    return number


def _is_deeper(value: JsonValue, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    within = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deeper(each, levels - 1) for each in within)
