"""Check the keywords of JSON Schema about the members of objects and the items of arrays."""

from collections.abc import Iterable, Mapping
from typing import Any

from holdfast.planning.schemas.canonical_json import canonical_json
from holdfast.planning.schemas.keyword_check import Check, Keywords, Schema
from holdfast.planning.schemas.value_faults import Fault, Place, inside, shown


def _check_required(
    check: Check, schema: Schema, value: object, place: Place | None
) -> Fault | None:
    return _first_missing(check, schema["required"], value, place)


def _check_dependent_required(
    check: Check, schema: Schema, value: object, place: Place | None
) -> Fault | None:
    for needed in _dependent(check, schema["dependentRequired"], value):
        if isinstance(needed, list) and (fault := _first_missing(check, needed, value, place)):
            return fault
    return None


def _check_dependent_schemas(
    check: Check, schema: Schema, value: object, place: Place | None
) -> Fault | None:
    for dependent in _dependent(check, schema["dependentSchemas"], value):
        if fault := check.fault(dependent, value, place):
            return fault
    return None


def _check_dependencies(
    check: Check, schema: Schema, value: object, place: Place | None
) -> Fault | None:
    """Check the keyword of draft 7 that later drafts split in two."""
    for needed in _dependent(check, schema["dependencies"], value):
        if isinstance(needed, list):
            fault = _first_missing(check, needed, value, place)
        else:
            fault = check.fault(needed, value, place)
        if fault:
            return fault
    return None


def _dependent(check: Check, by_name: Mapping[str, Any], value: object) -> Iterable[Any]:
    if not isinstance(value, dict):
        return
    for name, dependent in by_name.items():
        check.steps.take()
        if name in value:
            yield dependent


def _first_missing(
    check: Check, names: Iterable[object], value: object, place: Place | None
) -> Fault | None:
    if not isinstance(value, dict):
        return None
    for name in names:
        check.steps.take()
        if isinstance(name, str) and name not in value:
            return Fault(f"{shown(name)} is a required property", place)
    return None


def _check_properties(
    check: Check, schema: Schema, value: object, place: Place | None
) -> Fault | None:
    known = schema["properties"]
    if not isinstance(value, dict):
        return None
    for name in value if len(value) < len(known) else known:
        check.steps.take()
        if name in known and name in value:
            fault = check.fault(known[name], value[name], inside(place, name))
            if fault:
                return fault
    return None


def _check_other_properties(
    check: Check, schema: Schema, value: object, place: Place | None
) -> Fault | None:
    # Which names `patternProperties` covers is unknown, because no pattern is evaluated.
    if not isinstance(value, dict) or "patternProperties" in schema:
        return None
    known, others = schema.get("properties", {}), schema["additionalProperties"]
    for name, member in value.items():
        check.steps.take()
        if name in known:
            continue
        if others is False:
            message = f"additional properties are not allowed ({shown(name)} was unexpected)"
            return Fault(message, place)
        if fault := check.fault(others, member, inside(place, name)):
            return fault
    return None


def _check_names(check: Check, schema: Schema, value: object, place: Place | None) -> Fault | None:
    if not isinstance(value, dict):
        return None
    for name in value:
        if fault := check.fault(schema["propertyNames"], name, place):
            return fault
    return None


def _check_first_items(
    check: Check, schemas: Iterable[object], value: list[object], place: Place | None
) -> Fault | None:
    for index, (schema, item) in enumerate(zip(schemas, value, strict=False)):
        if fault := check.fault(schema, item, inside(place, index)):
            return fault
    return None


def _check_rest(
    check: Check, schema: object, value: list[object], start: int, place: Place | None
) -> Fault | None:
    for index in range(start, len(value)):
        if fault := check.fault(schema, value[index], inside(place, index)):
            return fault
    return None


def _check_prefix_items(
    check: Check, schema: Schema, value: object, place: Place | None
) -> Fault | None:
    if not isinstance(value, list):
        return None
    return _check_first_items(check, schema["prefixItems"], value, place)


def _check_items(check: Check, schema: Schema, value: object, place: Place | None) -> Fault | None:
    if not isinstance(value, list):
        return None
    if isinstance(schema["items"], list):  # until draft 2019-09
        return _check_first_items(check, schema["items"], value, place)
    return _check_rest(check, schema["items"], value, len(schema.get("prefixItems", ())), place)


def _check_other_items(
    check: Check, schema: Schema, value: object, place: Place | None
) -> Fault | None:
    first = schema.get("items")
    if not isinstance(value, list) or not isinstance(first, list):
        return None
    return _check_rest(check, schema["additionalItems"], value, len(first), place)


def _check_contains(
    check: Check, schema: Schema, value: object, place: Place | None
) -> Fault | None:
    if not isinstance(value, list):
        return None
    least, most = schema.get("minContains", 1), schema.get("maxContains", len(value))
    before = check.unevaluated
    count = sum(check.fault(schema["contains"], item, None) is None for item in value)
    if least <= count <= most or (count > most and check.unevaluated > before):
        return None
    return Fault(f"{shown(value)} has {count} items of the kind that it must contain", place)


def _check_unique(check: Check, schema: Schema, value: object, place: Place | None) -> Fault | None:
    if not isinstance(value, list) or schema["uniqueItems"] is not True:
        return None
    seen: set[str] = set()
    for index, item in enumerate(value):
        text = canonical_json(item, check.steps)
        if text in seen:
            return Fault(f"{shown(item)} is not unique", inside(place, index))
        seen.add(text)
    return None


CONTAINER_KEYWORDS: Keywords = {
    "required": (list, _check_required),
    "dependentRequired": (dict, _check_dependent_required),
    "additionalProperties": ((dict, bool), _check_other_properties),
    "propertyNames": ((dict, bool), _check_names),
    "properties": (dict, _check_properties),
    "dependentSchemas": (dict, _check_dependent_schemas),
    "dependencies": (dict, _check_dependencies),
    "uniqueItems": (bool, _check_unique),
    "contains": ((dict, bool), _check_contains),
    "prefixItems": (list, _check_prefix_items),
    "items": ((dict, bool, list), _check_items),
    "additionalItems": ((dict, bool), _check_other_items),
}
