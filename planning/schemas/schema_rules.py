"""Check that a tool's schema is a JSON schema, as far as Holdfast evaluates its keywords.

A published metaschema would need keywords that are not evaluated here, and its check costs ten
times as much.
"""

import json
from collections.abc import Mapping
from typing import Any

from holdfast.planning.schemas.bounded_schema import BoundedSchema
from holdfast.planning.schemas.counted_steps import UncheckableSchema

MAX_SCHEMA_CHARS = 200_000
"""Characters of a schema as JSON; every planner prompt contains the whole schema."""

_SCHEMA = {"$ref": "#/$defs/schema"}
_SCHEMAS = {"type": "array", "minItems": 1, "items": _SCHEMA}
_NAMED = {"type": "object", "additionalProperties": _SCHEMA}
_NAMES = {"type": "array", "items": {"type": "string"}}
_SIZE = {"type": "integer", "minimum": 0}
_NUMBER = {"type": "number"}
_TYPE = {"enum": ["array", "boolean", "integer", "null", "number", "object", "string"]}
_KEYWORDS: dict[str, Any] = {
    "$id": {"type": "string"},
    "$schema": {"type": "string"},
    "$ref": {"type": "string"},
    "$defs": _NAMED,
    "definitions": _NAMED,
    "type": {"if": {"type": "array"}, "then": {"minItems": 1, "items": _TYPE}, "else": _TYPE},
    "enum": {"type": "array"},
    "multipleOf": {"type": "number", "exclusiveMinimum": 0},
    "minimum": _NUMBER,
    "maximum": _NUMBER,
    "exclusiveMinimum": {"type": ["number", "boolean"]},
    "exclusiveMaximum": {"type": ["number", "boolean"]},
    **dict.fromkeys(("minLength", "minItems", "minProperties", "minContains"), _SIZE),
    **dict.fromkeys(("maxLength", "maxItems", "maxProperties", "maxContains"), _SIZE),
    "required": _NAMES,
    "properties": _NAMED,
    "additionalProperties": _SCHEMA,
    "propertyNames": _SCHEMA,
    "dependentRequired": {"type": "object", "additionalProperties": _NAMES},
    "dependentSchemas": _NAMED,
    "dependencies": {
        "type": "object",
        "additionalProperties": {"if": {"type": "array"}, "then": _NAMES, "else": _SCHEMA},
    },
    "items": {"if": {"type": "array"}, "then": {"items": _SCHEMA}, "else": _SCHEMA},
    "prefixItems": _SCHEMAS,
    "additionalItems": _SCHEMA,
    "contains": _SCHEMA,
    "uniqueItems": {"type": "boolean"},
    **dict.fromkeys(("allOf", "anyOf", "oneOf"), _SCHEMAS),
    **dict.fromkeys(("not", "if", "then", "else"), _SCHEMA),
    "pattern": {"type": "string"},
    "patternProperties": _NAMED,
    "description": {"type": "string"},
    "title": {"type": "string"},
}
_RULES = BoundedSchema(
    {"$defs": {"schema": {"type": ["object", "boolean"], "properties": _KEYWORDS}}, **_SCHEMA}
)


def schema_fault(schema: Mapping[str, Any]) -> str | None:
    """Return why this is not a usable JSON schema; None if it is usable."""
    try:
        if len(json.dumps(schema)) > MAX_SCHEMA_CHARS:
            return f"is longer than {MAX_SCHEMA_CHARS:,} characters"
        fault = _RULES.fault(schema)
    except RecursionError:
        return "is nested too deeply"
    except UncheckableSchema as reason:
        return f"cannot be checked: {reason}"
    except (TypeError, ValueError) as odd:  # for example a number of 5,000 digits
        return f"is not valid: {str(odd)[:200]}"
    if fault is None:
        return None
    return f"is not valid: {fault.message} at {fault.dotted_path or 'its root'}"
