"""Write answers as a model under a strict schema does, and find what breaks such a schema.

An endpoint that holds its schema sends every field, empty ones too, and no object of free names.
Tests script the fields that they are about; the others get their defaults here.
"""

import json
from collections.abc import Mapping
from typing import Any

import jsonschema
from pydantic import JsonValue, ValidationError

from holdfast.roles.dialogue.answer_schemas import answer_schema
from holdfast.roles.dialogue.role_definition import Role


def strict_answer(role: Role[Any, Any], answer: JsonValue) -> JsonValue:
    """The answer with all fields of the role's schema, and with objects as JSON text.

    What it says stays as it is, also if the schema does not allow it.
    """
    try:
        read = role.answer.model_validate(answer).model_dump(mode="json")
    except ValidationError:
        return answer
    return _with_json_text(_completed(answer, read), answer_schema(role.answer))


def with_empty_fields(value: JsonValue, schema: Mapping[str, Any]) -> JsonValue:
    """The value with null, an empty text or an empty list for each field that it leaves out."""
    branch = _branch_of(value, schema)
    if isinstance(value, list):
        return [with_empty_fields(each, branch.get("items", {})) for each in value]
    if not isinstance(value, dict):
        return value
    fields = branch.get("properties", {})
    left_out = {name: _empty(each) for name, each in fields.items() if name not in value}
    said = {name: with_empty_fields(each, fields.get(name, {})) for name, each in value.items()}
    return said | left_out


def _branch_of(value: JsonValue, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The alternative of the schema that the value belongs to: its kind, and its own name."""
    kind = {dict: "object", list: "array"}.get(type(value), "")
    branches = [each for each in schema.get("anyOf", [schema]) if each.get("type") == kind]
    name = value.get("name") if isinstance(value, dict) else None
    named = (each for each in branches if name in _names(each))
    return next(named, branches[0] if branches else {})


def _names(schema: Mapping[str, Any]) -> list[str]:
    return list(schema.get("properties", {}).get("name", {}).get("enum", ()))


def _empty(schema: Mapping[str, Any]) -> JsonValue:
    kinds = [each.get("type") for each in schema.get("anyOf", [schema])]
    if "null" in kinds:
        return None
    return [] if "array" in kinds else ""


def schema_fault(content: str | None, schema: Mapping[str, Any]) -> str | None:
    """What an endpoint that holds the schema would never have sent; None if it could have."""
    try:
        value = json.loads(content or "")
    except ValueError:
        return "it is no JSON"
    found = jsonschema.Draft202012Validator(schema).iter_errors(value)
    error = jsonschema.exceptions.best_match(found)
    return f"{error.json_path}: {error.message[:300]}" if error else None


def _completed(said: JsonValue, read: JsonValue) -> JsonValue:
    """What was said, with the fields that were left out."""
    if isinstance(said, dict) and isinstance(read, dict):
        return {
            **read,
            **{name: _completed(value, read.get(name)) for name, value in said.items()},
        }
    if isinstance(said, list) and isinstance(read, list) and len(said) == len(read):
        return [_completed(one, other) for one, other in zip(said, read, strict=True)]
    return said


def _with_json_text(value: JsonValue, schema: Mapping[str, Any]) -> JsonValue:
    branches = schema.get("anyOf", [schema])
    fitting = [each for each in branches if jsonschema.Draft202012Validator(each).is_valid(value)]
    kinds = [each.get("type") for each in branches]
    if isinstance(value, dict | list) and not fitting and "string" in kinds:
        return json.dumps(value)
    if isinstance(value, dict):
        names = next((each["properties"] for each in branches if "properties" in each), {})
        return {name: _with_json_text(each, names.get(name, {})) for name, each in value.items()}
    if isinstance(value, list):
        items = next((each["items"] for each in branches if "items" in each), {})
        return [_with_json_text(each, items) for each in value]
    return value
