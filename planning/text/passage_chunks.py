"""Split a long tool answer into chunks at natural borders, and keep the offsets of the text.

KPI-Chain (docs/method.md), section 3.3: an answer over 3000 tokens is split, and its chunks are
extracted one by one.
"""

from collections.abc import Iterator, Sequence

from holdfast.models.calls.tool_signatures import SourcePassage
from holdfast.planning.text.token_estimates import estimate_tokens

Chunk = tuple[SourcePassage, ...]
_BORDERS = ("\n\n", "\n", ". ", " ")


def split_into_chunks(passages: Sequence[SourcePassage], limit: int) -> tuple[Chunk, ...]:
    """Pack the passages in order into chunks of at most `limit` tokens; one chunk if they fit."""
    packed: list[list[SourcePassage]] = [[]]
    room = limit
    for piece in _passage_pieces(passages, limit):
        size = estimate_tokens(piece.text)
        if size > room and packed[-1]:
            packed.append([])
            room = limit
        packed[-1].append(piece)
        room -= size
    return tuple(tuple(chunk) for chunk in packed if chunk)


def _passage_pieces(passages: Sequence[SourcePassage], limit: int) -> Iterator[SourcePassage]:
    for passage in passages:
        tokens = estimate_tokens(passage.text)
        if tokens <= limit:
            yield passage
            continue
        # Characters per token differ by text: the passage's own ratio is used.
        width = max(1, int(len(passage.text) * limit / tokens * 0.9))
        yield from _split_passage(passage, width)


def _split_passage(passage: SourcePassage, width: int) -> Iterator[SourcePassage]:
    start = 0
    while start < len(passage.text):
        end = _last_border(passage.text, start, start + width)
        text = passage.text[start:end]
        at = passage.start + start
        yield passage.model_copy(update={"text": text, "start": at, "end": at + len(text)})
        start = end


def _last_border(text: str, start: int, end: int) -> int:
    """Return the last natural border before `end` in the second half, else `end`."""
    if end >= len(text):
        return len(text)
    half = start + (end - start) // 2
    for border in _BORDERS:
        at = text.rfind(border, half, end)
        if at > 0:
            return at + len(border)
    return end
