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

_MAX_DEPTH = 5
_MAX_STEPS = 10_000
"""Alternatives that refer to alternatives grow exponentially, within any depth."""
_CONTAINERS = frozenset({"array", "object"})
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


def takes_containers_only(tool: ToolSignature, name: str) -> bool | None:
    """True if the parameter takes objects or lists and no text; None if it takes any value."""
    wanted = _types(_properties(tool).get(name), tool.input_schema) - {"null"}
    return wanted <= _CONTAINERS if wanted else None


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
            return _reference_fault(tool, given.name, referred)
        # What a reference inside an object will be is known when the tool is called.
        if has_reference(given.value):
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
        told = f"parameter {name!r} does not fit the tool's schema: {fault.message[:200]}"
        is_broken_text = isinstance(value, str) and takes_containers_only(tool, name)
        return f"{told}; write the object or list as JSON text" if is_broken_text else told


def _reference_fault(tool: ToolSignature, name: str, referred: EntityType) -> str | None:
    wanted = _types(_properties(tool).get(name), tool.input_schema)
    if not wanted or wanted & _JSON_TYPES[referred]:
        return None
    kinds = " or ".join(sorted(wanted))
    return f"parameter {name!r} takes {kinds}, but its reference yields {referred.value}"


def _types(schema: object, root: Mapping[str, Any]) -> frozenset[str]:
    """Return the JSON types that a schema names; empty if it allows any type."""
    try:
        return _named_types(schema, root, Steps(_MAX_STEPS), _MAX_DEPTH)
    except UncheckableSchema:
        return frozenset()


def _named_types(
    schema: object, root: Mapping[str, Any], steps: Steps, depth: int
) -> frozenset[str]:
    steps.take()
    held = resolve_definition(schema, root)
    if not held or depth == 0:
        return frozenset()
    branches = held.get("anyOf") or held.get("oneOf")
    if isinstance(branches, list):
        options = [_named_types(each, root, steps, depth - 1) for each in branches]
        return frozenset().union(*options) if all(options) else frozenset()
    kinds = held.get("type", [])
    return frozenset([kinds] if isinstance(kinds, str) else map(str, kinds))


def resolve_definition(schema: object, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the definition of `root` that a schema refers to, else the schema; empty for none."""
    if not isinstance(schema, Mapping):
        return {}
    name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    definitions = root.get("$defs")
    held = definitions.get(name) if isinstance(definitions, Mapping) else None
    return held if isinstance(held, Mapping) else schema


def _properties(tool: ToolSignature) -> Mapping[str, Any]:
    properties: Mapping[str, Any] = tool.input_schema.get("properties", {})
    return properties
