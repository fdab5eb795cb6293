"""What a server says of its tools, as planners are shown it: no control signs, no endless text."""

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from models.text import one_line, shortened
from tools.answers import storable
from tools.plain import plain_text

_LONGEST = 2_000
"""Characters of a tool's description; a planner reads those of all tools at every call."""
_LONGEST_OF_A_PART = 500
"""Characters of the description of a parameter, or of a part of one."""
_TEXTS = ("description", "title", "$comment")


def described(text: str) -> str:
    """A tool's description, with its lines, as it may stand in a prompt and on a screen."""
    lines = (one_line(line) for line in plain_text(text[: 2 * _LONGEST]).splitlines())
    return shortened("\n".join(lines).strip(), _LONGEST)


def described_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON Schema whose explanations are of bounded length; what it demands stays."""
    return {name: _part(name, value, at_schema=True) for name, value in schema.items()}


def _part(name: str, value: JsonValue, *, at_schema: bool) -> JsonValue:
    """A value of a schema; under `properties` the names are the server's own, and no keywords."""
    if at_schema and name in _TEXTS and isinstance(value, str):
        return shortened(one_line(plain_text(value[: 2 * _LONGEST])), _LONGEST_OF_A_PART)
    if isinstance(value, dict):
        names = at_schema and name in ("properties", "$defs", "definitions", "patternProperties")
        return {
            str(storable(key)): _part(key, inner, at_schema=not names)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_part("", inner, at_schema=True) for inner in value]
    return storable(value)
