"""Check a task's inputs against a tool's signature: names, required parameters and types."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import JsonValue

from holdfast.models.calls.tool_signatures import ToolSignature
from holdfast.models.plans.research_plan import EntityType, TaskInput
from holdfast.models.text.reference_marks import has_reference
from holdfast.planning.schemas.allowed_texts import allowed_texts, replace_unknown_texts
from holdfast.planning.schemas.bounded_schema import MAX_STEPS, BoundedSchema
from holdfast.planning.schemas.counted_steps import Steps, UncheckableSchema

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


class ParameterTypes:
    """Checks the types of one plan's inputs; all checks together have one limit of steps.

    An input that is beyond the limit passes: it is checked again when the tool is called.
    """

    def __init__(self) -> None:
        self._schemas: dict[str, BoundedSchema] = {}
        self._texts: dict[tuple[str, str], tuple[str, ...]] = {}
        self._steps = Steps(MAX_STEPS)

    def fault(
        self, tool: ToolSignature, given: TaskInput, referred: EntityType | None
    ) -> str | None:
        """Return the fault of one input's type, or None; `referred` is its reference's type."""
        schema = _properties(tool).get(given.name)
        if schema is None:
            return None
        if referred is not None:
            return _reference_fault(schema, given.name, referred)
        if isinstance(given.value, str) and has_reference(given.value):
            return None
        # The allowed values are checked when the tool is called, where near values are found.
        key = (tool.name, given.name)
        if key not in self._texts:
            self._texts[key] = allowed_texts(schema, tool.input_schema)
        known = self._texts[key]
        value = replace_unknown_texts(given.value, known) if known else given.value
        return self._literal_fault(tool, given.name, value)

    def _literal_fault(self, tool: ToolSignature, name: str, value: JsonValue) -> str | None:
        schema = self._schemas.setdefault(tool.name, BoundedSchema(tool.input_schema))
        try:
            fault = schema.fault(value, at=("properties", name), steps=self._steps)
        except UncheckableSchema:
            return None
        if fault is None:
            return None
        return f"parameter {name!r} does not fit the tool's schema: {fault.message[:200]}"


def _reference_fault(schema: object, name: str, referred: EntityType) -> str | None:
    wanted = _types(schema)
    if not wanted or wanted & _JSON_TYPES[referred]:
        return None
    kinds = " or ".join(sorted(wanted))
    return f"parameter {name!r} takes {kinds}, but its reference yields {referred.value}"


def _types(schema: object) -> set[str]:
    """Return the JSON types that a schema names; empty if it allows any type."""
    if not isinstance(schema, dict):
        return set()
    if "anyOf" in schema:
        options = [_types(option) for option in schema["anyOf"]]
        return set().union(*options) if all(options) else set()
    kinds = schema.get("type", [])
    return {kinds} if isinstance(kinds, str) else set(kinds)


def _properties(tool: ToolSignature) -> Mapping[str, Any]:
    properties: Mapping[str, Any] = tool.input_schema.get("properties", {})
    return properties
