"""Tell whether a text is written from right to left."""

import unicodedata


def is_right_to_left(text: str) -> bool:
    """True if the first letter with a direction belongs to a script such as Hebrew or Arabic.

    This is the rule P2 of the Unicode bidirectional algorithm, which `dir="auto"` in HTML follows.
    """
    if text.isascii():
        return False
    for sign in text:
        direction = unicodedata.bidirectional(sign)
        if direction in ("R", "AL"):
            return True
        if direction == "L":
            return False
    return False
