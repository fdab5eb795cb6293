"""The texts that a JSON schema allows, where it allows only certain ones."""

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue


def closed_values(schema: Any, root: Mapping[str, Any], depth: int = 5) -> tuple[str, ...]:  # noqa: ANN401 - JSON
    """All texts that the schema allows, or those of its list's items; none if it allows others."""
    if not isinstance(schema, dict) or depth == 0:
        return ()
    if "$ref" in schema:
        return closed_values(_followed(schema["$ref"], root), root, depth - 1)
    if "items" in schema:
        return closed_values(schema["items"], root, depth - 1)
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        texts = tuple(each for each in values if isinstance(each, str))
        return texts if len(texts) == sum(each is not None for each in values) else ()
    ways = schema.get("anyOf") or schema.get("oneOf")
    if not isinstance(ways, list):
        return ()
    found = [closed_values(way, root, depth - 1) for way in ways if way != {"type": "null"}]
    return tuple(each for way in found for each in way) if all(found) else ()


def _followed(ref: object, root: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
    """What a reference within the same schema points to; None for any other."""
    if not isinstance(ref, str) or not ref.startswith("#/"):
        return None
    found: Any = root
    for part in ref.removeprefix("#/").split("/"):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def with_known(value: JsonValue, known: tuple[str, ...]) -> JsonValue:
    """The value with a known text for each other one: it has the same type, and is allowed."""
    if isinstance(value, str):
        return value if value in known else known[0]
    if isinstance(value, list):
        return [with_known(item, known) for item in value]
    return value
