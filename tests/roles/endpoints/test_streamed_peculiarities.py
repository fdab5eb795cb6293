"""Tests of what endpoints do when they stream, from the shapes in public documents and issues.

Sources: Groq's refusal: langchain#23629, litellm#4804; its usage: vercel/ai#1651. `stream_options`:
Fireworks Flowise#2866, Azure openai-python#2296. Errors in the stream: OpenRouter's page on errors,
llama.cpp#16109 and coddy-agent#106, vLLM and Groq by their servers' code. Tool calls without an
index: Gemini OpenMAIC#1556, AstrBot#6661, gcli2api#406. Thoughts in parts: Mistral's API reference.
"""

import json
from typing import Any

import pytest

from holdfast.models.calls.call_progress import CallProgress
from holdfast.models.errors import ContextTooLong, HoldfastError, ModelBusy, ModelUnusable
from tests.roles.endpoints.test_streamed_replies import CALLS, REQUEST, events, piece
from tests.support.endpoints.opened_endpoint import opened_endpoint
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel, ScriptedReply
from tests.support.endpoints.streamed_answers import sent_event

GOOD = '{"a": "b"}'


def refused(message: str, **more: object) -> ScriptedReply:
    return ScriptedReply(status=400, error={"message": message} | more)


def streams(server: ScriptedModel) -> list[tuple[str, bool, bool]]:
    """Of each request: the way of asking for JSON, if it streams, and if with usage."""
    return [
        (asked.rung, bool(asked.body.get("stream")), "stream_options" in asked.body)
        for asked in server.asked
    ]


async def test_groq_streams_no_json_and_is_asked_without_from_then_on() -> None:
    def answer(asked: ReceivedRequest) -> ScriptedReply:
        if asked.rung == "json_schema" and asked.body.get("stream"):
            text = "response_format` does not support streaming"
            return refused(text, type="invalid_request_error")
        return ScriptedReply.calling(("f", {})) if asked.rung == "tools" else ScriptedReply(GOOD)

    with ScriptedModel(answer) as server:
        async with opened_endpoint(server) as model:
            replies = [await model.complete(REQUEST) for _ in range(2)]
            await model.complete(CALLS)

    assert [reply.text for reply in replies] == [GOOD] * 2
    assert streams(server) == [
        ("json_schema", True, True),
        ("json_schema", False, False),
        ("json_schema", False, False),
        ("tools", True, True),
    ]


STREAM_OPTIONS = {
    "fireworks": "Extra inputs are not permitted, field: 'stream_options'",
    "azure": "Validation error at #/stream_options: Extra inputs are not permitted",
}


@pytest.mark.parametrize("text", STREAM_OPTIONS.values(), ids=STREAM_OPTIONS)
async def test_an_endpoint_that_refuses_the_usage_is_asked_without_it(text: str) -> None:
    def answer(asked: ReceivedRequest) -> ScriptedReply:
        return refused(text) if "stream_options" in asked.body else ScriptedReply(GOOD)

    with ScriptedModel(answer) as server:
        async with opened_endpoint(server) as model:
            replies = [await model.complete(REQUEST) for _ in range(2)]

    assert [(reply.text, reply.is_estimated) for reply in replies] == [(GOOD, True)] * 2
    assert [stream for _, *stream in streams(server)] == [
        [True, True],
        [True, False],
        [True, False],
    ]


async def test_an_error_that_only_speaks_of_streams_changes_nothing_for_later() -> None:
    with ScriptedModel() as server:
        text = refused("messages: 'the stream runs north' is not allowed here")
        server.push(text, text, ScriptedReply(GOOD))
        async with opened_endpoint(server) as model:
            with pytest.raises(ModelUnusable, match="the stream runs north"):
                await model.complete(REQUEST)
            await model.complete(REQUEST)

    assert [stream for _, stream, _ in streams(server)] == [True, False, True]


async def test_an_upstream_that_is_away_is_not_asked_twice() -> None:
    with ScriptedModel(
        lambda _: ScriptedReply(status=502, error={"message": "upstream"})
    ) as server:
        async with opened_endpoint(server) as model:
            with pytest.raises(ModelBusy, match="502"):
                await model.complete(REQUEST)

    assert server.count == 1


BEGUN = piece(content='{"a":')
LLAMA = (
    b'error: {"code":400,"message":"the request exceeds the available context size. try increasing '
    b'the context size or enable context shift","type":"invalid_request_error"}\n\n'
)
ERRORS: dict[str, tuple[list[object], type[HoldfastError], str]] = {
    "openrouter": (
        [
            BEGUN,
            {
                "id": "gen-1",
                "error": {"code": 502, "message": "Provider disconnected unexpectedly"},
                "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}],
            },
        ],
        ModelBusy,
        "answered 502: Provider disconnected unexpectedly",
    ),
    "rate-limit": ([BEGUN, {"error": {"code": 429, "message": "Slow"}}], ModelBusy, "429: Slow"),
    "vllm": (
        [
            BEGUN,
            {"error": {"object": "error", "message": "died", "type": "InternalServerError"}},
        ],
        ModelBusy,
        "answered 500: died",
    ),
    "text": ([{"error": "overloaded"}], ModelBusy, "answered 500: overloaded"),
    "named": (
        [BEGUN, b'event: error\ndata: {"message": "gone", "code": "503"}\n\n'],
        ModelBusy,
        "answered 503: gone",
    ),
    "llama.cpp": ([LLAMA], ContextTooLong, "answered 400: the request exceeds the available"),
}


@pytest.mark.conformance("MOD-11")
@pytest.mark.parametrize("name", ERRORS)
async def test_an_error_in_the_stream_is_an_error_of_the_endpoint(name: str) -> None:
    data, raised, says = ERRORS[name]
    with ScriptedModel(lambda _: events(*data)) as server:
        async with opened_endpoint(server) as model:
            with pytest.raises(raised) as caught:
                await model.complete(REQUEST)

    assert says in str(caught.value)
    assert server.count == 1


async def test_groq_says_in_the_stream_what_its_model_wrote() -> None:
    error = {
        "message": "Failed to generate JSON. See 'failed_generation' for more details.",
        "type": "invalid_request_error",
        "code": "json_validate_failed",
        "failed_generation": GOOD,
        "status_code": 400,
    }
    data = b"event: error\n" + sent_event({"error": error})
    with ScriptedModel(lambda _: events(data)) as server:
        async with opened_endpoint(server) as model:
            reply = await model.complete(REQUEST)

    assert (reply.text, reply.is_estimated) == (GOOD, True)


async def test_older_streams_of_groq_have_the_usage_in_a_field_of_their_own() -> None:
    usage = {"prompt_tokens": 23, "completion_tokens": 19, "total_tokens": 42, "queue_time": 0.07}
    last = piece("stop") | {"x_groq": {"id": "req_1", "usage": usage}}
    with ScriptedModel(lambda _: events(piece(content=GOOD), last)) as server:
        async with opened_endpoint(server) as model:
            reply = await model.complete(REQUEST)

    assert (reply.input_tokens, reply.output_tokens, reply.is_estimated) == (23, 19, False)


def called(**fields: Any) -> dict[str, object]:
    name, arguments = fields.pop("name", ""), fields.pop("arguments", "")
    return piece(tool_calls=[fields | {"function": {"name": name, "arguments": arguments}}])


CALLS_OF = {
    "openai": [
        called(index=0, id="c1", name="f"),
        called(index=0, arguments='{"n"'),
        called(index=1, id="c2", name="f"),
        called(index=0, arguments=": 1}"),
        called(index=1, arguments='{"n": 2}'),
    ],
    "gemini, without index": [
        called(id="function-call-1", name="f", arguments='{"n": 1}'),
        called(id="function-call-2", name="f", arguments='{"n": '),
        called(id="", arguments="2}"),
    ],
    "gemini, index 0 for all": [
        called(index=0, id="a", name="f", arguments='{"n": 1}'),
        called(index=0, id="b", name="f", arguments='{"n": 2}'),
    ],
    "name in each piece": [
        called(index=0, id="a", name="f", arguments='{"n": '),
        called(index=0, id="a", name="f", arguments="1}"),
        called(index=1, id="b", name="f", arguments='{"n": 2}'),
    ],
}


@pytest.mark.parametrize("name", CALLS_OF)
async def test_tool_calls_are_put_together_from_their_pieces(name: str) -> None:
    with ScriptedModel(lambda _: events(*CALLS_OF[name], piece("tool_calls"))) as server:
        async with opened_endpoint(server) as model:
            reply = await model.complete(CALLS)

    assert json.loads(reply.text) == {
        "calls": [{"name": "f", "arguments": {"n": 1}}, {"name": "f", "arguments": {"n": 2}}]
    }


@pytest.mark.parametrize(
    "thought",
    [
        {"reasoning_content": "Hmm."},
        {"reasoning": "Hmm."},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hmm."}]}]},
    ],
    ids=["deepseek", "openrouter", "mistral"],
)
async def test_thoughts_are_no_part_of_the_answer(thought: dict[str, object]) -> None:
    progress = CallProgress()
    with ScriptedModel(lambda _: events(piece(**thought), piece("stop", content=GOOD))) as server:
        async with opened_endpoint(server) as model:
            reply = await model.complete(REQUEST, progress)

    assert reply.text == GOOD
    assert progress.received_chars >= len(GOOD)
