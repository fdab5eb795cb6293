"""Write a JSON Schema as a short type, such as `{query: string, limit?: integer}`.

A type takes about a fifth of the schema's tokens, and models read it as well. What it leaves out
(ranges, patterns, formats) is checked when a value comes.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.models.text.terminal_text import shorten_text

_MAX_DEPTH = 6
"""Levels that are written out; a schema may hold itself."""
_MAX_VALUES = 20
"""Values of an enumeration that are named."""
_ANY = "any"
_NULL = "null"


def schema_shape(schema: Mapping[str, Any], max_note: int = 400) -> str:
    """The type that a schema describes; descriptions follow their fields as comments.

    `max_note` is the number of characters after which a description is cut.
    """
    definitions = schema.get("$defs")
    known = definitions if isinstance(definitions, Mapping) else {}
    return _Writer(known, max_note).shape(schema, 0)


def parameter_shapes(schema: Mapping[str, Any], max_note: int) -> str:
    """The properties of an object as `name: type, name?: type`, without the braces."""
    shape = schema_shape({**schema, "type": "object"}, max_note)
    return shape[1:-1] if shape.startswith("{") else ""


@dataclass(frozen=True)
class _Writer:
    """Writes the types of one schema with its definitions."""

    known: Mapping[str, Any]
    max_note: int

    def shape(self, schema: object, depth: int) -> str:
        if not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
            return _ANY
        if isinstance(reference := schema.get("$ref"), str):
            return self.shape(self.known.get(reference.rpartition("/")[2]), depth + 1)
        if "const" in schema:
            return _value(schema["const"])
        if isinstance(values := schema.get("enum"), list):
            return _values(values)
        branches = schema.get("anyOf", schema.get("oneOf"))
        if isinstance(branches, list) and branches:
            return _one_of(self.shape(each, depth + 1) for each in branches)
        return self._typed(schema, depth)

    def _typed(self, schema: Mapping[str, Any], depth: int) -> str:
        kind = schema.get("type")
        if isinstance(kind, list):
            return _one_of(self._typed({**schema, "type": each}, depth) for each in kind)
        if kind == "array":
            return f"[{self.shape(schema.get('items'), depth + 1)}]"
        properties = schema.get("properties")
        if kind == "object" and isinstance(properties, Mapping) and properties:
            required = schema.get("required")
            names = required if isinstance(required, list) else ()
            fields = (
                self._field(str(name), each, is_required=name in names, depth=depth)
                for name, each in properties.items()
            )
            return f"{{{', '.join(fields)}}}"
        return kind if isinstance(kind, str) else _ANY

    def _field(self, name: str, schema: object, *, is_required: bool, depth: int) -> str:
        shape = self.shape(schema, depth + 1)
        if not is_required:
            # Who may leave a value out need not be told that it may be null.
            return f"{name}?: {shape.removesuffix(f' | {_NULL}')}{self._note(schema)}"
        return f"{name}: {shape}{self._note(schema)}"

    def _note(self, schema: object) -> str:
        said = schema.get("description") if isinstance(schema, Mapping) else None
        if not isinstance(said, str) or not said.strip():
            return ""
        about = " ".join(said.split()).replace("*/", "").removesuffix(".")
        return f" /* {shorten_text(about, self.max_note)} */"


def _one_of(shapes: Iterable[str]) -> str:
    distinct = list(dict.fromkeys(shapes))
    if "number" in distinct and "integer" in distinct:
        distinct.remove("integer")
    return _ANY if _ANY in distinct else " | ".join(distinct)


def _values(values: list[Any]) -> str:
    named = [_value(each) for each in values[:_MAX_VALUES]]
    return " | ".join(named if len(values) <= _MAX_VALUES else [*named, "..."])


def _value(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
