"""Bound the content blocks of an answer, because the library looks at each of them for long."""

from typing import Any

MAX_BLOCKS = 500
"""Content blocks of an answer that are not text; more than so many texts become one text."""


def bounded_blocks(blocks: list[Any]) -> list[Any] | None:
    """Return the blocks with neighbouring texts joined by line ends, if they are many.

    The text of an answer joins them in the same way. None if too many other blocks remain.
    """
    if len(blocks) <= MAX_BLOCKS:
        return blocks
    joined: list[Any] = []
    texts: list[str] = []
    for block in blocks:
        if isinstance(block, dict) and block.get("type") == "text":
            texts.append(str(block.get("text", "")))
            continue
        joined += [_as_block(texts)] if texts else []
        joined.append(block)
        texts = []
        if len(joined) > MAX_BLOCKS:
            return None
    return joined + ([_as_block(texts)] if texts else [])


def _as_block(texts: list[str]) -> dict[str, str]:
    return {"type": "text", "text": "\n".join(texts)}
