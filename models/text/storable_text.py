"""Replace what PostgreSQL refuses in text and in JSON; the one place that knows these characters.

PostgreSQL refuses NUL and lone surrogates (halves of UTF-16 pairs, which have no UTF-8). Offsets of
quotes count characters, so a replacement is one character for one: the length never changes.
"""

import json
import math
import re

from pydantic import JsonValue

from holdfast.models.text.json_leaves import map_leaves

REPLACEMENT = "\ufffd"
"""Unicode's sign for a character that could not be represented."""
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")


def storable_text(text: str) -> str:
    """The text with U+FFFD for each NUL and each surrogate; the same length."""
    return text if _is_storable(text) else _UNSTORABLE.sub(REPLACEMENT, text)


def storable_value(value: JsonValue) -> JsonValue:
    """The JSON value with storable texts and names, and null for NaN and infinite numbers."""
    return map_leaves(value, _storable_leaf)


def storable_json(value: JsonValue) -> str:
    """The value as JSON that PostgreSQL accepts, whatever a model or a page has put into it."""
    return json.dumps(storable_value(value), ensure_ascii=False)


def _is_storable(text: str) -> bool:
    # Encoding costs a fifth of the regular expression, and nearly every text passes.
    if "\x00" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _storable_leaf(leaf: JsonValue) -> JsonValue:
    if isinstance(leaf, str):
        return storable_text(leaf)
    if isinstance(leaf, float) and not math.isfinite(leaf):
        return None
    return leaf
