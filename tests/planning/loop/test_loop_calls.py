"""Tests of what a loop offers its agent, and of the steps that its calls become."""

from dataclasses import replace

import pytest
from pydantic import JsonValue, ValidationError

from holdfast.models.calls.function_calls import FunctionCall, FunctionCalls
from holdfast.models.calls.tool_signatures import ToolSignature
from holdfast.models.loop.loop_functions import LoopAnswer, UseArguments
from holdfast.planning.loop.loop_reply import ReplyRules
from holdfast.planning.loop.loop_steps import LoopSteps
from holdfast.planning.loop.loop_tools import LoopTools, signature_line
from holdfast.roles.dialogue.answer_schemas import parameter_schema
from holdfast.roles.loop.loop_agent import offered_functions

SEARCH = ToolSignature(
    name="corpus.search",
    description="Finds passages.",
    input_schema={
        "properties": {
            "query": {"type": "string"},
            "limit": {"type": "integer", "maximum": 20},
        },
        "required": ["query"],
    },
)
READ = ToolSignature(
    name="corpus.read",
    description="Gives the whole text of one document. Takes the address that `search` gave.",
    input_schema={"properties": {"document": {"type": "string"}}, "required": ["document"]},
)
DRAW = ToolSignature(
    name="charts.draw",
    description="Draws a chart",
    input_schema={
        "$defs": {"Mark": {"enum": ["line", "bar"], "type": "string"}},
        "properties": {
            "kind": {"$ref": "#/$defs/Mark"},
            "title": {"type": "string"},
            "log": {"type": "boolean"},
            "data": {"type": "array", "items": {"type": "object"}},
        },
        "required": ["kind", "title"],
    },
)
TOOLS = LoopTools.of([SEARCH, READ, DRAW])
RULES = ReplyRules(tools=TOOLS, asks=True)


def inputs_of(*calls: FunctionCall) -> list[dict[str, object]]:
    """The inputs of the steps that a reply with these calls becomes."""
    read = RULES.calls(FunctionCalls(calls=list(calls)))
    steps = LoopSteps("T1", TOOLS, 1, {3: "bridges/teal.md"})
    tasks = steps.steps(read, steps.ids(read))
    return [{each.name: each.value for each in task.inputs} for task in tasks]


@pytest.mark.parametrize(
    ("tool", "line"),
    [
        (
            READ,
            "corpus.read(document: passage number or address): Gives the whole text of one document",
        ),
        (
            DRAW,
            "charts.draw(kind: line|bar, title, log?: boolean, data?: array): Draws a chart",
        ),
    ],
)
def test_a_tool_is_one_short_line(tool: ToolSignature, line: str) -> None:
    assert signature_line(tool) == line


def test_a_long_signature_names_what_is_required() -> None:
    names = [f"p{n}" for n in range(9)]
    tool = ToolSignature(
        name="lab.run",
        description="x" * 200,
        input_schema={"properties": {n: {"type": "string"} for n in names}, "required": ["p1"]},
    )

    assert signature_line(tool).startswith("lab.run(p1, ...): xxx")
    assert len(signature_line(tool)) < 120


@pytest.mark.parametrize("number", [3, "3", " 3 "])
def test_the_number_of_a_passage_names_its_document(number: object) -> None:
    inputs = [{"name": "document", "value": number}]
    call = FunctionCall(name="use", arguments={"tool": "corpus.read", "inputs": inputs})

    assert inputs_of(call) == [{"document": "bridges/teal.md"}]


@pytest.mark.parametrize("value", ["bridges/other.md", 9])
def test_another_value_stays_as_it_is(value: object) -> None:
    call = FunctionCall(name="corpus.read", arguments={"document": value})

    assert inputs_of(call) == [{"document": value}]


def test_inputs_may_be_an_object() -> None:
    inputs = {"kind": "bar", "title": "3"}
    call = FunctionCall(name="use", arguments={"tool": "charts.draw", "inputs": inputs})

    assert inputs_of(call) == [inputs]


@pytest.mark.parametrize("inputs", [{}, {"name": "Ada"}, {"value": 3}, {"name": "a", "key": "b"}])
def test_an_object_of_inputs_may_have_any_names_of_parameters(inputs: dict[str, JsonValue]) -> None:
    find = ToolSignature(name="graph.find", description="", input_schema={})
    rules = ReplyRules(tools=LoopTools.of([SEARCH, find]), asks=False)
    call = FunctionCall(name="use", arguments={"tool": "graph.find", "inputs": inputs})

    (read,) = rules.calls(FunctionCalls(calls=[call]))

    assert isinstance(read, UseArguments)
    assert {each.name: each.value for each in read.inputs} == inputs


def test_an_object_that_may_be_one_entry_of_the_list_is_refused() -> None:
    inputs = {"name": "title", "value": "3"}

    with pytest.raises(ValidationError, match="valid list"):
        UseArguments.model_validate({"tool": "charts.draw", "inputs": inputs})


@pytest.mark.conformance("MOD-10")
def test_rows_of_a_strict_reply_are_json_text() -> None:
    inputs = [
        {"name": "data", "value": '[{"year": 2020}]'},
        {"name": "title", "value": '{"in": "braces"}'},
    ]
    call = FunctionCall(name="use", arguments={"tool": "charts.draw", "inputs": inputs})

    (drawn,) = inputs_of(call)

    assert drawn == {"data": [{"year": 2020}], "title": '{"in": "braces"}'}


@pytest.mark.parametrize("name", ["Search", "SEARCH ", "corpus.search", "Corpus.Search"])
def test_the_name_of_a_function_counts_in_any_case(name: str) -> None:
    call = FunctionCall(name=name, arguments={"query": "a"})

    assert RULES.faults(FunctionCalls(calls=[call])) == []
    assert inputs_of(call) == [{"query": "a", "limit": 4}]


def test_several_queries_of_a_turn_find_fewer_passages_each() -> None:
    alone = FunctionCall(name="search", arguments={"queries": ["a"]})
    several = FunctionCall(name="search", arguments={"queries": ["a", "b"]})

    assert [each["limit"] for each in inputs_of(alone)] == [4]
    assert [each["limit"] for each in inputs_of(several)] == [3, 3]
    assert [each["limit"] for each in inputs_of(alone, alone)] == [3, 3]


def test_parameters_of_functions_are_short() -> None:
    schema = parameter_schema(RULES.functions["answer"])

    sentence = schema["properties"]["sentences"]["items"]
    assert sentence["properties"]["replaces"] == {"type": "integer"}
    assert sentence["required"] == ["text"]
    assert "additionalProperties" not in str(schema)
    (use,) = (each for each in offered_functions(RULES.functions) if each.name == "use")
    assert use.parameters["properties"]["inputs"] == {"type": "object"}
    assert use.strict_parameters["properties"]["inputs"]["type"] == "array"


@pytest.mark.conformance("MOD-10")
def test_a_correction_may_leave_out_what_does_not_change() -> None:
    sentence = {"replaces": 2, "text": "It opened.", "cites": [{"passage": 1, "quote": "opened"}]}
    reply = FunctionCalls(calls=[FunctionCall(name="answer", arguments={"sentences": [sentence]})])

    corrected = replace(RULES, corrects=True).calls(reply)

    assert isinstance(corrected[0], LoopAnswer)
    assert corrected[0].short == ""
    assert RULES.faults(reply) == ["short: Field required"]
