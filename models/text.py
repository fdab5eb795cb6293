"""Text as lists, labels and receipts hold it."""

import re
import unicodedata

from pydantic import JsonValue

_TAG = re.compile(r"<(\s*/?\s*JSON_PATH\s*)>")
_INERT = re.compile(r"‹(\s*/?\s*JSON_PATH\s*)›")
_STEERING = re.compile(r"[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters that JSON leaves as they are, and signs that turn the writing's direction."""
_JOINERS = "\u200c\u200d"
"""Part of words in some scripts, and of emoji: they steer nothing."""


def shortened(text: str, width: int) -> str:
    """The text, or its beginning with an ellipsis: at most `width` characters."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


def one_line(text: str) -> str:
    """The text on one line, without what could steer a terminal or turn the writing's direction."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(sign) for sign in text)


def escaped_json(text: str) -> str:
    """The same JSON with what could steer a terminal escaped: it reads as the same values."""
    return _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _shown(sign: str) -> str:
    category = unicodedata.category(sign)
    if category in ("Cc", "Zl", "Zp"):
        return " "
    return "" if category in ("Cf", "Cs") and sign not in _JOINERS else sign


def inert(value: JsonValue) -> JsonValue:
    """The value as a model that writes references is shown it: what looks like one is none.

    Such a model may copy what it was shown into a new task, and only what it writes itself may
    refer to anything. `revived` undoes it where the copy is used.
    """
    if isinstance(value, str):
        return _TAG.sub(r"‹\1›", value) if "JSON_PATH" in value else value
    if isinstance(value, list):
        return [inert(each) for each in value]
    if isinstance(value, dict):
        return {str(inert(name)): inert(each) for name, each in value.items()}
    return value


def revived(text: str) -> str:
    """The text with what `inert` disarmed as it was; for text that nothing is resolved in again."""
    return _INERT.sub(r"<\1>", text) if "JSON_PATH" in text else text
