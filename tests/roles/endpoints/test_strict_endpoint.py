"""Tests that the scripted endpoint of the tests sends nothing that a strict endpoint would not."""

import pytest

from holdfast.models.errors import ModelUnusable
from holdfast.roles.dialogue.answer_schemas import answer_schema
from holdfast.roles.planning.planner import PLANNER
from tests.roles.endpoints.test_model_endpoint import REQUEST
from tests.support.endpoints.opened_endpoint import opened_endpoint
from tests.support.endpoints.scripted_model import ScriptedModel, ScriptedReply
from tests.support.endpoints.strict_answers import schema_fault, strict_answer

CALL = {"id": "T1", "kind": "tool", "description": "draw", "tool": "charts.draw"}
BREACHES = {
    "a missing field": ({"tasks": []}, r"\$: 'explanation' is a required property"),
    "a further field": ({"tasks": [], "explanation": "", "why": ""}, r"'why' was unexpected"),
    "another type": ({"tasks": "none", "explanation": ""}, r"\$\.tasks: 'none' is not of type"),
}


@pytest.mark.parametrize(("answer", "fault"), BREACHES.values(), ids=BREACHES)
async def test_a_reply_that_breaks_its_schema_is_refused_and_ends_the_block(
    answer: dict[str, object], fault: str
) -> None:
    server = ScriptedModel(lambda _: ScriptedReply.of(answer))

    with pytest.raises(AssertionError, match=f"no strict endpoint sends .*planner: .*{fault}"):
        await _refused(server, fault)

    assert [asked.rung for asked in server.asked] == ["json_schema"]


async def _refused(server: ScriptedModel, fault: str) -> None:
    with server:
        async with opened_endpoint(server) as model:
            with pytest.raises(ModelUnusable, match=fault):
                await model.complete(REQUEST)


@pytest.mark.parametrize(
    ("reply", "supports"),
    [
        (ScriptedReply.lax({"tasks": "none"}), ("json_schema",)),
        (ScriptedReply('{"tasks": [', finish="length"), ("json_schema",)),
        (ScriptedReply.of({"tasks": "none"}), ("json_object",)),
        (ScriptedReply.playing(PLANNER, {"tasks": []}), ("json_schema",)),
    ],
    ids=["lax", "cut off", "asked without a schema", "completed"],
)
async def test_other_replies_are_sent_as_they_are(
    reply: ScriptedReply, supports: tuple[str, ...]
) -> None:
    with ScriptedModel(lambda _: reply, supports=supports) as server:
        async with opened_endpoint(server) as model:
            assert (await model.complete(REQUEST)).text == reply.content


def test_objects_are_written_as_json_text_where_the_schema_has_none() -> None:
    rows = {"name": "data", "value": [{"year": 2020}]}

    answer = strict_answer(PLANNER, {"tasks": [{**CALL, "inputs": [rows]}]})

    assert isinstance(answer, dict)
    (task,) = answer["tasks"]  # type: ignore[misc]  # a list, as written here
    (given,) = task["inputs"]
    assert given == {"name": "data", "type": "string", "value": '[{"year": 2020}]'}


def test_a_completed_answer_fits_its_schema() -> None:
    schema = answer_schema(PLANNER.answer)
    reply = ScriptedReply.playing(PLANNER, {"tasks": [CALL]})

    assert schema_fault(reply.content, schema) is None
