"""Tests of endpoints' peculiarities, each from the shape in which public documents or issues show it.

Sources: Groq `json_validate_failed`: amurex-backend#38, build-with-groq/g1#23. Gemini: new-api#1037,
llm-gemini#49, zed#44875. OpenAI `max_tokens`: ComfyUI-Griptape#312. Ollama, Anthropic, OpenRouter and
Mistral: the pages on their OpenAI-compatible APIs.
"""

import json

import pytest

from holdfast.models.calls.model_requests import Completion, Message, ModelRequest
from holdfast.models.errors import MalformedReply, ModelBusy, ModelUnusable
from holdfast.models.frozen_model import Frozen
from holdfast.models.text.schema_shape import schema_shape
from holdfast.roles.dialogue.model_dialogue import hold_dialogue
from tests.support.endpoints.opened_endpoint import opened_endpoint
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel, ScriptedReply


class Answer(Frozen):
    a: str


SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}
REQUEST = ModelRequest(
    model="m",
    role="planner",
    messages=(Message(role="system", content="Plan."), Message(role="user", content="{}")),
    answer_schema=SCHEMA,
)
GOOD = '{"a": "b"}'


def refused(error: object, status: int = 400) -> ScriptedReply:
    return ScriptedReply(status=status, error=error)


def groq(code: str, **facts: object) -> ScriptedReply:
    text = "Failed to generate JSON. Please adjust your prompt. See 'failed_generation' for more details."
    return refused({"message": text, "type": "invalid_request_error", "code": code} | facts)


async def test_groq_refuses_what_the_model_wrote_and_the_text_is_read_all_the_same() -> None:
    written = f"```json\n{GOOD}\n```"
    with ScriptedModel() as server:
        server.push(groq("json_validate_failed", failed_generation=written), ScriptedReply(GOOD))
        async with opened_endpoint(server) as model:
            first = await model.complete(REQUEST)
            await model.complete(REQUEST)

    assert (first.text, first.is_estimated, first.finish) == (written, True, "stop")
    assert first.output_tokens > 0
    assert [asked.rung for asked in server.asked] == ["json_schema"] * 2


async def test_groq_that_does_not_say_what_was_written_is_asked_in_the_next_way_once() -> None:
    with ScriptedModel() as server:
        server.push(
            groq("json_validate_failed", failed_generation=""),
            ScriptedReply(GOOD),
            ScriptedReply(GOOD),
        )
        async with opened_endpoint(server) as model:
            await model.complete(REQUEST)
            await model.complete(REQUEST)

    assert [asked.rung for asked in server.asked] == ["json_schema", "json_object", "json_schema"]


GEMINI = [
    "Unknown name \"$schema\" at 'generation_config.response_schema': Cannot find field.",
    "Invalid value at 'generation_config.response_schema.properties[4].value.any_of[1].type'",
    "A schema in GenerationConfig in the request exceeds the maximum allowed nesting depth.",
    "The specified schema produces a constraint that has too many states for serving.",
]


@pytest.mark.parametrize("text", GEMINI)
@pytest.mark.parametrize("is_list", [False, True])
async def test_gemini_names_its_own_fields_when_it_refuses_a_schema(
    text: str, *, is_list: bool
) -> None:
    error = {"error": {"code": 400, "message": text, "status": "INVALID_ARGUMENT"}}
    body = json.dumps([error] if is_list else error).encode()
    with ScriptedModel(lambda _: ScriptedReply(GOOD)) as server:
        server.push(ScriptedReply(status=400, raw=body))
        async with opened_endpoint(server) as model:
            await model.complete(REQUEST)
            await model.complete(REQUEST)

    assert [asked.rung for asked in server.asked] == ["json_schema", "json_object", "json_object"]


async def test_a_server_that_takes_a_schema_and_ignores_it_gets_the_faults_back() -> None:
    """Anthropic's compatible endpoint ignores `response_format`; small servers do as well."""
    with ScriptedModel(is_strict=False) as server:
        server.push(ScriptedReply("Here it is: b."), ScriptedReply(f"Sure!\n```json\n{GOOD}\n```"))
        async with opened_endpoint(server) as model:

            async def send(request: ModelRequest, _: int) -> Completion:
                return await model.complete(request)

            result = await hold_dialogue(REQUEST, Answer, send=send, tries=3)

    assert result.answer == Answer(a="b")
    assert result.attempts == 2
    assert all(schema_shape(SCHEMA) in each.system for each in server.asked)


THOUGHTS = [
    ScriptedReply(f"<think>The user {{wants}} JSON.</think>\n{GOOD}"),
    ScriptedReply(f"The user wants JSON.</think>{GOOD}"),
    ScriptedReply(
        raw=json.dumps(
            {
                "choices": [
                    {
                        "message": {
                            "role": "assistant",
                            "content": [
                                {"type": "thinking", "thinking": [{"type": "text", "text": "{"}]},
                                {"type": "text", "text": GOOD},
                            ],
                        },
                        "finish_reason": "stop",
                    }
                ]
            }
        ).encode()
    ),
]


@pytest.mark.parametrize("reply", THOUGHTS, ids=["tags", "tag-of-the-template", "parts"])
async def test_thoughts_before_the_answer_are_left_out(reply: ScriptedReply) -> None:
    with ScriptedModel(is_strict=False) as server:
        server.push(reply)
        async with opened_endpoint(server) as model:

            async def send(request: ModelRequest, _: int) -> Completion:
                return await model.complete(request)

            result = await hold_dialogue(REQUEST, Answer, send=send, tries=0)

    assert result.answer == Answer(a="b")


async def test_the_name_of_the_output_limit_is_changed_once_and_remembered() -> None:
    def answer(asked: ReceivedRequest) -> ScriptedReply:
        if "max_tokens" not in asked.body:
            return ScriptedReply(GOOD)
        return refused(
            {
                "message": "Unsupported parameter: 'max_tokens' is not supported with this model. "
                "Use 'max_completion_tokens' instead.",
                "type": "invalid_request_error",
                "param": "max_tokens",
                "code": "unsupported_parameter",
            }
        )

    with ScriptedModel(answer) as server:
        async with opened_endpoint(server, max_output_tokens=900) as model:
            await model.complete(REQUEST)
            await model.complete(REQUEST)

    limits = [
        (asked.body.get("max_tokens"), asked.body.get("max_completion_tokens"))
        for asked in server.asked
    ]
    assert limits == [(900, None), (None, 900), (None, 900)]


async def test_a_name_that_the_table_sets_is_never_changed() -> None:
    text = "Unsupported parameter: 'max_tokens' is not supported with this model."
    with ScriptedModel(lambda _: refused({"message": text})) as server:
        async with opened_endpoint(
            server, max_output_tokens=9, output_limit_key="max_tokens"
        ) as model:
            with pytest.raises(ModelUnusable, match="max_tokens"):
                await model.complete(REQUEST)

    assert server.count == 1


FINAL = [
    ScriptedReply(content=None, refusal="I cannot help with that."),
    ScriptedReply(content="", finish="content_filter"),
    refused({"message": "The prompt was filtered", "code": "content_filter"}),
]


@pytest.mark.parametrize("reply", FINAL, ids=["refusal", "filtered-reply", "filtered-prompt"])
async def test_a_refusal_is_paid_once(reply: ScriptedReply) -> None:
    with ScriptedModel(lambda _: reply) as server:
        async with opened_endpoint(server) as model:

            async def send(request: ModelRequest, _: int) -> Completion:
                return await model.complete(request)

            result = await hold_dialogue(REQUEST, Answer, send=send, tries=3)

    assert result.answer is None
    assert server.count == 1
    assert len(result.faults) == 1


EMPTY = [
    ScriptedReply(raw=b""),
    ScriptedReply(raw=b"{}"),
    ScriptedReply(raw=b'{"choices": []}'),
    ScriptedReply(
        raw=b'{"choices":[{"message":{"content":""},"finish_reason":"error",'
        b'"error":{"code":502,"message":"Provider disconnected"}}]}'
    ),
]


@pytest.mark.parametrize("reply", EMPTY, ids=["nothing", "object", "no-choice", "provider-error"])
async def test_an_empty_success_is_asked_for_again(reply: ScriptedReply) -> None:
    with ScriptedModel() as server:
        server.push(reply)
        async with opened_endpoint(server) as model:
            with pytest.raises(MalformedReply) as caught:
                await model.complete(REQUEST)

    assert isinstance(caught.value, ModelBusy)
