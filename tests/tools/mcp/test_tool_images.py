"""Tests for images that servers return: identified by their bytes, and kept within bounds."""

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import (
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    TextContent,
)

from holdfast.models.calls.tool_figures import FIGURE_EXTENSIONS, SVG
from holdfast.models.calls.tool_signatures import ToolAnswer
from holdfast.tools.mcp.answers.answer_images import FIGURE_KEY, MAX_FIGURE_BYTES, MAX_FIGURES
from holdfast.tools.mcp.answers.answer_reader import read_tool_answer

PNG = b"\x89PNG\r\n\x1a\n"


def image(data: bytes, mime: str = "image/png", **about: Any) -> ImageContent:
    encoded = base64.b64encode(data).decode()
    return ImageContent(data=encoded, mime_type=mime, _meta={FIGURE_KEY: about} if about else None)


def answer(*blocks: Any) -> ToolAnswer:
    return read_tool_answer(CallToolResult(content=list(blocks)), tool="lab.plot", limit=5000)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (PNG + b"x", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a...", "image/gif"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", SVG),
        (b"\xef\xbb\xbf<?xml version='1.0'?>\n<svg/>", SVG),
    ],
)
def test_the_bytes_say_what_an_image_is_whatever_its_server_says(data: bytes, kind: str) -> None:
    (figure,) = answer(image(data, mime="text/html")).figures

    assert (figure.media_type, figure.data, figure.title) == (kind, data, "lab.plot")


@pytest.mark.parametrize(
    "data", [b"", b"<html><svg onload='x()'></html>", b"%PDF-1.7", b"MZ", b"\x89PN", b"\xff<svg"]
)
def test_what_is_no_image_is_named_and_not_kept(data: bytes) -> None:
    found = answer(TextContent(text="here"), image(data))

    assert found.figures == ()
    assert found.text == (
        f"here\n[image/png, {len(data)} bytes] "
        "(not kept: its bytes are no PNG, JPEG, GIF, WebP or SVG)"
    )


def test_images_are_kept_up_to_a_size_and_a_number_and_each_once() -> None:
    large = image(PNG + bytes(MAX_FIGURE_BYTES))
    many = [image(PNG + bytes([n])) for n in range(MAX_FIGURES + 2)]

    assert "not kept: larger than 2 MB" in answer(large).text
    assert answer(large).figures == ()
    assert len(answer(*many).figures) == MAX_FIGURES
    assert answer(*many).text.count("not kept: more than 6 images") == 2
    assert len(answer(many[0], many[0]).figures) == 1


def test_titles_are_lines_of_bounded_length_and_resources_are_images_too() -> None:
    blob = base64.b64encode(PNG).decode()
    resource = BlobResourceContents(uri="file:///a.png", blob=blob, mime_type="image/png")
    first, second = answer(
        image(PNG + b"1", title="a\nb\x00" + "c" * 500, caption=3),
        EmbeddedResource(resource=resource),
    ).figures

    assert first.title.startswith("a b c")
    assert (len(first.title), first.caption) == (200, "")
    assert second.title == "lab.plot 2"


def test_a_title_steers_no_screen() -> None:
    (figure,) = answer(image(PNG, title="a\x1b[2J\u202eb\x00", caption="\ud800c\u2066")).figures

    assert (figure.title, figure.caption) == ("a [2Jb", "c")


def test_the_bytes_are_not_written_with_the_answer() -> None:
    found = answer(image(PNG + b"secret"))

    again = ToolAnswer.model_validate_json(found.model_dump_json())

    assert again.figures[0].sha256 == found.figures[0].sha256
    assert again.figures[0].data == b""
    assert "secret" not in repr(found)


@given(
    st.text(max_size=60) | st.binary(max_size=60).map(lambda data: base64.b64encode(data).decode())
)
def test_any_data_is_an_image_or_a_word_about_it(encoded: str) -> None:
    found = answer(ImageContent(data=encoded, mime_type="image/png"))

    assert len(found.figures) == 1 or "not kept" in found.text
    assert all(each.media_type in FIGURE_EXTENSIONS for each in found.figures)
