"""Read which strings a JSON schema allows (`enum`, `const`), and replace other strings."""

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue


def allowed_texts(schema: Any, root: Mapping[str, Any], depth: int = 5) -> tuple[str, ...]:  # noqa: ANN401 - JSON
    """Return the only texts that the schema (or its items) allows; none if it allows any."""
    if not isinstance(schema, dict) or depth == 0:
        return ()
    if "$ref" in schema:
        return allowed_texts(_resolve_schema_ref(schema["$ref"], root), root, depth - 1)
    if "items" in schema:
        return allowed_texts(schema["items"], root, depth - 1)
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        texts = tuple(each for each in values if isinstance(each, str))
        return texts if len(texts) == sum(each is not None for each in values) else ()
    ways = schema.get("anyOf") or schema.get("oneOf")
    if not isinstance(ways, list):
        return ()
    found = [allowed_texts(way, root, depth - 1) for way in ways if way != {"type": "null"}]
    return tuple(each for way in found for each in way) if all(found) else ()


def _resolve_schema_ref(ref: object, root: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
    """Return the target of a reference within the same schema, or None."""
    if not isinstance(ref, str) or not ref.startswith("#/"):
        return None
    found: Any = root
    for part in ref.removeprefix("#/").split("/"):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def replace_unknown_texts(value: JsonValue, known: tuple[str, ...]) -> JsonValue:
    """Return the value with each unknown text replaced by an allowed one of the same type."""
    if isinstance(value, str):
        return value if value in known else known[0]
    if isinstance(value, list):
        return [replace_unknown_texts(item, known) for item in value]
    return value
