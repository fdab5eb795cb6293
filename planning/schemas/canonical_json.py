"""Write JSON values so that equal values have equal texts, in counted steps.

JSON Schema calls 1 and 1.0 equal, true and 1 different. Comparing the texts needs no pairwise
comparison of values, and no hash of a number: numbers with the same hash can be chosen freely.
"""

import json

from holdfast.planning.schemas.counted_steps import Steps

_CHARS_PER_STEP = 50
"""Characters of text that are copied or compared within one step."""
_BITS_PER_STEP = 512


def canonical_json(value: object, steps: Steps) -> str:
    """Return the canonical text of a JSON value.

    Raises:
        UncheckableSchema: writing it takes too many steps.
    """
    steps.take()
    if isinstance(value, list):
        return _joined("[", [canonical_json(item, steps) for item in value], steps)
    if isinstance(value, dict):
        members = [
            f"{_text(name, steps)}:{canonical_json(item, steps)}" for name, item in value.items()
        ]
        return _joined("{", sorted(members), steps)
    if isinstance(value, str):
        return _text(value, steps)
    if value is None or isinstance(value, bool):
        return str(value)
    return _number(value, steps)


def _joined(start: str, parts: list[str], steps: Steps) -> str:
    text = start + ",".join(parts)
    steps.take(len(text) // _CHARS_PER_STEP)
    return text + ("]" if start == "[" else "}")


def _text(text: str, steps: Steps) -> str:
    steps.take(len(text) // _CHARS_PER_STEP)
    return json.dumps(text)


def _number(value: object, steps: Steps) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int):
        steps.take(value.bit_length() // _BITS_PER_STEP)
        return f"{value:x}"  # decimal digits take quadratic time
    return f"={value!r}"  # an equals sign: 1e5 would be a hexadecimal number too
