"""Split text into sentences with their offsets."""

import re

# Anchored at the first character of a run and possessive, so that no text makes it quadratic.
_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]*_]*+(?=\s|\Z)|\n")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Where each sentence starts and ends, in order, without the white space around it.

    A sentence ends at a line break, or after `.`, `!`, `?` or `…` with closing quotes and brackets
    if white space follows. Every character but white space is in exactly one sentence.
    """
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    spans = (
        trimmed_span(text, start, end)
        for start, end in zip([0, *ends], [*ends, len(text)], strict=True)
    )
    return [(start, end) for start, end in spans if start < end]


def trimmed_span(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without the white space at its edges; it is empty if there is nothing else."""
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    return start + left, start + max(left, len(piece.rstrip()))
