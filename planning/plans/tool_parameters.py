"""Check a task's inputs against a tool's signature: names, required parameters and types."""

from collections.abc import Iterable, Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from jsonschema.exceptions import ValidationError as SchemaMismatch
from referencing.exceptions import Unresolvable

from holdfast.models.calls.tool_signatures import ToolSignature
from holdfast.models.plans.research_plan import EntityType, TaskInput
from holdfast.models.text.reference_marks import has_reference
from holdfast.planning.plans.schema_enums import allowed_texts, replace_unknown_texts

_JSON_TYPES = {
    EntityType.STRING: {"string"},
    EntityType.NUMBER: {"number"},
    EntityType.INTEGER: {"integer", "number"},
    EntityType.BOOLEAN: {"boolean"},
    EntityType.ARRAY: {"array"},
    EntityType.DICT: {"object"},
}


def missing_parameters(tool: ToolSignature, names: Iterable[str]) -> list[str]:
    """Return the required parameters that are not in `names`."""
    given = set(names)
    return [name for name in tool.input_schema.get("required", ()) if name not in given]


def unknown_parameters(tool: ToolSignature, names: Iterable[str]) -> list[str]:
    """Return the names that are no parameters of the tool; names are case-sensitive."""
    properties = _properties(tool)
    if not properties and tool.input_schema.get("additionalProperties"):
        return []
    return [name for name in names if name not in properties]


def type_fault(tool: ToolSignature, given: TaskInput, referred: EntityType | None) -> str | None:
    """Return the fault of one input's type, or None; `referred` is its reference's type."""
    schema = _properties(tool).get(given.name)
    if schema is None:
        return None
    if referred is not None:
        return _reference_fault(schema, given.name, referred)
    if isinstance(given.value, str) and has_reference(given.value):
        return None
    # The allowed values are checked when the tool is called, where near values are found.
    known = allowed_texts(schema, tool.input_schema)
    value = replace_unknown_texts(given.value, known) if known else given.value
    try:
        Draft202012Validator({**schema, "$defs": tool.input_schema.get("$defs", {})}).validate(
            value
        )
    except SchemaMismatch as error:
        return f"parameter {given.name!r} does not fit the tool's schema: {error.message[:200]}"
    except (SchemaError, Unresolvable):
        return None  # an unreadable schema does not restrict the value
    return None


def _reference_fault(schema: Mapping[str, Any], name: str, referred: EntityType) -> str | None:
    wanted = _types(schema)
    if not wanted or wanted & _JSON_TYPES[referred]:
        return None
    kinds = " or ".join(sorted(wanted))
    return f"parameter {name!r} takes {kinds}, but its reference yields {referred.value}"


def _types(schema: Mapping[str, Any]) -> set[str]:
    """Return the JSON types that a schema names; empty if it allows any type."""
    if "anyOf" in schema:
        options = [_types(option) for option in schema["anyOf"]]
        return set().union(*options) if all(options) else set()
    kinds = schema.get("type", [])
    return {kinds} if isinstance(kinds, str) else set(kinds)


def _properties(tool: ToolSignature) -> Mapping[str, Any]:
    properties: Mapping[str, Any] = tool.input_schema.get("properties", {})
    return properties
