"""The images in a tool's answer, checked by their bytes and bounded in size and number."""

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mcp.types import BlobResourceContents, ContentBlock, EmbeddedResource, ImageContent

from models.figures import SVG, Figure, drawn
from models.text import one_line

ABOUT = "holdfast/figure"
"""A key in the `_meta` of an image: its `title` and `caption`."""
MOST_FIGURES = 6
LARGEST_BYTES = 2 * 2**20
_LONGEST_TITLE = 200
_LONGEST_CAPTION = 1_000
_SVG_HEAD = 1_000
_MAGIC = (
    ("image/png", b"\x89PNG\r\n\x1a\n"),
    ("image/jpeg", b"\xff\xd8\xff"),
    ("image/gif", b"GIF87a"),
    ("image/gif", b"GIF89a"),
)


def read_figures(
    blocks: Sequence[ContentBlock], *, tool: str
) -> tuple[tuple[Figure, ...], Mapping[int, str]]:
    """The images among the blocks; and by the block's place, why others were not kept.

    An image's type is what its bytes say. One without a title is called by its tool.
    """
    found: dict[str, Figure] = {}
    faults: dict[int, str] = {}
    for place, encoded, meta in _images(blocks):
        data = _decoded(encoded)
        media_type = _media_type(data) if data else None
        if len(found) == MOST_FIGURES:
            faults[place] = f"not kept: more than {MOST_FIGURES} images"
        elif len(encoded) > _longest(LARGEST_BYTES):
            faults[place] = f"not kept: larger than {LARGEST_BYTES // 2**20} MB"
        elif data is None or media_type is None:
            faults[place] = "not kept: its bytes are no PNG, JPEG, GIF, WebP or SVG"
        else:
            usual = f"{tool} {len(found) + 1}" if found else tool
            figure = drawn(media_type, data, **_about(meta, usual))
            found[figure.sha256] = figure
    return tuple(found.values()), faults


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
    """Characters of base64 that so many bytes take."""
    return -(-size_bytes // 3) * 4


def _decoded(encoded: str) -> bytes | None:
    if len(encoded) > _longest(LARGEST_BYTES):
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


def _about(meta: Mapping[str, Any], usual: str) -> dict[str, str]:
    about = meta.get(ABOUT)
    told = about if isinstance(about, dict) else {}
    return {
        "title": _line(told.get("title"), _LONGEST_TITLE) or usual,
        "caption": _line(told.get("caption"), _LONGEST_CAPTION),
    }


def _line(value: object, most: int) -> str:
    return " ".join(one_line(value).split())[:most] if isinstance(value, str) else ""
