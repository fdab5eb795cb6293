"""Text as lists, labels and receipts hold it."""

import unicodedata

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


def _shown(sign: str) -> str:
    category = unicodedata.category(sign)
    if category in ("Cc", "Zl", "Zp"):
        return " "
    return "" if category in ("Cf", "Cs") and sign not in _JOINERS else sign
