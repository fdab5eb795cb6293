"""Check that a tool is usable and that arguments and answers match its JSON schemas."""

import json
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from mcp.types import CallToolResult, Tool

from holdfast.models.errors import ToolFailed
from holdfast.planning.schemas.bounded_schema import BoundedSchema
from holdfast.planning.schemas.counted_steps import UncheckableSchema
from holdfast.planning.schemas.schema_rules import schema_fault

_NAME = re.compile(r"[^\s<>`'\"\\]{1,128}")
"""Planners write names into plans and people read them, so names contain no control characters."""


class CheckedTool:
    """A listed tool; its schema is checked once, because that takes longer than most calls."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        self.fault = _tool_fault(tool)
        """Why the tool is unusable; None if it is usable."""

    @cached_property
    def _input(self) -> BoundedSchema:
        return BoundedSchema(self.tool.input_schema)

    @cached_property
    def _output(self) -> BoundedSchema:
        return BoundedSchema(self.tool.output_schema or {})

    def check(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Check the arguments against the tool's input schema; `name` is used in messages.

        Raises:
            ToolFailed: the arguments do not fit; the message says what to correct.
        """
        try:
            # Half a surrogate pair from a model would break the pipe to the server.
            json.dumps(arguments, ensure_ascii=False, allow_nan=False).encode()
        except (TypeError, ValueError) as odd:
            raise ToolFailed(f"arguments of {name} cannot be written as JSON: {odd}") from odd
        try:
            fault = self._input.fault(arguments)
        except UncheckableSchema as broken:
            raise ToolFailed(f"{name}: its input schema cannot be checked: {broken}") from broken
        if fault is not None:
            where = f"argument {fault.dotted_path!r}" if fault.place else "arguments"
            raise ToolFailed(f"{where} of {name} do not fit: {fault.message[:300]}")

    def check_answer(self, name: str, result: CallToolResult) -> None:
        """Check the answer against the tool's output schema; an error needs no schema.

        Raises:
            ToolFailed: the answer does not fit.
        """
        if result.is_error or self.tool.output_schema is None:
            return
        why = self._output_fault(result)
        if why:
            raise ToolFailed(f"{name} broke its output schema: {why}")

    def _output_fault(self, result: CallToolResult) -> str:
        if "structured_content" not in result.model_fields_set:
            return "it has an output schema, and gave no structured content"
        try:
            fault = self._output.fault(result.structured_content)
        except UncheckableSchema as broken:
            return f"its output schema cannot be checked: {broken}"
        if fault is None:
            return ""
        return f"{fault.dotted_path or 'its answer'} does not fit: {fault.message[:300]}"


def _tool_fault(tool: Tool) -> str | None:
    if not tool.name.isprintable() or not _NAME.fullmatch(tool.name):
        return "its name must be 1 to 128 signs, without spaces, quotes and angle brackets"
    if tool.input_schema.get("type") != "object":
        return "its input schema is not of type 'object'"
    for name, schema in (("input", tool.input_schema), ("output", tool.output_schema or {})):
        if fault := schema_fault(schema):
            return f"its {name} schema {fault}"
    return None
