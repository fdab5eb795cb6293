"""Tests that no schema of a tool server, and no answer under a schema, occupies the event loop.

Each pair makes a usual check of JSON Schema slow: exponential, quadratic, or with much work within
one step.
"""

from collections.abc import Callable
from typing import Any

import pytest
from mcp.types import CallToolResult, Tool

from holdfast.models.calls.tool_signatures import ToolSignature
from holdfast.models.errors import ToolFailed
from holdfast.models.plans.research_plan import Plan, Task, TaskInput, TaskKind
from holdfast.planning.plans.plan_validation import PlanRules, plan_faults
from holdfast.planning.schemas.allowed_texts import allowed_texts
from holdfast.roles.dialogue.reply_reader import MAX_CHARS, MAX_VALUES
from holdfast.tools.mcp.tool_schema_checks import CheckedTool
from tests.support.services.processor_time import processor_s

LONGEST_STALL_S = 0.5
MANY = 100_000
SAME_HASH = 2**61 - 1
"""Python gives all multiples of this number the same hash."""


def chain(keyword: Callable[[dict[str, Any]], dict[str, Any]], depth: int = 60) -> dict[str, Any]:
    """A schema in which each part refers to the next one as the keyword does."""
    parts = {f"s{n}": keyword({"$ref": f"#/$defs/s{n + 1}"}) for n in range(depth)}
    return {"$ref": "#/$defs/s0", "$defs": {**parts, f"s{depth}": {}}}


def nested(depth: int, inner: object) -> Any:
    return [nested(depth - 1, inner)] if depth else inner


NAMES = [f"n{number}" for number in range(9_000)]
BACKTRACKING, TRAP = "^(a+)+$", "a" * 40 + "!"
PAIRS: dict[str, tuple[dict[str, Any], Any]] = {
    "a pattern": ({"pattern": BACKTRACKING}, TRAP),
    "a pattern of names": ({"propertyNames": {"pattern": BACKTRACKING}}, {TRAP: 1}),
    "patterns and others": (
        {"patternProperties": {BACKTRACKING: {}}, "additionalProperties": False},
        {TRAP: 1},
    ),
    "patterns and unevaluated": (
        {"patternProperties": {BACKTRACKING: {}}, "unevaluatedProperties": False},
        {TRAP: 1},
    ),
    "a huge pattern": ({"pattern": "(a|b)" * 20_000}, "ab"),
    "a format": ({"format": "regex"}, "(a|b)" * 20_000),
    "unique integers": ({"uniqueItems": True}, list(range(MANY))),
    "unique mixed items": ({"uniqueItems": True}, [x for n in range(20_000) for x in (n, str(n))]),
    "unique objects": ({"uniqueItems": True}, [{"a": n, "b": [n]} for n in range(20_000)]),
    "unique long texts": ({"uniqueItems": True}, ["x" * 1_000 + str(n) for n in range(9_000)]),
    "unique colliding hashes": ({"uniqueItems": True}, [n * SAME_HASH for n in range(20_000)]),
    "unique deep items": ({"uniqueItems": True}, [nested(300, "x" * MANY)] * 2),
    "unique long numbers": ({"uniqueItems": True}, [16**40_000 + n for n in range(100)]),
    "unique items everywhere": (
        {"items": {"uniqueItems": True}},
        [list(range(100)) for _ in range(2_000)],
    ),
    "a big enum": ({"items": {"enum": NAMES}}, NAMES),
    "an enum of mixed values": (
        {"items": {"enum": [n * SAME_HASH for n in range(6_000)]}},
        [n * SAME_HASH for n in range(6_000)],
    ),
    "enums of one big value": ({"allOf": [{"enum": [1]}] * 5_000}, ["x" * 1_000] * 1_000),
    "constants of one big value": ({"allOf": [{"const": 1}] * 5_000}, ["x" * 1_000] * 1_000),
    "faults that quote a big value": ({"anyOf": [{"type": "null"}] * 5_000}, ["x"] * MANY),
    "faults that quote a long text": ({"anyOf": [{"const": 1}] * 5_000}, "x" * 1_000_000),
    "required names": ({"required": NAMES}, {"x": 1}),
    "required names of each item": ({"items": {"required": NAMES}}, [dict.fromkeys(NAMES)] * 900),
    "members that are too many": (
        {"additionalProperties": False},
        {f"n{number}": 1 for number in range(MANY)},
    ),
    "dependent names": (
        {"dependentRequired": dict.fromkeys(NAMES[:900], NAMES[:10])},
        dict.fromkeys(NAMES, 1),
    ),
    "dependent schemas": (
        {"dependentSchemas": {name: {"dependentSchemas": {}} for name in NAMES[:900]}},
        dict.fromkeys(NAMES, 1),
    ),
    "nested dependent schemas": (
        chain(lambda next_: {"dependentSchemas": {"a": next_, "b": next_}}),
        {"a": 1, "b": 2},
    ),
    "doubling": (chain(lambda next_: {"allOf": [next_, next_]}), {}),
    "doubling alternatives": (
        chain(lambda next_: {"anyOf": [{"allOf": [next_, False]}, next_]}),
        {},
    ),
    "doubling and one of them": (chain(lambda next_: {"oneOf": [next_, next_]}), {}),
    "doubling negations": (
        chain(lambda next_: {"not": {"allOf": [next_, {"not": next_}]}}),
        {},
    ),
    "doubling conditions": (chain(lambda next_: {"if": next_, "then": next_}), {}),
    "doubling and unevaluated": (
        {"unevaluatedProperties": False, **chain(lambda next_: {"allOf": [next_, next_]})},
        {"a": 1},
    ),
    "contained in each other": (
        chain(lambda next_: {"allOf": [{"contains": next_}, {"contains": next_}]}),
        nested(60, 1),
    ),
    "contains of many": (
        {"allOf": [{"contains": {"const": -1}, "minContains": 0}] * 3_000},
        list(range(3_000)),
    ),
    "an endless reference": ({"allOf": [{"$ref": "#"}]}, {}),
    "references in a ring": (
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        {},
    ),
    "dynamic references": (
        {"$dynamicAnchor": "x", "allOf": [{"$dynamicRef": "#x"}, {"$dynamicRef": "#x"}]},
        {},
    ),
    "anchors that are nowhere": ({"anyOf": [{"$ref": f"#{name}"} for name in NAMES]}, {}),
    "a long pointer": ({"$ref": "#" + "/a" * 90_000}, {}),
    "unknown keywords": (
        {"items": {"$ref": "#/$defs/a"}, "$defs": {"a": dict.fromkeys(NAMES, 1)}},
        [1] * MANY,
    ),
    "empty alternatives": ({"items": {"allOf": [{}] * 9_000}}, [1] * 1_000),
    "items of items": (
        {"$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"},
        [[[[[1] * 20] * 20] * 20] * 20] * 20,
    ),
    "long numbers": ({"multipleOf": 3}, 7 * 16**40_000),
    "a fraction of a long number": ({"multipleOf": 0.1}, 7 * 16**40_000),
    "a deep value": ({"items": {"$ref": "#"}}, nested(900, 1)),
}


@pytest.mark.conformance("SAF-02")
@pytest.mark.timeout(60)
@pytest.mark.parametrize(("schema", "value"), PAIRS.values(), ids=PAIRS)
@pytest.mark.slow
def test_an_answer_is_checked_or_refused_in_bounded_time(
    schema: dict[str, Any], value: object
) -> None:
    def check() -> object:
        tool = CheckedTool(Tool(name="t", input_schema={"type": "object"}, output_schema=schema))
        answer = CallToolResult.model_construct(structured_content=value, is_error=False)  # type: ignore[call-arg]
        return tool.fault or tool.check_answer("lab.t", answer)

    assert processor_s(check, ToolFailed) < LONGEST_STALL_S


def size(value: object) -> tuple[int, int]:
    """Values and characters of a JSON value; it may be nested too deep for a recursion."""
    count = chars = 0
    left = [value]
    while left:
        count += 1
        each = left.pop()
        if isinstance(each, dict | list):
            left += each.values() if isinstance(each, dict) else each
        elif isinstance(each, str):
            chars += len(each)
        elif isinstance(each, int):
            chars += each.bit_length() // 4
    return count, chars


def copies(value: object) -> int:
    """How many of the value one reply of a model has room for, up to nine."""
    count, chars = size(value)
    return min(9, MAX_VALUES // count, MAX_CHARS // max(1, chars))


IN_PLANS = {name: pair for name, pair in PAIRS.items() if copies(pair[1])}


@pytest.mark.conformance("SAF-02")
@pytest.mark.timeout(60)
@pytest.mark.parametrize(("schema", "value"), IN_PLANS.values(), ids=IN_PLANS)
@pytest.mark.slow
def test_a_plan_for_a_hostile_tool_is_checked_in_bounded_time(
    schema: dict[str, Any], value: Any
) -> None:
    root = {"type": "object", "properties": {"q": schema}, "$defs": schema.get("$defs", {})}
    tool = ToolSignature.model_construct(name="lab.t", description="", input_schema=root)
    given = TaskInput.model_construct(name="q", value=value, is_reference=False)
    task = Task(id="T1", kind=TaskKind.TOOL, description="", tool="lab.t").with_inputs((given,))
    plan = Plan.model_construct(tasks=(task,) * copies(value))

    took_s = processor_s(lambda: plan_faults(plan, PlanRules({"lab.t": tool})))

    assert took_s < LONGEST_STALL_S


ALTERNATIVES: dict[str, Any] = {
    "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}] * 3_000}},
    "$ref": "#/$defs/a",
}


@pytest.mark.conformance("SAF-02")
def test_the_texts_that_a_schema_allows_are_found_in_bounded_time() -> None:
    took_s = processor_s(lambda: allowed_texts(ALTERNATIVES, ALTERNATIVES))

    assert took_s < LONGEST_STALL_S
    assert allowed_texts(ALTERNATIVES, ALTERNATIVES) == ()
