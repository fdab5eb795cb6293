"""Cutting a long tool answer into chunks on natural borders, offsets kept.

KPI-Chain (seed 000), section 3.3: answers over 3000 tokens are split and extracted chunk by chunk.
"""

from collections.abc import Iterator, Sequence

from models.tools import ReadPassage
from planning.tokens import estimate_tokens

Chunk = tuple[ReadPassage, ...]
_BORDERS = ("\n\n", "\n", ". ", " ")


def chunks(passages: Sequence[ReadPassage], limit: int) -> tuple[Chunk, ...]:
    """The passages packed in order into chunks of at most `limit` tokens; one if they fit."""
    packed: list[list[ReadPassage]] = [[]]
    room = limit
    for piece in _pieces(passages, limit):
        size = estimate_tokens(piece.text)
        if size > room and packed[-1]:
            packed.append([])
            room = limit
        packed[-1].append(piece)
        room -= size
    return tuple(tuple(chunk) for chunk in packed if chunk)


def _pieces(passages: Sequence[ReadPassage], limit: int) -> Iterator[ReadPassage]:
    for passage in passages:
        tokens = estimate_tokens(passage.text)
        if tokens <= limit:
            yield passage
            continue
        # Characters per token differ by text; the passage's own ratio is the best guess there is.
        width = max(1, int(len(passage.text) * limit / tokens * 0.9))
        yield from _cut(passage, width)


def _cut(passage: ReadPassage, width: int) -> Iterator[ReadPassage]:
    start = 0
    while start < len(passage.text):
        end = _border(passage.text, start, start + width)
        text = passage.text[start:end]
        at = passage.start + start
        yield passage.model_copy(update={"text": text, "start": at, "end": at + len(text)})
        start = end


def _border(text: str, start: int, end: int) -> int:
    """The last natural border before `end`, in the second half; else `end` itself."""
    if end >= len(text):
        return len(text)
    half = start + (end - start) // 2
    for border in _BORDERS:
        at = text.rfind(border, half, end)
        if at > 0:
            return at + len(border)
    return end
