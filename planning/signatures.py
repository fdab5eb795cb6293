"""Whether a task's inputs fit a tool's signature: names, presence and types."""

from collections.abc import Iterable, Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from jsonschema.exceptions import ValidationError as SchemaMismatch
from referencing.exceptions import Unresolvable

from models.plan import EntityType, Input
from models.tools import ToolSignature
from planning.closed_values import closed_values, with_known

_JSON_TYPES = {
    EntityType.STRING: {"string"},
    EntityType.NUMBER: {"number"},
    EntityType.INTEGER: {"integer", "number"},
    EntityType.BOOLEAN: {"boolean"},
    EntityType.ARRAY: {"array"},
    EntityType.DICT: {"object"},
}


def missing_parameters(tool: ToolSignature, names: Iterable[str]) -> list[str]:
    """Required parameters that are not among `names`."""
    given = set(names)
    return [name for name in tool.input_schema.get("required", ()) if name not in given]


def unknown_parameters(tool: ToolSignature, names: Iterable[str]) -> list[str]:
    """Names that the tool does not have; names are case-sensitive."""
    properties = _properties(tool)
    if not properties and tool.input_schema.get("additionalProperties"):
        return []
    return [name for name in names if name not in properties]


def type_fault(tool: ToolSignature, given: Input, referred: EntityType | None) -> str | None:
    """What is wrong with the type of one input; `referred` is the type its reference promises."""
    schema = _properties(tool).get(given.name)
    if schema is None:
        return None
    if referred is not None:
        return _reference_fault(schema, given.name, referred)
    if isinstance(given.value, str) and "<JSON_PATH>" in given.value:
        return None
    # Which values there are is asked when the tool is called: near ones are found then.
    known = closed_values(schema, tool.input_schema)
    value = with_known(given.value, known) if known else given.value
    try:
        Draft202012Validator({**schema, "$defs": tool.input_schema.get("$defs", {})}).validate(
            value
        )
    except SchemaMismatch as error:
        return f"parameter {given.name!r} does not fit the tool's schema: {error.message[:200]}"
    except (SchemaError, Unresolvable):
        return None  # a schema that cannot be read says nothing about the value
    return None


def _reference_fault(schema: Mapping[str, Any], name: str, referred: EntityType) -> str | None:
    wanted = _types(schema)
    if not wanted or wanted & _JSON_TYPES[referred]:
        return None
    kinds = " or ".join(sorted(wanted))
    return f"parameter {name!r} takes {kinds}, but its reference yields {referred.value}"


def _types(schema: Mapping[str, Any]) -> set[str]:
    """The JSON types a schema names; empty when it names none, so anything may fit."""
    if "anyOf" in schema:
        options = [_types(option) for option in schema["anyOf"]]
        return set().union(*options) if all(options) else set()
    kinds = schema.get("type", [])
    return {kinds} if isinstance(kinds, str) else set(kinds)


def _properties(tool: ToolSignature) -> Mapping[str, Any]:
    properties: Mapping[str, Any] = tool.input_schema.get("properties", {})
    return properties
