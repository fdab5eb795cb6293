"""Split text into sentences with their offsets."""

import re

# Anchored at the first character of a run and possessive, so that no text makes it quadratic.
_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]*_]*+(?=\s|\Z)|\n")
_TITLE = re.compile(r"(?<!\w)(?:Mr|Mrs|Ms|Dr|Prof)\.$")
_NAME_FOLLOWS = re.compile(
    r"[^\S\n]+(?!(?:The|This|That|These|Those|It|Its|She|They|We|There)\b)[^\W\d_]"
)
_TITLE_FOLLOWS = re.compile(r"[^\S\n]+(?:and|or|&)[^\S\n]+(?:Mr|Mrs|Ms|Dr|Prof)\.")
_NUMBER_SIGN = re.compile(r"\w(?<!\bis)(?<!\bwas)(?<!says)(?<!said)(?<!swer) +[Nn]o\.$", re.ASCII)
_NUMBER_FOLLOWS = re.compile(r"[^\S\n]+(?:[A-Z]{1,4}-?)?\d")
_LONGEST_ABBREVIATION = 8
"""Characters before an end that are read to tell an abbreviation."""


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Where each sentence starts and ends, in order, without the white space around it.

    A sentence ends at a line break, or after `.`, `!`, `?` or `…` with closing quotes and brackets
    if white space follows. It does not end after the title of a name (`Dr. Vane`, `Mr. and Mrs.
    Vane`), and not after the sign of a number (`policy no. 7`). Every character but white space is
    in exactly one sentence.
    """
    ends = [
        match.end()
        for match in _SENTENCE_END.finditer(text)
        if not _ends_abbreviation(text, match.end())
    ]
    spans = (
        trimmed_span(text, start, end)
        for start, end in zip([0, *ends], [*ends, len(text)], strict=True)
    )
    return [(start, end) for start, end in spans if start < end]


def _ends_abbreviation(text: str, end: int) -> bool:
    """True if the full stop before `end` belongs to its word, by what stands on both sides."""
    before = text[max(0, end - _LONGEST_ABBREVIATION) : end]
    if _TITLE.search(before):
        name = _NAME_FOLLOWS.match(text, end)
        is_named = name is not None and name.group()[-1].isupper()
        return is_named or _TITLE_FOLLOWS.match(text, end) is not None
    return _NUMBER_SIGN.search(before) is not None and bool(_NUMBER_FOLLOWS.match(text, end))


def trimmed_span(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without the white space at its edges; it is empty if there is nothing else."""
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    return start + left, start + max(left, len(piece.rstrip()))
