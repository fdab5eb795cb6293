"""Tests for reading a tool's result into a bounded answer."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import (
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from pydantic import JsonValue

from holdfast.models.calls.tool_signatures import SourcePassage, ToolAnswer
from holdfast.tools.mcp.answers.answer_reader import read_tool_answer


def answer_to(*texts: str, structured: JsonValue = None, limit: int = 1000) -> ToolAnswer:
    content = [TextContent(type="text", text=text) for text in texts]
    result = CallToolResult(content=content, structured_content=structured)
    return read_tool_answer(result, tool="s.t", limit=limit)


def test_text_blocks_are_lines_of_one_text() -> None:
    assert answer_to("one", "two").text == "one\ntwo"


@pytest.mark.parametrize(("limit", "text", "is_cut"), [(7, "one\ntwo", False), (5, "one\nt", True)])
def test_text_is_cut_across_blocks(limit: int, text: str, is_cut: bool) -> None:
    answer = answer_to("one", "two", limit=limit)

    assert (answer.text, answer.is_cut) == (text, is_cut)
    assert answer.passages == (SourcePassage(address="tool:s.t", text=text, end=limit, tool="s.t"),)


def test_value_without_text_is_written_out_as_text() -> None:
    answer = answer_to(structured={"größe": 1})

    assert answer.text == '{"größe": 1}'


def test_too_large_value_without_text_is_written_out_and_cut() -> None:
    answer = answer_to(structured={"a": "x" * 50}, limit=20)

    assert (answer.text, answer.structured, answer.is_cut) == ('{"a": "xxxxxxxxxxxxx', None, True)


def test_passages_have_the_length_of_their_text() -> None:
    item = {"address": "a", "title": None, "heading": "h", "text": "four", "start": 10, "end": 11}

    answer = answer_to("json", structured={"passages": [item]})

    assert answer.passages == (
        SourcePassage(address="a", heading="h", text="four", start=10, end=14, tool="s.t"),
    )


def test_no_passages_found_is_no_passage_to_read() -> None:
    assert answer_to('{"passages": []}', structured={"passages": []}).passages == ()


@pytest.mark.parametrize("passages", ["x", [{"text": 1}], [{"text": "a"}, "b"], {"text": "a"}])
def test_other_shapes_are_read_as_text(passages: JsonValue) -> None:
    (passage,) = answer_to("all of it", structured={"passages": passages}).passages

    assert (passage.address, passage.text) == ("tool:s.t", "all of it")


def test_resources_are_read_or_named() -> None:
    content = [
        EmbeddedResource(
            type="resource", resource=TextResourceContents(uri="file:///a", text="inside")
        ),
        EmbeddedResource(
            type="resource",
            resource=BlobResourceContents(
                uri="file:///b", blob="aGk=", mime_type="application/pdf"
            ),
        ),
        ResourceLink(type="resource_link", name="c", uri="file:///c"),
    ]

    answer = read_tool_answer(CallToolResult(content=content), tool="s.t", limit=1000)

    assert answer.text == "inside\n[application/pdf, 2 bytes]\n[resource, file:///c]"


def test_value_holds_nothing_that_postgresql_refuses() -> None:
    value: JsonValue = {"a\x00": ["\x00", float("nan"), "\ud800", 1.5]}

    answer = answer_to("x", structured=value)

    assert answer.structured == {"a\ufffd": ["\ufffd", None, "\ufffd", 1.5]}


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    ),
    st.integers(1, 60),
)
def test_answer_is_never_larger_than_the_limit(value: JsonValue, limit: int) -> None:
    answer = answer_to(json.dumps(value), structured={"value": value}, limit=limit)

    assert len(answer.text) <= limit
    assert answer.is_cut or answer.structured == json.loads(
        json.dumps({"value": value}).replace("\\u0000", "\\ufffd")
    )
