"""Tests for arguments that are objects or lists, which models write as JSON text."""

import json
from collections.abc import AsyncIterator

import jsonschema
import pytest
from pydantic import JsonValue

from holdfast.models.calls.tool_signatures import ToolSignature
from holdfast.models.plans.plan_drafts import PlanDraft
from holdfast.models.plans.research_plan import EntityType, Plan, TaskInput
from holdfast.planning.plans.plan_validation import PlanRules, plan_faults
from holdfast.planning.plans.tool_fitting import fit_to_tools
from holdfast.roles.dialogue.answer_schemas import answer_schema
from holdfast.tools.charts.charts_server import charts_server
from holdfast.tools.mcp.tool_hub import Hub
from holdfast.tools.mcp.tool_server import BuiltinServer
from tests.support.jobs.plan_builders import (
    agent_task,
    final_task,
    lookup_task,
    plan,
    result_reference,
)

FILTER = ToolSignature(
    name="corpus.search",
    input_schema={
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "filter": {"anyOf": [{"$ref": "#/$defs/Filter"}, {"type": "null"}]},
            "anything": {},
        },
        "$defs": {"Filter": {"type": "object", "additionalProperties": {"type": "integer"}}},
    },
)
TOOLS = {FILTER.name: FILTER}


@pytest.fixture
async def charts() -> AsyncIterator[ToolSignature]:
    async with Hub({}, {"charts": BuiltinServer(charts_server())}) as hub:
        (tool,) = await hub.signatures()
        yield tool


def calling(tool: str, *inputs: TaskInput, after: tuple[str, ...] = ()) -> Plan:
    first = lookup_task("T1")
    second = lookup_task("T2", "T1").model_copy(update={"tool": tool, "inputs": inputs})
    return plan(first, second, final_task("T3", "T2", *after))


def value_of(plan: Plan, name: str) -> JsonValue:
    return next(each.value for each in plan.by_id["T2"].inputs if each.name == name)


@pytest.mark.conformance("MOD-10")
@pytest.mark.parametrize(
    "data",
    [[{"year": 2020, "sales": 1.5}], {"year": [2020], "sales": [1.5]}],
    ids=["rows", "columns"],
)
async def test_the_data_of_a_chart_can_be_written_under_a_strict_schema(
    charts: ToolSignature, data: JsonValue
) -> None:
    words = {"kind": "line", "x": "year", "y": "sales", "title": "Sales", "y_title": "EUR m"}
    inputs = [{"name": name, "type": "string", "value": value} for name, value in words.items()]
    inputs.append({"name": "data", "type": "dict", "value": json.dumps(data)})
    drawn = {
        "id": "T1",
        "kind": "tool",
        "description": "draw it",
        "tool": "draw",
        "inputs": inputs,
        "expects": [{"name": "c", "type": "string", "description": "chart", "required": True}],
        "depends_on": [],
        "priority": 5,
        "include_context": False,
    }
    answer = {"explanation": "", "tasks": [drawn]}
    jsonschema.validate(answer, answer_schema(PlanDraft))

    known = {charts.name: charts}
    fitted = fit_to_tools(PlanDraft.model_validate(answer).to_plan(), known)

    (task,) = fitted.tasks
    assert task.tool == "charts.draw"
    assert task.inputs[-1].value == data
    assert not plan_faults(fitted, PlanRules(tools=known, needs_final=False))


def test_references_inside_json_text_stay_references_of_their_own() -> None:
    author = result_reference("T1")
    written = TaskInput(name="filter", value=json.dumps({"author": author}), is_reference=True)

    fitted = fit_to_tools(calling(FILTER.name, written), TOOLS)

    # Replaced in the text, a name with a quotation mark would break it.
    assert value_of(fitted, "filter") == {"author": author}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"year": REF}', {"year": "REF"}),
        ('{"years": [REF, 1890], "author": "REF"}', {"years": ["REF", 1890], "author": "REF"}),
        ('{"note": "\\"by\\" REF", "year":REF}', {"note": '"by" REF', "year": "REF"}),
    ],
    ids=["a number", "with marks as well", "inside a text as well"],
)
def test_references_in_json_text_need_no_quotation_marks(
    text: str, value: dict[str, object]
) -> None:
    """Without marks, a reference to a number looks as the number itself would."""
    reference = result_reference("T1")
    written = TaskInput(name="filter", value=text.replace("REF", reference), is_reference=True)

    fitted = fit_to_tools(calling(FILTER.name, written), TOOLS)

    expected = json.dumps(value).replace("REF", reference)
    assert value_of(fitted, "filter") == json.loads(expected)


def test_an_object_with_a_reference_is_checked_when_the_tool_is_called() -> None:
    year = TaskInput(name="filter", value={"year": result_reference("T1")}, is_reference=True)
    rules = PlanRules(tools=TOOLS | {lookup_task("T1").tool: ToolSignature(name="lab.search")})

    assert not [
        fault for fault in plan_faults(calling(FILTER.name, year), rules) if "does not fit" in fault
    ]


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("query", EntityType.DICT, '{"a": 1}'),
        ("anything", EntityType.STRING, '{"a": 1}'),
        ("filter", EntityType.DICT, "the author's books"),
        ("filter", EntityType.DICT, '{"a": '),
        ("filter", EntityType.DICT, "[" * 100_000),
        ("filter", EntityType.DICT, '{"year": <JSON_PATH>T1.value</JSON_PATH>'),
        ("filter", EntityType.DICT, '{"<JSON_PATH>T1.value</JSON_PATH>' + '\\"' * 100_000),
    ],
    ids=["a text parameter", "text for any", "prose", "cut", "too deep", "cut mark", "cut text"],
)
def test_other_text_stays_text(name: str, kind: EntityType, text: str) -> None:
    written = TaskInput(name=name, type=kind, value=text)

    assert value_of(fit_to_tools(calling(FILTER.name, written), TOOLS), name) == text


def test_a_declared_object_is_read_where_the_tool_takes_any_value() -> None:
    written = TaskInput(name="anything", type=EntityType.DICT, value='{"a": "\\u0000", "b": NaN}')

    fitted = fit_to_tools(calling(FILTER.name, written), TOOLS)

    assert value_of(fitted, "anything") == {"a": "\ufffd", "b": None}


def test_the_fault_of_a_broken_object_says_how_to_write_it() -> None:
    written = TaskInput(name="filter", type=EntityType.DICT, value='{"kind": ')

    faults = plan_faults(calling(FILTER.name, written), PlanRules(tools=TOOLS))

    (fault,) = [fault for fault in faults if "does not fit" in fault]
    assert "write the object or list as JSON text" in fault


@pytest.mark.conformance("MOD-10")
@pytest.mark.parametrize("written", ["Corpus.Search", "SEARCH", " corpus.search "])
def test_the_name_of_a_tool_counts_in_any_case(written: str) -> None:
    fitted = fit_to_tools(calling(written), TOOLS)

    assert fitted.by_id["T2"].tool == "corpus.search"


@pytest.mark.conformance("MOD-10")
@pytest.mark.parametrize(
    ("written", "agents", "name"),
    [("RAG", ["rag", "web"], "rag"), ("Rag", ["rag", "RAG"], "Rag"), ("bag", ["rag"], "bag")],
)
def test_the_name_of_an_agent_counts_in_any_case_if_it_is_one_agents(
    written: str, agents: list[str], name: str
) -> None:
    fitted = fit_to_tools(plan(agent_task("T1").with_agent(written)), {}, agents)

    assert fitted.by_id["T1"].agent == name
