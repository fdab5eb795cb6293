"""Tests for what a server claims of a passage (address, title, date, description) and how much of
it is believed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import CallToolResult, Tool, ToolAnnotations
from pydantic import JsonValue

from holdfast.models.calls.tool_signatures import SourcePassage
from holdfast.tools.mcp.answers.answer_passages import without_server_prefix
from holdfast.tools.mcp.answers.answer_reader import read_tool_answer
from holdfast.tools.mcp.reread_method import RereadMethod, find_reread_method
from holdfast.tools.mcp.tool_descriptions import clean_description, clean_schema


def told(is_foreign: bool = True, **item: JsonValue) -> SourcePassage:
    result = CallToolResult(
        content=[], structured_content={"passages": [{"text": "words", **item}]}
    )
    answer = read_tool_answer(result, tool="kb.find", limit=1000, is_foreign=is_foreign)
    (passage,) = answer.passages
    return passage


@pytest.mark.parametrize(
    ("address", "stored"),
    [
        ("cats.md", "kb:cats.md"),
        ("https://a.example/x", "https://a.example/x"),
        ("HTTP://a.example", "HTTP://a.example"),
        ("http:///x", "kb:http:///x"),
        ("javascript:alert(1)", "kb:javascript:alert(1)"),
        ("corpus:cats.md", "kb:corpus:cats.md"),
        (" \n\u202ehttps://a.example/\x1b[2J", "https://a.example/ [2J"),
        ("\u200e\n", "tool:kb.find#1"),
    ],
)
def test_a_server_of_ones_own_speaks_in_its_own_name(address: str, stored: str) -> None:
    passage = told(address=address)

    assert (passage.address, passage.via, passage.tool) == (stored, "kb", "kb.find")


def test_a_server_that_comes_with_holdfast_is_believed() -> None:
    passage = told(is_foreign=False, address="a  b.md")

    assert (passage.address, passage.via, passage.tool) == ("a  b.md", "", "kb.find")


@pytest.mark.parametrize(
    ("date", "stored"),
    [
        ("2024", "2024"),
        ("2024-05", "2024-05"),
        (" 2024-05-31 ", "2024-05-31"),
        ("2024-05-31T10:00:00+02:00", "2024-05-31T10:00:00+02:00"),
        ("2024-13-01", ""),
        ("last year", ""),
        ("2024-05-31\x1b[2J", ""),
        (20240531, ""),
    ],
)
def test_a_date_is_iso_or_dropped(date: JsonValue, stored: str) -> None:
    assert told(date=date).date == stored


@given(
    st.dictionaries(
        st.sampled_from(["address", "title", "heading", "date", "start", "end", "tool", "via"]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=2000),
    )
)
def test_whatever_is_told_a_passage_is_bounded_clean_and_ours(item: dict[str, JsonValue]) -> None:
    passage = told(**item)

    assert (passage.via, passage.tool, passage.end) == ("kb", "kb.find", passage.start + 5)
    for name in (passage.address, passage.title, passage.heading, passage.date):
        assert len(name) <= 1000
        assert not set(name) & set("\n\r\x1b\x9b\u202e\u2028\x00")
    assert passage.address.startswith(("kb:", "tool:kb.find", "http://", "https://")) or (
        passage.address.lower().startswith("http")
    )
    known = without_server_prefix(passage.address, passage.via)
    assert passage.address in (known, f"kb:{known}")


def test_descriptions_are_bounded_and_what_a_schema_demands_stays() -> None:
    schema = {
        "type": "object",
        "properties": {"description": {"type": "string", "description": "d\x1b" * 900}},
        "required": ["description"],
    }

    shown = clean_schema(schema)

    part = shown["properties"]["description"]
    assert part["type"] == "string"
    assert len(part["description"]) == 500
    assert "\x1b" not in part["description"]
    assert shown["required"] == ["description"]
    assert clean_description("first\n\x1b[31msecond\u202e") == "first\n [31msecond"
    assert len(clean_description("x" * 100_000)) == 2000


def _tool(name: str, reads: JsonValue = None, *, safe: bool = True) -> Tool:
    schema = {"type": "object", "properties": {"address": {"type": "string"}}}
    return Tool(
        name=name,
        input_schema=schema,
        annotations=ToolAnnotations(read_only_hint=safe),
        _meta={"holdfast/reads": reads},
    )


def test_the_tool_that_reads_at_an_address_is_one_that_can_and_only_reads() -> None:
    reader, unsafe, wrong = (
        _tool("get", "address"),
        _tool("do", "address", safe=False),
        _tool("a", "nothing"),
    )

    assert find_reread_method("kb", "find", [wrong, unsafe, _tool("find"), reader]) == RereadMethod(
        "kb.get", "address", is_repeatable=True
    )
    assert find_reread_method("kb", "do", [wrong, unsafe]) == RereadMethod()
    assert find_reread_method("kb", "gone", [_tool("x", ["address"])]) == RereadMethod()
