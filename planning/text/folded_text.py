"""Compare texts without differences of white space, typography, case and emphasis marks.

Models copy words faithfully and typography rarely: a quote counts as verbatim if it equals the
source after folding. The place in the source is kept, so a citation shows the source's own text.
"""

import unicodedata
from dataclasses import dataclass

_SAME = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»″❝❞", '"'),
        **dict.fromkeys("‘’‚‛′`´", "'"),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        "…": "...",
    }
)
_MARKS = "*_`"
_IGNORED = frozenset(f"{_MARKS}\u00ad\u200b\u200c\u200d\u2060\ufeff")
"""Emphasis marks, and characters without width."""


@dataclass(frozen=True)
class FoldedText:
    """A folded text; `places[i]` is the offset in the source of its character `i`."""

    text: str
    places: tuple[int, ...]

    def find(self, wanted: "FoldedText") -> tuple[int, int] | None:
        """Return where the wanted text stands in the source, or None; takes linear time."""
        if not wanted.text:
            return None
        at = self.text.find(wanted.text)
        if at < 0:
            return None
        return self.places[at], self.places[at + len(wanted.text) - 1] + 1


def span_with_marks(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span with the emphasis mark at an edge that belongs to one inside the span.

    Folding ignores these marks, so a span that was found begins behind its first one.
    """
    before = text[:start][len(text[:start].rstrip(_MARKS)) :]
    if before and text[start:end].count(before) % 2:
        start -= len(before)
    after = text[end:][: len(text[end:]) - len(text[end:].lstrip(_MARKS))]
    if after and text[start:end].count(after) % 2:
        end += len(after)
    return start, end


def fold_text(text: str) -> FoldedText:
    """Return the text in compatibility form and lower case, with single spaces."""
    letters: list[str] = []
    places: list[int] = []
    for place, sign in enumerate(text):
        if sign in _IGNORED:
            continue
        if sign.isspace():
            if letters and letters[-1] != " ":
                letters.append(" ")
                places.append(place)
            continue
        for letter in unicodedata.normalize("NFKC", sign.translate(_SAME)).casefold():
            letters.append(letter)
            places.append(place)
    if letters and letters[-1] == " ":
        letters.pop()
        places.pop()
    return FoldedText("".join(letters), tuple(places))
