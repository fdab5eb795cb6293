"""Whether a tool can be used at all, and whether arguments fit it; both by its own JSON schema."""

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from jsonschema import Draft202012Validator, SchemaError
from jsonschema.exceptions import best_match
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for
from mcp.types import Tool
from referencing import Registry
from referencing.exceptions import Unresolvable

from models.errors import ToolFailed


class CheckedTool:
    """A tool of a listing with its schema checked once: checking takes longer than most calls."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        self.fault = _fault(tool)
        """Why the tool cannot be used, if it cannot."""

    @cached_property
    def _validator(self) -> Validator:
        schema = self.tool.input_schema
        # An empty registry, so that no schema can make the worker fetch an address.
        return _validator_class(schema)(schema, registry=Registry())

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
            error = best_match(self._validator.iter_errors(arguments))
        except (Unresolvable, RecursionError) as broken:
            raise ToolFailed(f"{name}: its input schema cannot be followed: {broken}") from broken
        if error is not None:
            place = "".join(f"{part}." for part in error.absolute_path).rstrip(".")
            where = f"argument {place!r}" if place else "arguments"
            raise ToolFailed(f"{where} of {name} do not fit: {error.message[:300]}")


def _fault(tool: Tool) -> str | None:
    if not tool.name or not tool.name.isprintable():
        return "its name cannot be written"
    if tool.input_schema.get("type") != "object":
        return "its input schema is not of type 'object'"
    try:
        _validator_class(tool.input_schema).check_schema(tool.input_schema)
    except SchemaError as error:
        return f"its input schema is not valid: {error.message[:200]} at {error.json_path}"
    except RecursionError:
        return "its input schema is nested too deeply"
    return None


def _validator_class(schema: Mapping[str, Any]) -> type[Validator]:
    return validator_for(schema, default=Draft202012Validator)
