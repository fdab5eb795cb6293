"""Tests for the checks of arguments and answers against schemas that foreign servers wrote."""

from typing import Any

import pytest
from mcp.types import CallToolResult, Tool

from holdfast.models.errors import ToolFailed
from holdfast.tools.mcp.tool_schema_checks import CheckedTool

DOUBLING: dict[str, Any] = {
    "type": "object",
    "allOf": [{"$ref": "#/$defs/s0"}],
    "$defs": {
        **{f"s{n}": {"allOf": [{"$ref": f"#/$defs/s{n + 1}"}] * 2} for n in range(60)},
        "s60": {"type": "object"},
    },
}
ENDLESS = {"type": "object", "allOf": [{"$ref": "#"}]}
BACKTRACKING = {"type": "object", "properties": {"q": {"type": "string", "pattern": "^(a+)+$"}}}


def tool(schema: dict[str, Any], output: dict[str, Any] | None = None) -> CheckedTool:
    return CheckedTool(Tool(name="t", input_schema=schema, output_schema=output))


@pytest.mark.parametrize("schema", [DOUBLING, ENDLESS], ids=["doubling", "endless"])
@pytest.mark.timeout(20)
def test_a_schema_that_never_ends_is_given_up(schema: dict[str, Any]) -> None:
    with pytest.raises(ToolFailed, match="input schema cannot be checked"):
        tool(schema).check("lab.t", {})
    answer = CallToolResult(content=[], structured_content={})
    with pytest.raises(
        ToolFailed, match="broke its output schema: its output schema cannot be checked"
    ):
        tool({"type": "object"}, schema).check_answer("lab.t", answer)


@pytest.mark.timeout(20)
def test_a_backtracking_pattern_is_left_to_its_server() -> None:
    tool(BACKTRACKING).check("lab.t", {"q": "a" * 60 + "!"})
    with pytest.raises(ToolFailed, match=r"argument 'q' of lab\.t do not fit"):
        tool(BACKTRACKING).check("lab.t", {"q": 7})


def test_a_promise_of_structured_content_is_not_kept_by_text() -> None:
    promising = tool({"type": "object"}, {"type": "object", "required": ["a"]})

    promising.check_answer("lab.t", CallToolResult(content=[], is_error=True))
    promising.check_answer("lab.t", CallToolResult(content=[], structured_content={"a": 1}))
    with pytest.raises(ToolFailed, match="gave no structured content"):
        promising.check_answer("lab.t", CallToolResult(content=[]))
    with pytest.raises(ToolFailed, match="'a' is a required property"):
        promising.check_answer("lab.t", CallToolResult(content=[], structured_content={"b": 1}))


def test_a_schema_that_nobody_could_read_is_refused() -> None:
    long = {"type": "object", "description": "x" * 300_000}

    assert "longer than 200,000 characters" in str(tool(long).fault)
    assert "output schema is not valid" in str(tool({"type": "object"}, {"type": 5}).fault)
