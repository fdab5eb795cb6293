"""Check the keywords of JSON Schema that combine schemas or refer to another schema."""

from collections.abc import Iterable

from holdfast.planning.schemas.keyword_check import Check, Keywords, Schema
from holdfast.planning.schemas.value_faults import Fault, Place, shown


def _check_reference(
    check: Check, schema: Schema, value: object, place: Place | None
) -> Fault | None:
    return check.fault(check.referenced(schema["$ref"]), value, place)


def _check_all(check: Check, schema: Schema, value: object, place: Place | None) -> Fault | None:
    for each in schema["allOf"]:
        if fault := check.fault(each, value, place):
            return fault
    return None


def _check_any(check: Check, schema: Schema, value: object, place: Place | None) -> Fault | None:
    faults: list[Fault] = []
    for each in schema["anyOf"]:
        fault = check.fault(each, value, place)
        if fault is None:
            return None
        faults.append(fault)
    return _likeliest(faults, value, place)


def _check_one(check: Check, schema: Schema, value: object, place: Place | None) -> Fault | None:
    before = check.unevaluated
    faults = [check.fault(each, value, place) for each in schema["oneOf"]]
    count = faults.count(None)
    if not count:
        return _likeliest(filter(None, faults), value, place)
    if count == 1 or check.unevaluated > before:
        return None
    return Fault(f"{shown(value)} is valid under {count} of the given schemas, not one", place)


def _likeliest(faults: Iterable[Fault], value: object, place: Place | None) -> Fault | None:
    """Return the fault of the schema that the value fitted furthest, if that can be told."""
    furthest = max(faults, key=lambda fault: fault.depth, default=None)
    if furthest is not None and furthest.place is not place:
        return furthest
    cause = f": {furthest.message}" if furthest else ""
    return Fault(f"{shown(value)} is not valid under any of the given schemas{cause}", place)


def _check_not(check: Check, schema: Schema, value: object, place: Place | None) -> Fault | None:
    before = check.unevaluated
    if check.fault(schema["not"], value, place) or check.unevaluated > before:
        return None
    return Fault(f"{shown(value)} is of a kind that is not allowed", place)


def _check_if(check: Check, schema: Schema, value: object, place: Place | None) -> Fault | None:
    before = check.unevaluated
    if check.fault(schema["if"], value, place):
        return check.fault(schema.get("else", True), value, place)
    if check.unevaluated > before:
        return None
    return check.fault(schema.get("then", True), value, place)


def _note_unevaluated(check: Check, _: Schema, __: object, ___: Place | None) -> None:
    check.unevaluated += 1


COMBINING_KEYWORDS: Keywords = {
    "$ref": (str, _check_reference),
    "allOf": (list, _check_all),
    "anyOf": (list, _check_any),
    "oneOf": (list, _check_one),
    "not": ((dict, bool), _check_not),
    "if": ((dict, bool), _check_if),
    "pattern": (str, _note_unevaluated),
    "patternProperties": (dict, _note_unevaluated),
    "unevaluatedItems": ((dict, bool), _note_unevaluated),
    "unevaluatedProperties": ((dict, bool), _note_unevaluated),
    "$dynamicRef": (str, _note_unevaluated),
    "$recursiveRef": (str, _note_unevaluated),
}
