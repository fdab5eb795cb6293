"""Convert the result of an MCP tool call into a `ToolAnswer` of bounded size."""

import json
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

from holdfast.models.calls.tool_signatures import ToolAnswer
from holdfast.models.text.storable_text import storable_text, storable_value
from holdfast.tools.mcp.answers.answer_images import read_figures
from holdfast.tools.mcp.answers.answer_passages import (
    AnswerSource,
    structured_passages,
    whole_answer_passage,
)
from holdfast.tools.mcp.meta_keys import COMPUTED_KEY


def read_tool_answer(
    result: CallToolResult, *, tool: str, limit: int, is_foreign: bool = False
) -> ToolAnswer:
    """Return the answer of `server.tool` with at most `limit` characters of text.

    Structured content longer than `limit` is left out completely, because half a JSON value
    would be wrong. `is_foreign` marks a server that is not built in: its passages are marked as
    foreign, and its name becomes the prefix of every address that is not a web address.
    """
    structured = _unwrapped(result.structured_content)
    fits = _fits(structured, limit)
    figures, faults = read_figures(result.content, tool=tool)
    text, is_cut = read_answer_text(result, limit, faults)
    if not text and structured is not None:
        text, is_cut = _cut(json.JSONEncoder(ensure_ascii=False).iterencode(structured), limit)
        text = storable_text(text)
    kept = storable_value(structured) if fits else None
    source = AnswerSource(tool, is_foreign=is_foreign)
    is_computed = (result.meta or {}).get(COMPUTED_KEY) is True
    passages = None if is_computed else structured_passages(kept, source)
    if passages is None:
        passages = whole_answer_passage(text, source)
    return ToolAnswer(
        text=text,
        structured=kept,
        passages=passages,
        is_cut=is_cut or not fits,
        figures=figures,
    )


def read_answer_text(
    result: CallToolResult, limit: int, faults: Mapping[int, str] | None = None
) -> tuple[str, bool]:
    """Return the text of all content blocks, one per line, and whether the text was cut.

    `faults` maps the index of a block to the reason why its image was rejected.
    """
    text, is_cut = _cut(_lines(result.content, faults or {}), limit)
    return storable_text(text), is_cut


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
    # MCP requires an object at the root, so servers put a plain value under "result".
    if isinstance(structured, dict) and structured.keys() == {"result"}:
        return structured["result"]
    return structured


def _fits(value: JsonValue, limit: int) -> bool:
    """Return True if the value's JSON has at most `limit` characters, without serializing it."""
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
