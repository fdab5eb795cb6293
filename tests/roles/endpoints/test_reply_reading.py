"""Tests for schemas that strict endpoints accept, and for reading a reply in any wrapping."""

import json
from contextlib import suppress
from typing import Any

import jsonschema
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, JsonValue

from holdfast.models.plans.plan_drafts import PlanDraft
from holdfast.models.reports.report_writer_messages import SynthesiserAnswer
from holdfast.roles.dialogue.answer_schemas import answer_schema
from holdfast.roles.dialogue.reply_reader import ReplyInvalid, read_reply
from holdfast.roles.tasks.extractor import ExtractorAnswer
from holdfast.roles.tasks.reasoner import ReasonerAnswer

ANSWERS: list[type[BaseModel]] = [PlanDraft, ExtractorAnswer, ReasonerAnswer, SynthesiserAnswer]
STRICT = {
    "type",
    "enum",
    "description",
    "anyOf",
    "items",
    "properties",
    "required",
    "additionalProperties",
}

PLAN = {"explanation": "e", "tasks": [{"id": "T1", "kind": "tool", "description": "find it"}]}
SEED_REASONING = """\
Justifications:
1. The original question asks for the government position held by
   the woman who portrayed Corliss Archer in "Kiss and Tell"
2. From previous tasks, we identified the actress: Shirley Temple
3. A note: {this} is not an object, nor is [this] a list

execution_result:
  status: |
    completed
  outputs:
    final_answer: "Chief of Protocol"
execution_details:
  reasoning_steps:
    - |
      Retrieved government position: from input parameters
    - "Formatted as final answer"
"""


def nodes(schema: dict[str, Any]) -> list[dict[str, Any]]:
    inside = [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]
    inside += [schema["items"]] if "items" in schema else []
    return [schema, *(each for node in inside for each in nodes(node))]


class Word(BaseModel):
    word: str
    when: str | None = None
    loud: bool | str | None = None
    number: float | None = None


class Tree(BaseModel):
    children: list["Tree"]


class Forest(BaseModel):
    tree: Tree


class FreeDict(BaseModel):
    values: dict[str, str]


class Untyped(BaseModel):
    value: JsonValue


class Pair(BaseModel):
    pair: tuple[int, str]


class Inner(BaseModel):
    """For engineers."""

    word: str = Field(default="x", pattern="^x$", max_length=3)


class Outer(BaseModel):
    """For engineers."""

    inner: Inner = Field(default=Inner(), description="for models")


@pytest.mark.parametrize("answer", ANSWERS)
def test_schemas_of_all_roles_keep_to_the_strict_subset(answer: type[BaseModel]) -> None:
    schema = answer_schema(answer)

    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    for node in nodes(schema):
        assert set(node) <= STRICT
        assert {"type", "enum", "anyOf"} & set(node)
        if node.get("type") == "object":
            assert node["additionalProperties"] is False
            assert node["required"] == list(node["properties"])


@pytest.mark.parametrize("answer", ANSWERS)
def test_what_fits_the_schema_is_read(answer: type[BaseModel]) -> None:
    filled = filled_in(answer_schema(answer))

    jsonschema.validate(filled, answer_schema(answer))
    assert isinstance(read_reply(json.dumps(filled), answer), answer)


def filled_in(schema: dict[str, Any]) -> object:
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return filled_in(schema["anyOf"][0])
    match schema["type"]:
        case "object":
            return {name: filled_in(each) for name, each in schema["properties"].items()}
        case "array":
            return [filled_in(schema["items"])]
        case "boolean":
            return True
        case "integer" | "number":
            return 1
    return "text"


def test_field_descriptions_go_along_and_docstrings_stay() -> None:
    schema = answer_schema(Outer)

    inner = schema["properties"]["inner"]
    assert inner["description"] == "for models"
    assert inner["properties"]["word"] == {"type": "string"}
    assert "engineers" not in json.dumps(schema)


@pytest.mark.parametrize("answer", [Tree, Forest, FreeDict, Untyped, Pair])
def test_what_endpoints_do_not_enforce_is_refused(answer: type[BaseModel]) -> None:
    with pytest.raises(TypeError, match=r"endpoints|free dict"):
        answer_schema(answer)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(PLAN),
        "\ufeff" + json.dumps(PLAN, indent=2),
        f'<think>is it {{"tasks": []}}?</think>\n{json.dumps(PLAN)}',
        f"so I thought\n</think>{json.dumps(PLAN)}",
        f"Given {{this}}, here it is:\n```json\n{json.dumps(PLAN, indent=2)}\n```\nBye {{}}",
        f"```\n{json.dumps(PLAN)}",
        f"Sure: {json.dumps(PLAN)} hope it helps",
        json.dumps(PLAN)[:-1] + ",}",
        f"It is {{this}} and {{that}}, it's so: {json.dumps(PLAN)} It's done.",
        f"Sure, for {json.dumps({'example': 1})} I say {json.dumps(PLAN)}",
        json.dumps(PLAN).replace("null", "None").replace('"', "'"),
        f"[{json.dumps(PLAN)}]",
        "tasks:\n- id: T1\n  kind: tool\n  description: find it",
        "```yaml\ntasks:\n  - id: T1\n    kind: tool\n    description: find it\n```",
        "The plan: as asked, [1].\n\ntasks:\n- {id: T1, kind: tool, description: find it}\n",
    ],
)
def test_a_plan_is_read_however_it_is_wrapped(text: str) -> None:
    plan = read_reply(text, PlanDraft)

    assert [(task.id, task.description) for task in plan.tasks] == [("T1", "find it")]


def test_the_form_of_kpi_chain_is_read_after_its_justifications() -> None:
    answer = read_reply(SEED_REASONING, ReasonerAnswer)

    assert answer.status == "completed"
    assert [(each.name, each.value) for each in answer.outputs] == [
        ("final_answer", "Chief of Protocol")
    ]
    assert answer.reasoning_steps[0] == "Retrieved government position: from input parameters"


def test_references_survive_yaml() -> None:
    text = (
        "tasks:\n- task_id: T2\n  task_type: Reasoning\n  task_description: say\n"
        "  input_parameters:\n  - name: a\n    value: <JSON_PATH>T1.actor[*]</JSON_PATH>\n"
    )

    [task] = read_reply(text, PlanDraft).tasks

    assert task.inputs[0].value == "<JSON_PATH>T1.actor[*]</JSON_PATH>"


@pytest.mark.parametrize("word", ["no", "NO", "on", "12:30", "2026-01-02", "010", "1e3", "=", "<<"])
def test_yaml_keeps_words_that_only_yaml_takes_for_something_else(word: str) -> None:
    assert read_reply(f"word: {word}", Word).word == word


@pytest.mark.parametrize("word", ["&a x\nwhen: *a", "!!python/name:os.system", "!!binary aGk="])
def test_yaml_with_aliases_or_tags_is_refused(word: str) -> None:
    with pytest.raises(ReplyInvalid):
        read_reply(f"word: {word}", Word)


def test_thoughts_do_not_count_as_the_answer() -> None:
    answer = read_reply('<think>{"word": "draft"}</think>{"word": "final"}', Word)

    assert answer.word == "final"


def test_a_tag_inside_a_valid_answer_stays() -> None:
    assert read_reply('{"word": "a </think> b"}', Word).word == "a </think> b"


def test_text_that_postgres_cannot_hold_is_mended() -> None:
    assert read_reply('{"word": "a\\u0000b\\ud800c"}', Word).word == "a\ufffdb\ufffdc"


@pytest.mark.parametrize("number", ["NaN", "1e999", "-Infinity"])
def test_infinite_numbers_are_faults(number: str) -> None:
    with pytest.raises(ReplyInvalid, match="infinite or NaN"):
        read_reply(f'{{"word": "x", "number": {number}}}', Word)


def test_the_message_names_what_to_mend_and_repeats_no_input() -> None:
    wrong = {"tasks": [{"id": "T1", "kind": "s3cret"}]}

    with pytest.raises(ReplyInvalid) as caught:
        read_reply(json.dumps(wrong), PlanDraft)

    message = str(caught.value)
    assert "tasks.0.kind: Input should be 'tool' or 'reasoning'" in message
    assert "tasks.0.description: Field required" in message
    assert "s3cret" not in message
    assert "http" not in message


def test_the_message_is_short_however_much_is_wrong() -> None:
    with pytest.raises(ReplyInvalid) as caught:
        read_reply(json.dumps({"tasks": [{}] * 500}), PlanDraft)

    assert len(str(caught.value)) <= 1_500


@pytest.mark.parametrize(("text", "said"), [("  ", "empty"), ("I cannot say.", "no JSON object")])
def test_a_reply_without_an_object_says_so(text: str, said: str) -> None:
    with pytest.raises(ReplyInvalid, match=said):
        read_reply(text, PlanDraft)


@pytest.mark.conformance("MOD-10")
@pytest.mark.parametrize("size", range(1, len(json.dumps(PLAN))))
def test_a_cut_plan_is_never_closed_by_a_guess(size: int) -> None:
    cut = json.dumps(PLAN)[:size]

    for text in (cut, f"Here is the plan: as asked.\n\n{cut}", f"```json\n{cut}"):
        with pytest.raises(ReplyInvalid, match="not complete JSON; it ends after") as caught:
            read_reply(text, PlanDraft)
        assert repr(cut.strip()[-20:])[1:-1] in str(caught.value)


@pytest.mark.parametrize("text", ['{"word": "a b', "{'word': 'a', 'when': [", '{"word": "a",\n'])
def test_a_cut_answer_without_required_fields_is_no_answer_either(text: str) -> None:
    with pytest.raises(ReplyInvalid, match="not complete JSON"):
        read_reply(text, Word)


HOSTILE = [
    "[" * 5_000,
    '{"a":' * 5_000,
    "- " * 5_000,
    '{"a":["b' * 9_000,
    "a:\n" * 15_000,
    '["' * 1_500,
]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.timeout(20)
def test_hostile_text_is_only_invalid(text: str) -> None:
    with pytest.raises(ReplyInvalid):
        read_reply(text, PlanDraft)


WORDS = st.sampled_from(
    [
        "tasks",
        "entities",
        "extracted_entities",
        "execution_result",
        "outputs",
        "status",
        "id",
        "completed",
        "value",
        "answer",
        "name",
        "kind",
        "tool",
        "<think>",
        "</think>",
        "```yaml\n",
        "\n```",
        ": ",
        "\n- ",
        "\n",
        "{",
        "}",
        "[",
        "]",
        '"',
        "'",
        "|",
        "*a",
        "&a",
        "!!",
        "NaN",
        "1e9",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
)
TEXTS = st.text() | st.lists(WORDS, max_size=30).map("".join) | VALUES.map(json.dumps)


@given(TEXTS, st.sampled_from(ANSWERS))
@example('{"extracted_entities": "x"}', ExtractorAnswer)
@example('{"execution_result": "x"}', ReasonerAnswer)
@example('{"execution_result": {"outputs": [1]}}', ReasonerAnswer)
@pytest.mark.slow
def test_any_text_is_an_answer_or_invalid(text: str, answer: type[BaseModel]) -> None:
    with suppress(ReplyInvalid):
        assert isinstance(read_reply(text, answer), answer)
