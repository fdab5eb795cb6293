"""Make text safe to show on a terminal: shorten it, drop and escape control characters."""

import re
import unicodedata

_CONTROL_CHARACTERS = re.compile(r"[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters that JSON does not escape, and characters that turn the text direction."""
_JOINERS = "\u200c\u200d"
"""Parts of words in some scripts, and of emoji; harmless on a terminal."""


def shorten_text(text: str, width: int) -> str:
    """The text, or its beginning with an ellipsis: at most `width` characters."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


def single_line(text: str) -> str:
    """The text on one line, without characters that steer a terminal or turn the direction."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_printable(sign) for sign in text)


def escape_json(text: str) -> str:
    """The JSON with terminal control characters escaped; it parses to the same values."""
    return _CONTROL_CHARACTERS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _printable(sign: str) -> str:
    category = unicodedata.category(sign)
    if category in ("Cc", "Zl", "Zp"):
        return " "
    return "" if category in ("Cf", "Cs") and sign not in _JOINERS else sign
