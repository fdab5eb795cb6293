"""Shorten and clean the descriptions and JSON schemas of a server's tools."""

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from holdfast.models.text.storable_text import storable_text, storable_value
from holdfast.models.text.terminal_text import shorten_text, single_line

_MAX_CHARS = 2_000
"""Characters of a tool's description; every planner prompt contains all descriptions."""
_MAX_PART_CHARS = 500
"""Characters of the description of a parameter or of a part of a parameter."""
_TEXTS = ("description", "title", "$comment")


def clean_description(text: str) -> str:
    """Return a tool's description, safe for prompts and terminals, with its line breaks."""
    lines = (single_line(line) for line in storable_text(text[: 2 * _MAX_CHARS]).splitlines())
    return shorten_text("\n".join(lines).strip(), _MAX_CHARS)


def clean_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema with shortened explanations and unchanged constraints."""
    return {name: _part(name, value, at_schema=True) for name, value in schema.items()}


def _part(name: str, value: JsonValue, *, at_schema: bool) -> JsonValue:
    """Return a cleaned part of a schema; names under `properties` are not keywords."""
    if at_schema and name in _TEXTS and isinstance(value, str):
        return shorten_text(single_line(storable_text(value[: 2 * _MAX_CHARS])), _MAX_PART_CHARS)
    if isinstance(value, dict):
        names = at_schema and name in ("properties", "$defs", "definitions", "patternProperties")
        return {
            storable_text(key): _part(key, inner, at_schema=not names)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_part("", inner, at_schema=True) for inner in value]
    return storable_value(value)
