"""Take forged citation marks and hidden signs out of text that a model wrote for a report."""

import re
import unicodedata

from holdfast.models.text.terminal_text import single_line

_OPENING = "[［【〔⟦❲⁅﹝"
_CLOSING = "]］】〕⟧❳⁆﹞"
_LONGEST_MARK = 60
"""Characters of the longest mark with its brackets; it also keeps the time linear."""
_REFERENCE = r"\^?[A-Za-z]{0,3}\d+"
_MARK = re.compile(rf"(?:{_REFERENCE}(?:[,;:–—-]+{_REFERENCE})*|\^\S*)?[,;]?")
_INVISIBLE = frozenset({"Cf", "Mn", "Me", "Zs"})


def without_marks(text: str) -> str:
    """Return the text on one line and without marks such as `[1]`, `[E1, E2]` or `[^1]`.

    Brackets of all kinds count, and brackets in brackets: one pass finds what removing the inner
    ones would leave behind, so applying this twice changes nothing.
    """
    kept: list[str] = []
    opened: list[int] = []
    for sign in single_line(text):
        kept.append(sign)
        if sign in _OPENING:
            opened.append(len(kept) - 1)
        elif sign in _CLOSING and opened:
            start = opened.pop()
            if _is_mark(kept, start):
                del kept[start:]
                if kept and kept[-1] == " ":
                    kept.pop()
    return "".join(kept).strip()


def _is_mark(signs: list[str], start: int) -> bool:
    """True if the brackets from `start` to the end are empty, or name evidence as a mark does."""
    if len(signs) - start > _LONGEST_MARK:
        return False
    inner = signs[start + 1 : -1]
    seen = "".join(each for each in inner if unicodedata.category(each) not in _INVISIBLE)
    return _MARK.fullmatch(seen) is not None
