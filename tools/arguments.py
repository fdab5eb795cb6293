"""Whether a tool can be used at all, and whether what goes in and out fits its JSON schemas."""

import json
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from jsonschema.exceptions import ValidationError
from mcp.types import CallToolResult, Tool

from models.errors import ToolFailed
from tools.bounded_schema import BoundedSchema, Unfollowable, schema_fault

_NAME = re.compile(r"[^\s<>`'\"\\]{1,128}")
"""A planner writes names into plans, people read them: nothing in one may look like more."""


class CheckedTool:
    """A tool of a listing with its schema checked once: checking takes longer than most calls."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        self.fault = _fault(tool)
        """Why the tool cannot be used, if it cannot."""

    @cached_property
    def _input(self) -> BoundedSchema:
        return BoundedSchema(self.tool.input_schema)

    @cached_property
    def _output(self) -> BoundedSchema:
        return BoundedSchema(self.tool.output_schema or {})

    def check(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Whether the arguments fit; `name` is what the caller calls the tool.

        Raises:
            ToolFailed: they do not, in words that their author can act on.
        """
        try:
            # Half a surrogate pair from a model would otherwise break the pipe to the server.
            json.dumps(arguments, ensure_ascii=False, allow_nan=False).encode()
        except (TypeError, ValueError) as odd:
            raise ToolFailed(f"arguments of {name} cannot be written as JSON: {odd}") from odd
        try:
            error = self._input.fault(arguments)
        except Unfollowable as broken:
            raise ToolFailed(f"{name}: its input schema cannot be followed: {broken}") from broken
        if error is not None:
            place = _place(error)
            where = f"argument {place!r}" if place else "arguments"
            raise ToolFailed(f"{where} of {name} do not fit: {error.message[:300]}")

    def check_answer(self, name: str, result: CallToolResult) -> None:
        """Whether the tool kept what its output schema promises; an error promises nothing.

        Raises:
            ToolFailed: it did not.
        """
        if result.is_error or self.tool.output_schema is None:
            return
        why = self._broken_promise(result)
        if why:
            raise ToolFailed(f"{name} broke its promise: {why}")

    def _broken_promise(self, result: CallToolResult) -> str:
        if "structured_content" not in result.model_fields_set:
            return "it has an output schema, and gave no structured content"
        try:
            error = self._output.fault(result.structured_content)
        except Unfollowable as broken:
            return f"its output schema cannot be followed: {broken}"
        if error is None:
            return ""
        return f"{_place(error) or 'its answer'} does not fit: {error.message[:300]}"


def _place(error: ValidationError) -> str:
    return "".join(f"{part}." for part in error.absolute_path).rstrip(".")


def _fault(tool: Tool) -> str | None:
    if not tool.name.isprintable() or not _NAME.fullmatch(tool.name):
        return "its name must be 1 to 128 signs, without spaces, quotes and angle brackets"
    if tool.input_schema.get("type") != "object":
        return "its input schema is not of type 'object'"
    for name, schema in (("input", tool.input_schema), ("output", tool.output_schema or {})):
        if fault := schema_fault(schema):
            return f"its {name} schema {fault}"
    return None
