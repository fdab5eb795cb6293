"""Read the images of a tool answer, check their types by their bytes, and limit their size."""

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mcp.types import BlobResourceContents, ContentBlock, EmbeddedResource, ImageContent

from holdfast.models.calls.tool_figures import SVG, ToolFigure, new_figure
from holdfast.models.text.terminal_text import single_line

FIGURE_KEY = "holdfast/figure"
"""Key in the `_meta` of an image; the value is an object with `title` and `caption`."""
MAX_FIGURES = 6
MAX_FIGURE_BYTES = 2 * 2**20
_MAX_TITLE_CHARS = 200
_MAX_CAPTION_CHARS = 1_000
_SVG_HEAD = 1_000
_MAGIC = (
    ("image/png", b"\x89PNG\r\n\x1a\n"),
    ("image/jpeg", b"\xff\xd8\xff"),
    ("image/gif", b"GIF87a"),
    ("image/gif", b"GIF89a"),
)


def read_figures(
    blocks: Sequence[ContentBlock], *, tool: str
) -> tuple[tuple[ToolFigure, ...], Mapping[int, str]]:
    """Return the images among the blocks, and the faults of rejected images by block index.

    The bytes of an image decide its type. An image without a title gets the tool's name as title.
    """
    figures: dict[str, ToolFigure] = {}
    faults: dict[int, str] = {}
    for place, encoded, meta in _images(blocks):
        data = _decoded(encoded)
        media_type = _media_type(data) if data else None
        if len(figures) == MAX_FIGURES:
            faults[place] = f"not kept: more than {MAX_FIGURES} images"
        elif len(encoded) > _longest(MAX_FIGURE_BYTES):
            faults[place] = f"not kept: larger than {MAX_FIGURE_BYTES // 2**20} MB"
        elif data is None or media_type is None:
            faults[place] = "not kept: its bytes are no PNG, JPEG, GIF, WebP or SVG"
        else:
            usual = f"{tool} {len(figures) + 1}" if figures else tool
            figure = new_figure(media_type, data, **_title_and_caption(meta, usual))
            figures[figure.sha256] = figure
    return tuple(figures.values()), faults


def _images(
    blocks: Sequence[ContentBlock],
) -> Iterator[tuple[int, str, Mapping[str, Any]]]:
    for place, block in enumerate(blocks):
        match block:
            case ImageContent(data=data, meta=meta):
                yield place, data, meta or {}
            case EmbeddedResource(
                resource=BlobResourceContents(blob=blob, mime_type=str(mime)), meta=meta
            ) if mime.startswith("image/"):
                yield place, blob, meta or {}


def _longest(size_bytes: int) -> int:
    """Return how many base64 characters encode this many bytes."""
    return -(-size_bytes // 3) * 4


def _decoded(encoded: str) -> bytes | None:
    if len(encoded) > _longest(MAX_FIGURE_BYTES):
        return None
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return None


def _media_type(data: bytes) -> str | None:
    for media_type, magic in _MAGIC:
        if data.startswith(magic):
            return media_type
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return SVG if _is_svg(data) else None


def _is_svg(data: bytes) -> bool:
    try:
        head = data.decode()[:_SVG_HEAD].lstrip("\ufeff \t\r\n")
    except UnicodeDecodeError:
        return False
    return head.startswith("<svg") or (head.startswith("<?xml") and "<svg" in head)


def _title_and_caption(meta: Mapping[str, Any], usual: str) -> dict[str, str]:
    about = meta.get(FIGURE_KEY)
    fields = about if isinstance(about, dict) else {}
    return {
        "title": _line(fields.get("title"), _MAX_TITLE_CHARS) or usual,
        "caption": _line(fields.get("caption"), _MAX_CAPTION_CHARS),
    }


def _line(value: object, most: int) -> str:
    return " ".join(single_line(value).split())[:most] if isinstance(value, str) else ""
