"""Tests for bounded JSON Schema checks, compared with the `jsonschema` library."""

from contextlib import suppress
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.planning.schemas.bounded_schema import BoundedSchema
from holdfast.planning.schemas.counted_steps import UncheckableSchema
from holdfast.planning.schemas.schema_rules import schema_fault

PART = {
    "$defs": {
        "part": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
    }
}
FAULTS: list[tuple[dict[str, Any], object, str, str]] = [
    ({"type": "string"}, 7, "", "7 is not of type 'string'"),
    ({"type": ["string", "null"]}, True, "", "True is not of type 'string', 'null'"),
    ({"enum": ["a", "b"]}, "c", "", "'c' is not one of 'a', 'b'"),
    ({"const": {"a": 1}}, {"a": 2}, "", "an object of 1 members is not an object of 1 members"),
    ({"minimum": 3}, 2, "", "2 is less than 3"),
    ({"multipleOf": 5}, 7, "", "7 is not a multiple of 5"),
    ({"maxLength": 2}, "abc", "", "'abc' has more characters than 2"),
    ({"required": ["a"]}, {"b": 1}, "", "'a' is a required property"),
    (
        {"properties": {"a": {}}, "additionalProperties": False},
        {"b": 1},
        "",
        "additional properties are not allowed ('b' was unexpected)",
    ),
    ({"properties": {"a": {"type": "null"}}}, {"a": 1}, "a", "1 is not of type 'null'"),
    ({"items": {"type": "integer"}}, [1, 2, "x"], "2", "'x' is not of type 'integer'"),
    ({"uniqueItems": True}, [1, 2, 1.0], "2", "1.0 is not unique"),
    ({"contains": {"const": 1}}, [2], "", "has 0 items of the kind that it must contain"),
    ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, "", "'b' is a required property"),
    ({"items": {"$ref": "#/$defs/part"}, **PART}, [{"n": 1}, {"n": "x"}], "1.n", "not of type"),
    (
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        7,
        "",
        "7 is not valid under any of the given schemas: 7 is not of type 'string'",
    ),
    (
        {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/part"}], **PART},
        {"n": "x"},
        "n",
        "'x' is not of type 'integer'",
    ),
    ({"oneOf": [{"type": "integer"}, {"minimum": 1}]}, 3, "", "valid under 2 of the given schemas"),
    ({"not": {"type": "null"}}, None, "", "None is of a kind that is not allowed"),
    ({"if": {"minimum": 9}, "else": {"maximum": 5}}, 7, "", "7 is greater than 5"),
    ({"type": "string", "maxLength": 9}, "x" * 10**6, "", "x'... has more characters than 9"),
]


@pytest.mark.parametrize(("schema", "value", "path", "words"), FAULTS)
def test_a_fault_names_its_place_and_its_reason(
    schema: dict[str, Any], value: object, path: str, words: str
) -> None:
    fault = BoundedSchema(schema).fault(value)

    assert fault is not None
    assert fault.dotted_path == path
    assert words in fault.message
    assert len(fault.message) < 200


UNEVALUATED: list[dict[str, Any]] = [
    {"pattern": "^b"},
    {"patternProperties": {"a": {"type": "null"}}, "additionalProperties": False},
    {"unevaluatedProperties": False},
    {"$dynamicRef": "#nowhere"},
]


@pytest.mark.parametrize("unevaluated", UNEVALUATED)
@pytest.mark.parametrize("value", ["a", {"a": 1}])
def test_what_is_not_evaluated_refuses_nothing(unevaluated: dict[str, Any], value: object) -> None:
    for schema in (
        unevaluated,
        {"not": unevaluated},
        {"oneOf": [unevaluated, True]},
        {"if": unevaluated, "then": False},
    ):
        assert BoundedSchema(schema).fault(value) is None


def test_references_lead_to_parts_of_the_same_document() -> None:
    number = {"type": "number"}
    parts = {"a/b": number, "c d": [number], "e": {"$anchor": "named", **number}}
    for reference in ("#/$defs/a~1b", "#/$defs/c%20d/0", "#named", "https://x.invalid/s#/$defs/e"):
        schema = {"$id": "https://x.invalid/s", "$ref": reference, "$defs": parts}
        assert BoundedSchema(schema).fault(1) is None
        assert BoundedSchema(schema).fault("x") is not None


@pytest.mark.parametrize("reference", ["#/$defs/b", "#b", "https://y.invalid/s", "other.json#/a"])
def test_a_reference_to_something_else_is_uncheckable(reference: str) -> None:
    with pytest.raises(UncheckableSchema, match="it refers to"):
        BoundedSchema({"$ref": reference, "$defs": {"a": {}}}).fault(1)


def test_a_large_answer_is_checked_to_its_end() -> None:
    item = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
    schema = BoundedSchema({"type": "array", "items": item})

    assert schema.fault([{"text": "x"}] * 10_000) is None
    late = schema.fault([{"text": "x"}] * 10_000 + [{"text": 1}])
    assert late is not None
    assert late.path == (10_000, "text")


def test_each_check_has_all_its_steps() -> None:
    schema = BoundedSchema({"type": "array", "items": {"type": "integer"}})
    for _ in range(3):
        assert schema.fault([1] * 60_000) is None


KEYWORDS = st.sampled_from(
    [
        "type",
        "properties",
        "items",
        "allOf",
        "anyOf",
        "not",
        "if",
        "then",
        "$ref",
        "$defs",
        "enum",
        "required",
        "pattern",
        "minimum",
        "$schema",
        "$id",
        "uniqueItems",
        "dependentSchemas",
    ]
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=6)
    | st.sampled_from(["object", "#", "#/$defs/a", "https://x.invalid/s", "(a+)+$"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYWORDS, inner, max_size=4),
)
SCHEMAS = st.dictionaries(KEYWORDS, VALUES, max_size=5)


@given(SCHEMAS, VALUES)
@pytest.mark.slow
def test_any_schema_is_refused_or_checks_any_value(schema: dict[str, Any], value: object) -> None:
    if schema_fault(schema) is not None:
        return
    with suppress(UncheckableSchema):
        BoundedSchema(schema).fault(value)


SOUND_TYPES = st.sampled_from(["object", "array", "string", "integer", "number", "boolean", "null"])
SMALL: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([1.0, 0.5, "", "a", "ab"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, max_size=3)
    ),
    max_leaves=6,
)


def _with_parts(part: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    named = st.dictionaries(st.sampled_from(["a", "b"]), part, max_size=2)
    names = st.lists(st.sampled_from(["a", "b", "c"]), max_size=2, unique=True)
    some, size = st.lists(part, min_size=1, max_size=2), st.integers(0, 2)
    return st.fixed_dictionaries(
        {},
        optional={
            "type": SOUND_TYPES | st.lists(SOUND_TYPES, min_size=1, max_size=2, unique=True),
            "enum": st.lists(SMALL, max_size=2),
            "const": SMALL,
            "minimum": st.integers(-2, 2),
            "exclusiveMaximum": st.integers(-2, 2),
            "multipleOf": st.sampled_from([1, 2, 0.5]),
            "minLength": size,
            "maxItems": size,
            "minProperties": size,
            "uniqueItems": st.booleans(),
            "required": names,
            "properties": named,
            "additionalProperties": part,
            "propertyNames": part,
            "dependentRequired": st.dictionaries(st.just("a"), names, max_size=1),
            "dependentSchemas": named,
            "items": part,
            "prefixItems": some,
            "contains": part,
            "minContains": size,
            "maxContains": size,
            **dict.fromkeys(("allOf", "anyOf", "oneOf"), some),
            **dict.fromkeys(("not", "if", "then", "else"), part),
            "$ref": st.just("#/$defs/a"),
        },
    )


SOUND_SCHEMAS = st.recursive(st.booleans() | st.just({}), _with_parts, max_leaves=6)


@given(_with_parts(SOUND_SCHEMAS), SMALL)
@pytest.mark.slow
def test_a_sound_schema_allows_what_the_library_allows(
    schema: dict[str, Any], value: object
) -> None:
    schema = schema | {"$defs": {"a": {"type": ["string", "integer", "array"]}}}

    allowed = jsonschema.Draft202012Validator(schema).is_valid(value)

    assert schema_fault(schema) is None
    assert (BoundedSchema(schema).fault(value) is None) == allowed
