"""Read which strings a JSON schema allows (`enum`, `const`), and replace other strings."""

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from holdfast.planning.schemas.counted_steps import Steps, UncheckableSchema
from holdfast.planning.schemas.schema_index import SchemaIndex

_MAX_DEPTH = 5
_MAX_STEPS = 50_000
"""Alternatives that refer to alternatives grow exponentially, within any depth."""


def allowed_texts(schema: object, root: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the only texts that the schema (or its items) allows; none if it allows any.

    None as well where that takes too long to find out: then the server checks the text.
    """
    try:
        return _texts(schema, SchemaIndex(root), Steps(_MAX_STEPS), _MAX_DEPTH)
    except UncheckableSchema:
        return ()


def _texts(schema: object, index: SchemaIndex, steps: Steps, depth: int) -> tuple[str, ...]:
    steps.take()
    if not isinstance(schema, dict) or depth == 0:
        return ()
    if isinstance(schema.get("$ref"), str):
        return _texts(index.target(schema["$ref"], steps), index, steps, depth - 1)
    if "items" in schema:
        return _texts(schema["items"], index, steps, depth - 1)
    if "enum" in schema or "const" in schema:
        return _listed(schema.get("enum", [schema.get("const")]), steps)
    ways = schema.get("anyOf") or schema.get("oneOf")
    if not isinstance(ways, list):
        return ()
    found = [_texts(way, index, steps, depth - 1) for way in ways if way != {"type": "null"}]
    return tuple(each for way in found for each in way) if all(found) else ()


def _listed(values: object, steps: Steps) -> tuple[str, ...]:
    """Return the values if all are texts, apart from null."""
    if not isinstance(values, list):
        return ()
    steps.take(len(values))
    texts = tuple(each for each in values if isinstance(each, str))
    return texts if len(texts) == sum(each is not None for each in values) else ()


def replace_unknown_texts(value: JsonValue, known: tuple[str, ...]) -> JsonValue:
    """Return the value with each unknown text replaced by an allowed one of the same type."""
    return _with_known_texts(value, frozenset(known), known[0])


def _with_known_texts(value: JsonValue, known: frozenset[str], other: str) -> JsonValue:
    if isinstance(value, str):
        return value if value in known else other
    if isinstance(value, list):
        return [_with_known_texts(item, known, other) for item in value]
    return value
