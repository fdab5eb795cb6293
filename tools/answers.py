"""What an MCP tool gave back, read into a `ToolAnswer` of bounded size."""

import json
import math
from collections.abc import Iterator, Mapping

from mcp.types import (
    AudioContent,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from pydantic import JsonValue

from models.tools import ToolAnswer
from tools.figures import read_figures
from tools.marks import COMPUTED
from tools.plain import plain_text
from tools.told import Giver, passages_in, whole


def read_answer(
    result: CallToolResult, *, tool: str, limit: int, is_foreign: bool = False
) -> ToolAnswer:
    """The answer of `server.tool` with at most `limit` characters of text.

    Structured content that is longer than `limit` is left out whole, because half a JSON value
    would be a wrong one. `is_foreign` says that the server does not come with Holdfast: its
    passages then say so, and an address that is no web address begins with its name.
    """
    structured = _unwrapped(result.structured_content)
    fits = _fits(structured, limit)
    figures, faults = read_figures(result.content, tool=tool)
    text, is_cut = read_text(result, limit, faults)
    if not text and structured is not None:
        text, is_cut = _cut(json.JSONEncoder(ensure_ascii=False).iterencode(structured), limit)
        text = plain_text(text)
    kept = storable(structured) if fits else None
    giver = Giver(tool, is_foreign=is_foreign)
    is_computed = (result.meta or {}).get(COMPUTED) is True
    passages = None if is_computed else passages_in(kept, giver)
    if passages is None:
        passages = whole(text, giver)
    return ToolAnswer(
        text=text,
        structured=kept,
        passages=passages,
        is_cut=is_cut or not fits,
        figures=figures,
    )


def read_text(
    result: CallToolResult, limit: int, faults: Mapping[int, str] | None = None
) -> tuple[str, bool]:
    """The text of all content blocks, one per line, and whether its end was dropped.

    `faults` says by a block's place why its image was not kept.
    """
    text, is_cut = _cut(_lines(result.content, faults or {}), limit)
    return plain_text(text), is_cut


def _lines(blocks: list[ContentBlock], faults: Mapping[int, str]) -> Iterator[str]:
    for number, block in enumerate(blocks):
        if number:
            yield "\n"
        yield _words(block)
        if number in faults:
            yield f" ({faults[number]})"


def _words(block: ContentBlock) -> str:
    match block:
        case TextContent(text=text):
            return text
        case ImageContent(data=data, mime_type=mime) | AudioContent(data=data, mime_type=mime):
            return _named(mime, data)
        case EmbeddedResource(resource=TextResourceContents(text=text)):
            return text
        case EmbeddedResource(resource=resource):
            return _named(resource.mime_type or "data", getattr(resource, "blob", ""))
        case ResourceLink(uri=uri, mime_type=mime):
            return f"[{mime or 'resource'}, {uri}]"


def _named(mime: str, base64: str) -> str:
    size_bytes = len(base64) * 3 // 4 - base64[-2:].count("=")
    return f"[{mime}, {size_bytes} bytes]"


def _cut(pieces: Iterator[str], limit: int) -> tuple[str, bool]:
    kept: list[str] = []
    room = limit
    for piece in pieces:
        kept.append(piece[:room])
        if len(piece) > room:
            return "".join(kept), True
        room -= len(piece)
    return "".join(kept), False


def _unwrapped(structured: JsonValue) -> JsonValue:
    # MCP wants an object at the root, so servers put a plain value under "result".
    if isinstance(structured, dict) and structured.keys() == {"result"}:
        return structured["result"]
    return structured


def _fits(value: JsonValue, limit: int) -> bool:
    """Whether the value has at most `limit` characters, counted without writing it out."""
    left: list[JsonValue] = [value]
    while left and limit >= 0:
        limit -= 1
        match left.pop():
            case str(text):
                limit -= len(text)
            case dict(members):
                left += members.keys()
                left += members.values()
            case list(items):
                left += items
    return limit >= 0


def storable(value: JsonValue) -> JsonValue:
    """The value without what PostgreSQL refuses in JSON."""
    match value:
        case str():
            return plain_text(value)
        case dict():
            return {plain_text(key): storable(item) for key, item in value.items()}
        case list():
            return [storable(item) for item in value]
        case float() if not math.isfinite(value):
            return None  # JSON has no NaN and no infinity, and PostgreSQL refuses them
        case _:
            return value
